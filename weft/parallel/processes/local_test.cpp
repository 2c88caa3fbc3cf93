// SPDX-License-Identifier: Apache-2.0
#include "local.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/parallel/processes/test_exchanges.hpp>

namespace weft {
namespace {

class LocalPeersWorkers : public testing::TestWithParam<int> {};

TEST_P(LocalPeersWorkers, KeepTheirPromises) {
  const std::size_t largest = std::size_t{1} << (GetParam() == 2 ? 20 : 16);
  const std::vector<std::unique_ptr<ProcessGroup>> peers = make_local_group(GetParam());
  std::vector<std::vector<std::string>> broken(peers.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    EXPECT_EQ(peers[i]->self(), static_cast<int>(i));
    EXPECT_EQ(peers[i]->count(), GetParam());
    threads.emplace_back([&, i] { broken[i] = Exchanges(*peers[i], largest).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(broken, testing::Each(testing::IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(Groups, LocalPeersWorkers, testing::Range(1, 10));

TEST(LocalPeersDeathTest, AbortSaysWhy) {
  EXPECT_DEATH(make_local_group(2).back()->abort(3, "no room"), "^weft: error: no room\n$");
}

}  // namespace
}  // namespace weft
