// SPDX-License-Identifier: Apache-2.0
// Every curve of the reference folder against weft: the router is described there, nothing is
// fitted.
#include "tests/cross/booksim.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::test {
namespace {

class Curve : public testing::TestWithParam<std::string> {};

TEST_P(Curve, AgreesWithTheReference) {
  const Result<Reference> reference = read_reference(GetParam());
  ASSERT_TRUE(reference) << reference.error().text();
  const int seeds = reference->k > 16 ? 1 : 3;
  const Result<Comparison> found = compare(*reference, seeds);
  ASSERT_TRUE(found) << found.error().text();

  if (reference->routing == "valiant") {
    // A mean over random intermediates; the reference's own value is that of two uniform legs. The
    // closed form of its README holds whatever they were.
    EXPECT_NEAR(found->zero_load, 5 * found->zero_load_hops + 6 + reference->packet, 1e-6);
    EXPECT_NEAR(found->zero_load, reference->zero_load, 0.05 * reference->zero_load);
  } else {
    EXPECT_DOUBLE_EQ(found->zero_load, reference->zero_load);
  }

  const double tolerance = reference->packet_by_packet() ? 0.05 : 0.15;
  for (std::size_t i = 0; i < reference->points.size(); ++i) {
    const ReferencePoint& point = reference->points[i];
    // At 2 % of saturation the reference has too few packets for a mean.
    if (point.fraction < 0.2 || point.fraction > 0.75 || is_scatter(*reference, i)) continue;
    // Between the two loads that the reference names for its run; its scatter between seeds comes
    // on top.
    const auto [low, high] = std::minmax(found->latency[i], found->accepted_latency[i]);
    EXPECT_LE(low, point.latency * (1 + tolerance) + 2 * point.error)
        << "at " << point.fraction << " of saturation";
    EXPECT_GE(high, point.latency * (1 - tolerance) - 2 * point.error)
        << "at " << point.fraction << " of saturation";
  }

  if (locks_up(*reference)) return;
  const double slack = reference->packet_by_packet() ? 0.06 : 0.15;
  const double low = reference->crossing > 0 ? std::min(reference->saturation, reference->crossing)
                                             : reference->saturation;
  const double high = std::max(reference->saturation, reference->crossing);
  EXPECT_GE(found->saturation, low * (1 - slack));
  EXPECT_LE(found->saturation, high * (1 + slack));
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// No curve is compared if none is found, so the summary's list must be what the folder holds.
TEST(Curves, AreThoseOfTheSummary) {
  const Result<std::string> summary = read_file(reference_folder() + "/summary.csv");
  ASSERT_TRUE(summary) << summary.error().text();
  std::set<std::string> listed, found;
  for (const std::string_view line : split(*summary, '\n')) {
    const std::string_view last = split(line, ',').back();
    if (last.size() > 4 && last.substr(last.size() - 4) == ".csv") listed.emplace(last);
  }
  for (const std::string& path : list_references(reference_folder())) found.insert(name_of(path));
  EXPECT_EQ(listed, found);
  EXPECT_EQ(found.size(), 50U);
}

INSTANTIATE_TEST_SUITE_P(Cross, Curve, testing::ValuesIn(list_references(reference_folder())),
                         [](const auto& tested) {
                           const std::string file = name_of(tested.param);
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace weft::test
