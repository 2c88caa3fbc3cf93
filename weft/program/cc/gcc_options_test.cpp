// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/program/cc/gcc_options.hpp>

namespace weft {
namespace {

using Words = std::vector<std::string>;

// A compiler that complains, in its own words, of every option that ends with `unknown`.
std::string compiler(const std::string& name, const std::string& unknown,
                     const std::string& complaint) {
  const std::string path = test_file(name);
  EXPECT_TRUE(write_file(path, "#!/bin/sh\necho COLLECT_GCC=me >&2\nfor w; do case $w in *" +
                                   unknown + ") echo \"" + complaint +
                                   " '$w'\" >&2;; esac; done\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

std::string clang() {
  return compiler("clang", "[gn]", "clang: error: unknown argument:");  // -f...g and -f...n.
}
std::string gcc() {
  return compiler("gcc", "n", "gcc: error: unrecognized command-line option");
}

TEST(GccOptions, AreLeftOutIfOnlyGccKnowsThem) {
  const Words words = {"-O2",    "-fbing",      "-c", "a.c", "-fno-strict-aliasing",
                       "-mdong", "-fnever-seen"};
  const TakenOptions taken = leave_out_gcc_options(words, clang(), gcc());
  EXPECT_EQ(taken.left_out, (Words{"-fbing", "-mdong"}));
  EXPECT_EQ(taken.words, (Words{"-O2", "-c", "a.c", "-fno-strict-aliasing", "-fnever-seen"}));
}

TEST(GccOptions, StayWhereNobodyVouchesForThem) {
  const Words words = {"-fbing", "a.c"};
  EXPECT_EQ(leave_out_gcc_options(words, clang(), "/nonexistent/gcc").words, words);
}

// Neither compiler is there: whoever asks would fail.
TEST(GccOptions, CommonOnesAreNotAskedFor) {
  const Words words = {"-fPIC", "-march=native", "-g", "-Wall", "a.c"};
  EXPECT_EQ(leave_out_gcc_options(words, "/nonexistent/clang", "/nonexistent/gcc").words, words);
}

}  // namespace
}  // namespace weft
