// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/paper.hpp"

#include <gtest/gtest.h>

#include <weft/network/probe/compare.hpp>
#include <weft/network/probe/test_meter.hpp>

namespace weft::probe {
namespace {

// The fast algorithm finds what the paper's finds, with fewer measurements.
TEST(Paper, FindsTheSame) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng luck(seed);
    TestTree tree;
    tree.add(-1, 0);
    for (std::uint64_t i = 0, pods = 2 + luck.below(2); i < pods; ++i) {
      const int pod = tree.add(0, 2'000, 1e9);
      for (std::uint64_t leaf = 0, leaves = 2 + luck.below(3); leaf < leaves; ++leaf)
        tree.add_hosts(tree.add(pod, 9'000, 1e9), 6 + static_cast<int>(luck.below(4)));
    }
    ProbeSettings settings;
    settings.hosts = tree.names();
    TestMeter slow(tree, 0.002, seed), fast(tree, 0.002, seed);
    const Finding by_paper = find_by_paper(slow, settings);
    const Finding found = find_network(fast, settings);
    const auto truth = tree.topology();
    const Comparison paper_result = compare(by_paper, truth), result = compare(found, truth);
    EXPECT_TRUE(paper_result.right())
        << seed << (paper_result.differences.empty() ? "" : paper_result.differences[0]);
    EXPECT_TRUE(result.right()) << seed;
    const auto n = static_cast<std::uint64_t>(tree.on.size());
    EXPECT_EQ(by_paper.counts.round_trips, n * (n - 1));
    EXPECT_LT(found.counts.round_trips, by_paper.counts.round_trips / 2);
    EXPECT_LT(found.counts.trials, by_paper.counts.trials);
  }
}

}  // namespace
}  // namespace weft::probe
