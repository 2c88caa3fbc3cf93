// SPDX-License-Identifier: Apache-2.0
// Every curve of the reference folder against --model flit: the router is described there, nothing
// is fitted.
#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/cross/booksim.hpp"
#include <gtest/gtest.h>

namespace weft::test {
namespace {

class BooksimFlits : public testing::TestWithParam<std::string> {};

TEST_P(BooksimFlits, AgreeWithTheReference) {
  const Result<Reference> reference = read_reference(GetParam());
  ASSERT_TRUE(reference) << reference.error().text();
  const int seeds = reference->k > 16 ? 1 : 3;
  const Result<Comparison> found = compare(*reference, seeds, Fidelity::flit);
  ASSERT_TRUE(found) << found.error().text();

  if (reference->routing == "valiant") {
    // A mean over random intermediates; the reference's own value is that of two uniform legs. The
    // closed form of its README holds whatever they were.
    EXPECT_NEAR(found->zero_load, 5 * found->zero_load_hops + 6 + reference->packet, 1e-6);
    EXPECT_NEAR(found->zero_load, reference->zero_load, 0.05 * reference->zero_load);
  } else {
    EXPECT_DOUBLE_EQ(found->zero_load, reference->zero_load);
  }
  if (locks_up(*reference)) return;

  for (std::size_t i = 0; i < reference->points.size(); ++i) {
    const ReferencePoint& point = reference->points[i];
    // At 2 % of saturation the reference has too few packets for a mean.
    if (point.fraction < 0.2 || point.fraction > 0.75 || is_scatter(*reference, i)) continue;
    // Between the two loads that the reference names for its run.
    const auto [low, high] = std::minmax(found->latency[i], found->accepted_latency[i]);
    EXPECT_LE(low, point.latency * 1.05 + 2 * point.error)
        << "at " << point.fraction << " of saturation";
    EXPECT_GE(high, point.latency * 0.95 - 2 * point.error)
        << "at " << point.fraction << " of saturation";
  }
  const double low = reference->crossing > 0 ? std::min(reference->saturation, reference->crossing)
                                             : reference->saturation;
  const double high = std::max(reference->saturation, reference->crossing);
  EXPECT_GE(found->saturation, low * 0.94);
  EXPECT_LE(found->saturation, high * 1.06);
}

INSTANTIATE_TEST_SUITE_P(Cross, BooksimFlits,
                         testing::ValuesIn(list_references(reference_folder())),
                         [](const auto& tested) {
                           const std::string file =
                               std::filesystem::path(tested.param).filename().string();
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace weft::test
