// SPDX-License-Identifier: Apache-2.0
// What is written is read back with weft's own reader.
#include "weft/workload/traces/otf2_write.hpp"

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/workload/traces/otf2.hpp>

namespace weft {
namespace {

#ifndef WEFT_OTF2

TEST(Otf2Write, IsAbsentAndSaysSo) {
  const auto made = Otf2Writer::create("folder", "t");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("cannot write OTF2 archives"), std::string::npos);
}

TEST(Otf2Write, ArchivesAreWritten) {
  GTEST_SKIP() << "built without OTF2 (Debian: libotf2-trace-dev)";
}

#else

using Flows = std::vector<Flow>;

TEST(Otf2Write, IsReadBack) {
  const std::string folder = test_file("written");
  std::filesystem::remove_all(folder);
  {
    auto made = Otf2Writer::create(folder, "trace");
    ASSERT_TRUE(made) << made.error().text();
    Otf2Writer& out = **made;
    ASSERT_TRUE(out.begin_rank(1));
    out.enter(10, "MPI_Recv");
    out.receive_begin(11, 5);
    out.receive(12, {0, 7, -3, 100});
    out.receive_end(13, {0, 7, 2, 1'000'000}, 5);
    out.leave(9, "MPI_Recv");  // Clocks may disagree: it is moved to where it can be.
    out.send(20, {2, 8, 0, 6});
    ASSERT_TRUE(out.begin_rank(0));
    out.enter(1, "MPI_Send");
    out.send(2, {1, 7, -3, 100});
    out.send(3, {1, 7, 2, 1'000'000});
    out.leave(4, "MPI_Send");
    EXPECT_EQ(out.comms(), (std::vector<std::uint32_t>{7, 8}));
    // Rank 2 has no events.
    const Status done = out.finish({{"a", "a", "b"}, {"MPI_COMM_WORLD", "other"}});
    ASSERT_TRUE(done) << done.error().text();
  }
  const auto read = read_otf2(folder + "/trace.otf2");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->ranks(), 3u);
  EXPECT_EQ(Flows(read->flows().begin(), read->flows().end()),
            (Flows{{0, 1, 1'000'100, 2}, {1, 2, 6, 1}}));
}

TEST(Otf2Write, CannotWhereItMayNot) {
  const std::string file = test_file("written-file");
  ASSERT_TRUE(write_file(file, "x"));
  const auto made = Otf2Writer::create(file + "/below", "trace");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("/below/trace.otf2: cannot be written"), std::string::npos)
      << made.error().text();
}

#endif

}  // namespace
}  // namespace weft
