// SPDX-License-Identifier: Apache-2.0
// Archives are written with the library's own writer and read back.
#include "weft/workload/traces/otf2.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/rng.hpp>
#include <weft/base/test_file.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/workload/traces/any_traffic.hpp>

#ifdef WEFT_OTF2
#include <otf2/otf2.h>
#endif

#ifdef __SANITIZE_ADDRESS__
// The library forgets some of its memory when an archive is broken; ours is still watched.
extern "C" const char* __lsan_default_suppressions();   // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:libopen-trace-format2\nleak:libotf2\n";
}
#endif

namespace weft {
namespace {

#ifndef WEFT_OTF2

TEST(Otf2, IsAbsentAndSaysSo) {
  EXPECT_FALSE(has_otf2());
  const auto read = read_otf2("a.otf2");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text(),
            "a.otf2: this weft cannot read OTF2 archives; install libotf2-trace-dev and build it "
            "again");
}

TEST(Otf2, ArchivesAreRead) {
  GTEST_SKIP() << "built without OTF2 (Debian: libotf2-trace-dev)";
}

#else

using Flows = std::vector<Flow>;

constexpr std::uint32_t world_size = 4;
constexpr OTF2_CommRef comm_world = 0, comm_upper = 1, comm_self = 2, comm_between = 3;
// Rank 0 has two threads; locations are numbered otherwise than ranks.
constexpr std::uint64_t location_of[] = {30, 20, 10, 40}, second_thread = 50;

// What one location records.
class Recorder {
 public:
  explicit Recorder(OTF2_EvtWriter* writer) : writer_(writer) {}
  void send(std::uint32_t to, OTF2_CommRef comm, std::uint64_t bytes) {
    OTF2_EvtWriter_MpiSend(writer_, nullptr, ++time_, to, comm, 0, bytes);
  }
  void isend(std::uint32_t to, OTF2_CommRef comm, std::uint64_t bytes) {
    OTF2_EvtWriter_MpiIsend(writer_, nullptr, ++time_, to, comm, 0, bytes, 1);
  }
  void collective(OTF2_CollectiveOp operation, OTF2_CommRef comm, std::uint32_t root,
                  std::uint64_t sent, std::uint64_t received) {
    OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, ++time_);
    OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, ++time_, operation, comm, root, sent,
                                    received);
  }

 private:
  OTF2_EvtWriter* writer_;
  std::uint64_t time_ = 0;
};

// Rank, or world_size for the second thread of rank 0.
using Script = std::function<void(std::uint32_t, Recorder&)>;

std::uint64_t location(std::uint32_t who) {
  return who == world_size ? second_thread : location_of[who];
}

