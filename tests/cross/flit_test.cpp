// SPDX-License-Identifier: Apache-2.0
// The plain flit-level router, which --model flit is held to, against its closed form.

#include "tests/cross/booksim.hpp"
#include "tests/cross/flits.hpp"
#include <gtest/gtest.h>

namespace weft::test {
namespace {

// 5 H + 6 + L; all from corner to corner, and alone.
TEST(Flits, LatencyWithoutLoadIsTheClosedForm) {
  for (const int packet : {1, 8, 32}) {
    Reference reference;
    reference.topology = "mesh";
    reference.routing = "dor";
    reference.traffic = "bitcomp";
    reference.k = 2;
    reference.vcs = 1;
    reference.packet = reference.buffer = packet;
    reference.wait_for_tail = true;
    const auto scenario = scenario_of(reference, 1);
    ASSERT_TRUE(scenario) << scenario.error().text();
    const FlitRouter router{1, packet, packet, true, false};
    const FlitResult got = run_flits(*scenario, router, {0.0005, 1000, 200'000, 0, 1});
    EXPECT_NEAR(got.latency, 5 * 2 + 6 + packet, 0.1);
    EXPECT_NEAR(got.accepted, 0.0005, 0.0001);
  }
}

}  // namespace
}  // namespace weft::test
