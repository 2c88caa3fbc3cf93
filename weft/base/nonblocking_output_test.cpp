// SPDX-License-Identifier: Apache-2.0
#include "weft/base/nonblocking_output.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft {
namespace {

// A pair of descriptors, the first to read from.
struct Ends {
  explicit Ends(const std::string& kind) {
    if (kind == "pipe") {
      EXPECT_EQ(::pipe(at.data()), 0);
    } else if (kind == "socket") {
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, at.data()), 0);
    } else {
      at[0] = ::posix_openpt(O_RDWR | O_NOCTTY);
      EXPECT_EQ(::grantpt(at[0]) + ::unlockpt(at[0]), 0);
      at[1] = ::open(::ptsname(at[0]), O_RDWR | O_NOCTTY);
    }
  }
  ~Ends() {
    ::close(at[0]);
    ::close(at[1]);
  }
  std::array<int, 2> at{};
};

class NonblockingOutputTest : public testing::TestWithParam<const char*> {};

TEST_P(NonblockingOutputTest, NeverWaitsForItsReader) {
  Ends ends(GetParam());
  const int flags = ::fcntl(ends.at[1], F_GETFL);
  NonblockingOutput output(ends.at[1]);
  const std::string text(1 << 20, 'x');
  long all = 0;
  // A terminal moves text on after a moment.
  for (int full = 0; full < 20;) {
    const long done = output.write_some(text);
    ASSERT_GE(done, 0);
    all += done;
    full = done == 0 ? full + 1 : 0;
    if (done == 0) ::usleep(1000);
  }
  EXPECT_GT(all, 0);
  EXPECT_EQ(output.write_some(text), 0);
  EXPECT_FALSE(output.wait(1));
  EXPECT_EQ(::fcntl(ends.at[1], F_GETFL), flags);
  std::string got(1 << 16, '\0');
  for (long left = all; left > 0;) {
    const ssize_t size = ::read(ends.at[0], got.data(), got.size());
    ASSERT_GT(size, 0);
    left -= size;
  }
  EXPECT_TRUE(output.wait(10'000));
  EXPECT_GT(output.write_some(text), 0);
}

INSTANTIATE_TEST_SUITE_P(Readers, NonblockingOutputTest,
                         testing::Values("pipe", "socket", "terminal"),
                         [](const auto& kind) { return std::string(kind.param); });

// Two streams may lead to one pipe, as after 2>&1.
TEST(NonblockingOutput, SharesAPipe) {
  Ends ends("pipe");
  NonblockingOutput one(ends.at[1]), other(ends.at[1]);
  while (one.write_some(std::string(4096, 'x')) > 0) {
  }
  EXPECT_EQ(other.write_some("y"), 0);
}

TEST(NonblockingOutput, SaysThatNobodyReads) {
  Ends ends("pipe");
  ::close(ends.at[0]);
  ends.at[0] = -1;
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(NonblockingOutput(ends.at[1]).write_some("x"), -1);
  EXPECT_EQ(NonblockingOutput(-1).write_some("x"), -1);
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace weft