OTF2_FlushCallbacks flushing() {
  OTF2_FlushCallbacks made{};
  made.otf2_pre_flush = [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType {
    return OTF2_FLUSH;
  };
  made.otf2_post_flush = [](void*, OTF2_FileType, OTF2_LocationRef) -> OTF2_TimeStamp { return 0; };
  return made;
}

void define_ranks(OTF2_GlobalDefWriter* d, const std::vector<std::uint64_t>& events) {
  OTF2_GlobalDefWriter_WriteClockProperties(d, 1, 0, 1000, OTF2_UNDEFINED_TIMESTAMP);
  OTF2_GlobalDefWriter_WriteString(d, 0, "");
  OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  for (std::uint32_t r = 0; r < world_size; ++r)
    OTF2_GlobalDefWriter_WriteLocationGroup(d, r, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
  for (std::uint32_t w = 0; w <= world_size; ++w)
    OTF2_GlobalDefWriter_WriteLocation(d, location(w), 0, OTF2_LOCATION_TYPE_CPU_THREAD, events[w],
                                       w % world_size);
}

void define_comms(OTF2_GlobalDefWriter* d) {
  const auto group = [d](OTF2_GroupRef id, OTF2_GroupType type,
                         const std::vector<std::uint64_t>& members) {
    OTF2_GlobalDefWriter_WriteGroup(d, id, 0, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    static_cast<std::uint32_t>(members.size()), members.data());
  };
  group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, {location_of, location_of + world_size});
  group(1, OTF2_GROUP_TYPE_COMM_GROUP, {0, 1, 2, 3});
  group(2, OTF2_GROUP_TYPE_COMM_GROUP, {3, 1});
  group(3, OTF2_GROUP_TYPE_COMM_SELF, {});
  group(4, OTF2_GROUP_TYPE_COMM_GROUP, {0, 2});
  OTF2_GlobalDefWriter_WriteComm(d, comm_world, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(d, comm_upper, 0, 2, comm_world, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(d, comm_self, 0, 3, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteInterComm(d, comm_between, 0, 2, 4, comm_world, OTF2_COMM_FLAG_NONE);
}

// The path of the anchor.
std::string write_archive(const std::string& name, const Script& script) {
  const std::string folder = test_file(name);
  std::filesystem::remove_all(folder);
  OTF2_Archive* const archive =
      OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  EXPECT_NE(archive, nullptr);
  const OTF2_FlushCallbacks flush = flushing();
  OTF2_Archive_SetFlushCallbacks(archive, &flush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  OTF2_Archive_OpenEvtFiles(archive);
  std::vector<std::uint64_t> events(world_size + 1);
  for (std::uint32_t w = 0; w <= world_size; ++w) {
    OTF2_EvtWriter* const writer = OTF2_Archive_GetEvtWriter(archive, location(w));
    Recorder recorder(writer);
    script(w, recorder);
    OTF2_EvtWriter_GetNumberOfEvents(writer, &events[w]);
    OTF2_Archive_CloseEvtWriter(archive, writer);
  }
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_OpenDefFiles(archive);
  for (std::uint32_t w = 0; w <= world_size; ++w)
    OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, location(w)));
  OTF2_Archive_CloseDefFiles(archive);
  OTF2_GlobalDefWriter* const definitions = OTF2_Archive_GetGlobalDefWriter(archive);
  define_ranks(definitions, events);
  define_comms(definitions);
  OTF2_Archive_Close(archive);
  return folder + "/traces.otf2";
}

Flows read_back(const std::string& name, const Script& script) {
  const auto read = read_otf2(write_archive(name, script));
  if (!read) {
    ADD_FAILURE() << read.error().text();
    return {};
  }
  EXPECT_EQ(read->ranks(), world_size);
  return {read->flows().begin(), read->flows().end()};
}

TEST(Otf2, MessagesBetweenRanksOfTheWorld) {
  const Flows flows = read_back("messages", [](std::uint32_t who, Recorder& r) {
    if (who == 0) {
      r.send(1, comm_world, 100);
      r.isend(1, comm_world, 50);
      r.send(0, comm_self, 7);
    }
    if (who == 1) r.send(0, comm_upper, 9);    // Rank 3 of the world.
    if (who == 3) r.isend(1, comm_upper, 10);  // Rank 1 of the world.
    if (who == 2) r.send(1, comm_between, 11);
    if (who == world_size) r.send(2, comm_world, 1);  // By a thread of rank 0.
  });
  EXPECT_EQ(
      flows,
      (Flows{
          {0, 0, 7, 1}, {0, 1, 150, 2}, {0, 2, 1, 1}, {1, 3, 9, 1}, {2, 1, 11, 1}, {3, 1, 10, 1}}));
}

TEST(Otf2, CollectiveOperations) {
  const Flows broadcast = read_back("broadcast", [](std::uint32_t who, Recorder& r) {
    if (who == 1 || who == 3)
      r.collective(OTF2_COLLECTIVE_OP_BCAST, comm_upper, 0, who == 3 ? 200 : 0, 100);
    if (who < world_size) {
      r.collective(OTF2_COLLECTIVE_OP_GATHER, comm_world, 2, 8, who == 2 ? 32 : 0);
      r.collective(OTF2_COLLECTIVE_OP_BARRIER, comm_world, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
      r.collective(OTF2_COLLECTIVE_OP_ALLREDUCE, comm_self, OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
    }
  });
  EXPECT_EQ(broadcast, (Flows{{0, 2, 8, 1}, {1, 2, 8, 1}, {3, 1, 100, 1}, {3, 2, 8, 1}}));

  const Flows exchange = read_back("exchange", [](std::uint32_t who, Recorder& r) {
    for (int i = 0; i < 3; ++i)
      if (who == 1 || who == 3)
        r.collective(OTF2_COLLECTIVE_OP_ALLTOALL, comm_upper, OTF2_COLLECTIVE_ROOT_NONE, 20, 20);
    if (who == 0 || who == 2)
      r.collective(OTF2_COLLECTIVE_OP_REDUCE, comm_between, 0, 5, 0);  // To rank 3.
    if (who == 3)
      r.collective(OTF2_COLLECTIVE_OP_REDUCE, comm_between, OTF2_COLLECTIVE_ROOT_SELF, 0, 10);
    if (who == 1)
      r.collective(OTF2_COLLECTIVE_OP_REDUCE, comm_between, OTF2_COLLECTIVE_ROOT_THIS_GROUP, 0, 1);
  });
  EXPECT_EQ(exchange, (Flows{{0, 3, 5, 1}, {1, 3, 30, 3}, {2, 3, 5, 1}, {3, 1, 30, 3}}));
}

TEST(Otf2, AnyTrafficReadsItAsWell) {
  const std::string anchor = write_archive("any", [](std::uint32_t who, Recorder& r) {
    if (who == 2) r.send(0, comm_world, 6);
  });
  const auto more = read_any_traffic(anchor, {.ranks = 6});
  ASSERT_TRUE(more) << more.error().text();
  EXPECT_EQ(more->ranks(), 6u);
  EXPECT_EQ(more->flows().front(), (Flow{2, 0, 6, 1}));
  const auto fewer = read_any_traffic(anchor, {.ranks = 3});
  ASSERT_FALSE(fewer);
  EXPECT_EQ(fewer.error().text(),
            anchor + ": this is the traffic of 4 ranks, but 3 are asked for; ask for 4 or more");
  const std::string text = test_file("any.txt");
  ASSERT_TRUE(write_file(text, "0 1 5\n"));
  EXPECT_TRUE(read_any_traffic(text, {}));
}

std::string refusal(const std::string& name, const Script& script) {
  const std::string anchor = write_archive(name, script);
  const auto read = read_otf2(anchor);
  return read ? "accepted" : read.error().text().substr(anchor.size() + 2);
}

TEST(Otf2, WhatCannotBeIsNamed) {
  const std::string remedy = "; copy the whole archive anew, or record the run again";
  EXPECT_EQ(refusal("receiver", [](std::uint32_t, Recorder& r) { r.send(4, comm_world, 1); }),
            "rank 0 sends to rank 4, which its communicator does not have" + remedy);
  EXPECT_EQ(refusal("comm", [](std::uint32_t, Recorder& r) { r.send(0, 9, 1); }),
            "rank 0 sends in an undefined communicator" + remedy);
  EXPECT_EQ(refusal("root",
                    [](std::uint32_t, Recorder& r) {
                      r.collective(OTF2_COLLECTIVE_OP_BCAST, comm_world, 4, 1, 1);
                    }),
            "rank 0 names a root that its communicator does not have" + remedy);
  EXPECT_EQ(refusal("member",
                    [](std::uint32_t, Recorder& r) {
                      r.collective(OTF2_COLLECTIVE_OP_BCAST, comm_upper, 0, 1, 1);
                    }),
            "rank 0 uses a communicator that does not have it" + remedy);
}

std::string read_refusal(const std::string& anchor) {
  const auto read = read_otf2(anchor);
  return read ? "accepted" : read.error().text();
}

TEST(Otf2, MissingAndForeignFiles) {
  EXPECT_NE(read_refusal(test_file("none.otf2")).find("cannot be opened as an OTF2 archive"),
            std::string::npos);
  const std::string text = test_file("text.otf2");
  ASSERT_TRUE(write_file(text, "0 1 5\n"));
  EXPECT_NE(read_refusal(text).find("cannot be opened as an OTF2 archive"), std::string::npos);
  const std::string empty = test_file("empty.otf2");
  ASSERT_TRUE(write_file(empty, ""));
  EXPECT_NE(read_refusal(empty), "accepted");
}

void busy(std::uint32_t who, Recorder& r) {
  if (who == world_size) return;
  r.send((who + 1) % world_size, comm_world, 100 + who);
  r.collective(OTF2_COLLECTIVE_OP_ALLREDUCE, comm_world, OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
}

// The files that hold all: the anchor, the definitions, and the events of one location.
std::vector<std::string> files_of(const std::string& anchor) {
  const std::string stem = anchor.substr(0, anchor.size() - 5);
  return {anchor, stem + ".def", stem + "/30.evt"};
}

TEST(Otf2, CutOffAnywhereIsReadWholeOrRefused) {
  const std::string anchor = write_archive("cut", busy);
  const auto whole = read_otf2(anchor);
  ASSERT_TRUE(whole) << whole.error().text();
  for (const std::string& path : files_of(anchor)) {
    const auto contents = read_file(path);
    ASSERT_TRUE(contents) << path;
    int refused = 0;
    for (std::size_t size = 0; size < contents->size(); ++size) {
      ASSERT_TRUE(write_file(path, contents->substr(0, size)));
      const auto read = read_otf2(anchor);
      refused += read ? 0 : 1;
      // Marks of the end may be missing, but no traffic.
      if (read) {
        EXPECT_TRUE(std::ranges::equal(read->flows(), whole->flows())) << path << " " << size;
      }
    }
    EXPECT_GE(refused + 4, static_cast<int>(contents->size())) << path;
    ASSERT_TRUE(write_file(path, *contents));
  }
}

// Without check sums a changed byte may be a changed size; it must not be more than that. Not the
// anchor: OTF2 3.0 trusts the numbers in it, and overruns its own memory before we hear of it.
TEST(Otf2, ChangedBytesDoNoHarm) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  const std::string anchor = write_archive("changed", busy);
  for (const std::string& path : files_of(anchor)) {
    if (path == anchor) continue;
    const auto contents = read_file(path);
    ASSERT_TRUE(contents) << path;
    for (int round = 0; round < 100; ++round) {
      std::string changed = *contents;
      changed[rng.below(changed.size())] = static_cast<char>(rng.below(256));
      ASSERT_TRUE(write_file(path, changed));
      const auto read = read_otf2(anchor);
      if (!read) {
        EXPECT_EQ(read.error().text().find('\n'), std::string::npos);
      }
    }
    ASSERT_TRUE(write_file(path, *contents));
  }
}

#endif

}  // namespace
}  // namespace weft
