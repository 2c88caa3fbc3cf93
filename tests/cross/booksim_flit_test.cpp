// SPDX-License-Identifier: Apache-2.0
// Every curve of the reference folder against --model flit: the router is described there, nothing
// is fitted.
#include <filesystem>
#include <string>

#include "tests/cross/booksim.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::test {
namespace {

class BooksimFlits : public testing::TestWithParam<std::string> {};

TEST_P(BooksimFlits, AgreeWithTheReference) {
  const Result<Reference> reference = read_reference(GetParam());
  ASSERT_TRUE(reference) << reference.error().text();
  const auto off =
      find_disagreements(*reference, Fidelity::flit, {.latency = 0.05, .saturation = 0.06});
  ASSERT_TRUE(off) << off.error().text();
  EXPECT_THAT(*off, testing::IsEmpty());
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
