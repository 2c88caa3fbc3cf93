// SPDX-License-Identifier: Apache-2.0
#include "weft/parallel/processes/agree.hpp"

#include <string>

#include <gtest/gtest.h>

#include <weft/study/traffic/test_processes.hpp>

namespace weft {
namespace {

TEST(Agree, OneDecidesAlone) {
  EXPECT_TRUE(agree(nullptr, {}));
  const Status kept = agree(nullptr, Error::input("bad").at("net.toml", 7));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().text(), "net.toml:7: bad");
}

TEST(Agree, AllGetTheFirstError) {
  const auto texts = among(3, [](ProcessGroup& peers) -> std::string {
    if (!agree(&peers, {})) return "nobody has failed";
    Status mine;
    if (peers.self() > 0) mine = Error::input("bad").at("net.toml", peers.self());
    const Status all = agree(&peers, mine);
    return all.error().broken() == Broken::input ? all.error().text() : "another kind";
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "net.toml:1: process 1: bad");
}

TEST(Agree, AllSeeTheSignThatOneRaises) {
  const auto seen = among(3, [](ProcessGroup& peers) -> int {
    std::atomic<bool> flag{false};
    const StopSign sign(&flag, &peers);
    const bool before = sign.raised();
    flag = peers.self() == 2;
    return before ? -1 : sign.raised() ? 1 : 0;
  });
  for (const int one : seen) EXPECT_EQ(one, 1);
}

}  // namespace
}  // namespace weft
