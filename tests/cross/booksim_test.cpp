// SPDX-License-Identifier: Apache-2.0
// Every curve of the reference folder against weft: the router is described there, nothing is
// fitted.
#include "tests/cross/booksim.hpp"

#include <filesystem>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::test {
namespace {

class Curve : public testing::TestWithParam<std::string> {};

TEST_P(Curve, AgreesWithTheReference) {
  const Result<Reference> reference = read_reference(GetParam());
  ASSERT_TRUE(reference) << reference.error().text();
  const bool in_turn = reference->packet_by_packet();
  const auto off =
      find_disagreements(*reference, Fidelity::packet,
                         {.latency = in_turn ? 0.05 : 0.15, .saturation = in_turn ? 0.06 : 0.15});
  ASSERT_TRUE(off) << off.error().text();
  EXPECT_THAT(*off, testing::IsEmpty());
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
