// SPDX-License-Identifier: Apache-2.0
#include "weft/program/run_record/event_log.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/rng.hpp>
#include <weft/base/test_file.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

constexpr EventLogStart plain_start{2, 5, 1, "h1", 123'456'789'012};

std::unique_ptr<EventLogWriter> create(const std::string& path) {
  auto log = EventLogWriter::create(path, plain_start);
  EXPECT_TRUE(log) << log.error().text();
  return *std::move(log);
}

// As text, so that differences are readable.
std::string text_of(const LoggedEvent& e, const std::vector<std::string>& names) {
  const LoggedMessage& m = e.message;
  std::string text = std::to_string(static_cast<int>(e.kind)) + "@" + std::to_string(e.at_ns);
  if (e.kind == EventKind::enter || e.kind == EventKind::leave) text += " " + names[e.name];
  for (const std::int64_t value :
       {std::int64_t{m.peer}, std::int64_t{m.context}, std::int64_t{m.tag},
        static_cast<std::int64_t>(m.bytes), static_cast<std::int64_t>(e.number),
        std::int64_t{e.node}, e.ahead_ns}) {
    text += " " + std::to_string(value);
  }
  return text;
}

struct Contents {
  std::vector<std::string> events;
  bool whole = false, refused = false;
  std::string error;
};

Contents read(const std::string& path) {
  Contents contents;
  auto log = EventLogReader::open(path);
  if (!log) {
    contents.refused = true;
    contents.error = log.error().text();
    return contents;
  }
  for (LoggedEvent event;;) {
    const auto more = log->next(event);
    if (!more) {
      contents.refused = true;
      contents.error = more.error().text();
      break;
    }
    if (!*more) break;
    contents.events.push_back(text_of(event, log->names()));
  }
  contents.whole = log->whole();
  return contents;
}

void write_some(EventLogWriter& log, int rounds = 1) {
  static const char* const send = "MPI_Send";
  static const char* const wait = "MPI_Wait";
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t at = 1000 * i;
    log.enter(send, at + 10);
    log.message(EventKind::send, at + 20, {4, 8, -1, std::uint64_t{1} << 40});
    log.leave(send, at + 30);
    log.enter(wait, at + 40);
    log.message(EventKind::receive_begin, at + 50, {0, 0xfffffff0, 7, 100'000}, 9);
    log.message(EventKind::receive, at + 60, {3, 8, INT32_MIN, 0});
    log.receive_end(at + 70, 9);
    log.leave(wait, at + 80);
  }
}

TEST(EventLog, IsReadBack) {
  const std::string path = test_file("events.2.bin");
  {
    const auto log = create(path);
    write_some(*log);
    log->clock(3, -5'000'000'000, INT64_MIN / 4);
    log->finish();
    EXPECT_EQ(log->problem(), "");
  }
  auto log = EventLogReader::open(path);
  ASSERT_TRUE(log) << log.error().text();
  EXPECT_EQ(log->start().rank, 2u);
  EXPECT_EQ(log->start().ranks, 5u);
  EXPECT_EQ(log->start().node, 1u);
  EXPECT_EQ(log->start().host, "h1");
  EXPECT_EQ(log->start().start_ns, 123'456'789'012);
  const Contents contents = read(path);
  EXPECT_EQ(contents.error, "");
  EXPECT_TRUE(contents.whole);
  EXPECT_EQ(contents.events, (std::vector<std::string>{
                                 "3@10 MPI_Send 0 0 0 0 0 0 0", "5@20 4 8 -1 1099511627776 0 0 0",
                                 "4@30 MPI_Send 0 0 0 0 0 0 0", "3@40 MPI_Wait 0 0 0 0 0 0 0",
                                 "7@50 0 4294967280 7 100000 9 0 0", "6@60 3 8 -2147483648 0 0 0 0",
                                 "8@70 0 0 0 0 9 0 0", "4@80 MPI_Wait 0 0 0 0 0 0 0",
                                 "9@-5000000000 0 0 0 0 0 3 -2305843009213693952"}));
}

TEST(EventLog, SpansManyBlocks) {
  const std::string path = test_file("long.bin");
  constexpr int rounds = 20'000;
  {
    const auto log = create(path);
    write_some(*log, rounds);
    log->finish();
  }
  const Contents contents = read(path);
  EXPECT_TRUE(contents.whole) << contents.error;
  EXPECT_EQ(contents.events.size(), std::size_t{8} * rounds);
}

TEST(EventLog, OfAKilledRankIsReadUpToWhereItEnds) {
  const std::string path = test_file("killed.bin"), part = test_file("killed-part.bin");
  {
    const auto log = create(path);
    for (int i = 0; i < 4; ++i) {
      write_some(*log);
      log->flush();
    }
    log->finish();
  }
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  const Contents whole = read(path);
  for (std::size_t size = 0; size < bytes->size(); ++size) {
    ASSERT_TRUE(write_file(part, bytes->substr(0, size)));
    const Contents contents = read(part);
    EXPECT_FALSE(contents.whole) << size;
    ASSERT_LE(contents.events.size(), whole.events.size());
    EXPECT_TRUE(std::equal(contents.events.begin(), contents.events.end(), whole.events.begin()))
        << size;
    // Only a file without a valid start is refused.
    if (size > 60) {
      EXPECT_FALSE(contents.refused) << size << contents.error;
    }
  }
}

TEST(EventLog, ChangedBytesAreFound) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  const std::string path = test_file("changed.bin");
  {
    const auto log = create(path);
    write_some(*log, 20);
    log->finish();
  }
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  for (std::size_t at = 0; at < bytes->size(); ++at) {
    std::string changed = *bytes;
    changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + rng.below(255)));
    ASSERT_TRUE(write_file(path, changed));
    const Contents contents = read(path);
    EXPECT_FALSE(contents.whole) << at;
    EXPECT_EQ(contents.error.find('\n'), std::string::npos);
  }
}

// Blocks with valid checksums but meaningless contents.
TEST(EventLog, NonsenseDoesNoHarm) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  const std::string path = test_file("nonsense.bin");
  for (int round = 0; round < 300; ++round) {
    { const auto log = create(path); }
    std::string bytes = *read_file(path), block;
    for (std::uint64_t left = rng.below(40); left > 0; --left) {
      block += static_cast<char>(rng.below(4) == 0 ? rng.below(256) : rng.below(11));
    }
    std::uint32_t sum = 2166136261U;
    for (const char c : block) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
    for (const std::uint32_t word : {static_cast<std::uint32_t>(block.size()), sum}) {
      for (int i = 0; i < 4; ++i) bytes += static_cast<char>(word >> (8 * i));
    }
    ASSERT_TRUE(write_file(path, bytes + block));
    const Contents contents = read(path);
    EXPECT_LE(contents.events.size(), block.size());
  }
}

TEST(EventLog, OtherFilesAreRefused) {
  const std::string path = test_file("other.bin");
  ASSERT_TRUE(write_file(path, "0 1 5\n"));
  EXPECT_EQ(read(path).error, path + ": this is not an event log");
  EXPECT_EQ(read(path + ".none").error, path + ".none: No such file or directory");
}

TEST(EventLog, AFullDiskIsNoticed) {
  const auto full = EventLogWriter::create("/dev/full", plain_start);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().text(), "/dev/full: No space left on device");
}

}  // namespace
}  // namespace weft
