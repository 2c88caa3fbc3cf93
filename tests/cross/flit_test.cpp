// SPDX-License-Identifier: Apache-2.0
// The flit-level router against its closed form, and against those curves that tell most of why
// weft, which moves whole packets, differs from them. Nothing of it is fitted.
#include <algorithm>
#include <string>

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

class FlitCurve : public testing::TestWithParam<const char*> {};

TEST_P(FlitCurve, IsThatOfTheReference) {
  const std::string path = reference_folder() + "/" + GetParam() + ".csv";
  const Result<Reference> reference = read_reference(path);
  ASSERT_TRUE(reference) << reference.error().text();
  const Result<Comparison> found = compare_flits(*reference, 2);
  ASSERT_TRUE(found) << found.error().text();
  for (std::size_t i = 0; i < reference->points.size(); ++i) {
    const ReferencePoint& point = reference->points[i];
    if (point.fraction < 0.2 || point.fraction > 0.75) continue;
    // The reference names 6 % as its own scatter at 75 %.
    const double bound = (point.fraction < 0.6 ? 0.05 : 0.08) * point.latency + 2 * point.error;
    EXPECT_NEAR(found->latency[i], point.latency, bound) << "at " << point.fraction;
  }
  const auto [low, high] = std::minmax(reference->saturation, reference->crossing);
  EXPECT_GE(found->saturation, 0.94 * low);
  EXPECT_LE(found->saturation, 1.06 * high);
}

INSTANTIATE_TEST_SUITE_P(
    Cross, FlitCurve,
    testing::Values("mesh8_dor_v1_L32_uniform", "mesh8_dor_v2_L32_uniform",
                    "mesh8_dor_v2_L32_uniform_hold", "mesh8_dor_v4_L1_uniform",
                    "mesh8_min_adapt_v2_L32_bitcomp", "mesh8_planar_adapt_v3_L32_tornado",
                    "mesh8_planar_adapt_v3_L32_uniform", "torus8_dim_order_v2_L32_uniform",
                    "torus8_dim_order_v6_L32_uniform", "torus8_min_adapt_v4_L32_transpose"));

}  // namespace
}  // namespace weft::test
