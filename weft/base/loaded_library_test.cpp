// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include <weft/base/loaded_library.hpp>

namespace weft {
namespace {

TEST(LoadedLibrary, FindsFunctions) {
  LoadedLibrary library("libm.so.6");
  decltype(static_cast<double (*)(double)>(&std::cos)) cosine = nullptr;
  library.find("cos", cosine);
  ASSERT_TRUE(library.is_complete());
  EXPECT_EQ(cosine(0), 1);
}

TEST(LoadedLibrary, IsIncompleteWithoutOneOfItsNames) {
  LoadedLibrary library("libm.so.6");
  double (*none)(double) = nullptr;
  double (*cosine)(double) = nullptr;
  library.find("no_such_function", none);
  library.find("cos", cosine);
  EXPECT_FALSE(library.is_complete());
  EXPECT_EQ(none, nullptr);
  EXPECT_NE(cosine, nullptr);
}

TEST(LoadedLibrary, ThatIsNotThereHasNothing) {
  LoadedLibrary library("libno-such-library.so.1");
  double (*none)(double) = nullptr;
  library.find("cos", none);
  EXPECT_FALSE(library.is_complete());
  EXPECT_EQ(none, nullptr);
}

}  // namespace
}  // namespace weft
