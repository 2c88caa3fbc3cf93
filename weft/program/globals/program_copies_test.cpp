// SPDX-License-Identifier: Apache-2.0
// Builds small programs as a user would and runs them as many ranks on a replacement for the
// simulator (testdata/test_runtime.cpp). The programs check their own variables and report.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/test_file.hpp>
#include <weft/base/text.hpp>
#include <weft/program/cc/compiler_call.hpp>
#include <weft/program/globals/marks.hpp>
#include <weft/program/globals/program_copies.hpp>

namespace weft {
namespace {

using Words = std::vector<std::string>;

const std::string data_dir = WEFT_TEST_DATA;

ToolChain tools() {
  ToolChain chain;
  chain.include_dir = data_dir;
  chain.library_dir = WEFT_TEST_RUNTIME_DIR;
  chain.plugin = WEFT_TEST_PLUGIN;
  chain.clang_dir = WEFT_TEST_CLANG_DIR;
  chain.libraries = {"globals_test_runtime"};
  return chain;
}
bool has_pass() {
  return std::string(WEFT_TEST_PLUGIN) != "";
}
bool has(const std::string& compiler) {
  return std::system((compiler + " --version > /dev/null 2>&1").c_str()) == 0;
}

struct Output {
  int code = 0;
  std::string text;
  // From the runtime's last line: how, ranks, failed, ...
  std::map<std::string, std::string> facts;
};

Output run(const std::string& line) {
  Output output;
  FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output.text += buffer;
  output.code = ::pclose(pipe);
  const std::size_t last = output.text.rfind("how ");
  std::istringstream words(last == std::string::npos ? "" : output.text.substr(last));
  for (std::string key, value; words >> key >> value;) output.facts[key] = value;
  return output;
}

// Compiles with the command that `weft cc` would run; warnings are errors.
std::string build(Language language, const std::string& name, Words arguments,
                  const std::string& compiler = "") {
  std::string program = test_file(name);
  for (std::string& word : arguments)
    if (word.starts_with("test_")) word.insert(0, data_dir + "/");
  arguments.insert(arguments.begin(), {"-show", "-g", "-o", program});
  const auto call = make_compiler_call(language, arguments, tools(), {compiler, "/usr/bin:/bin"});
  EXPECT_TRUE(call) << call.error().text();
  const Output done = run(call->answer.substr(0, call->answer.size() - 1));
  EXPECT_EQ(done.code, 0) << call->answer;
  EXPECT_EQ(done.text, "") << call->answer;
  return program;
}

Output simulate(const std::string& program, int ranks, const std::string& settings = "") {
  return run("WEFT_TEST_RANKS=" + std::to_string(ranks) + " " + settings + " " + program +
             " -ab 7 --name x rest");
}

void expect_apart(const Output& output, const std::string& how) {
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_EQ(output.facts.at("how"), how);
  EXPECT_EQ(output.facts.at("failed"), "0") << output.text;
}

// Runs a program with every method that it allows.
void expect_all_ways(const std::string& program, const std::string& how, const std::string& notes) {
  EXPECT_EQ(run(program + " -ab 7 --name x rest").code, 0);  // Not simulated.
  Output output = simulate(program, 1000);
  expect_apart(output, how);
  EXPECT_EQ(output.facts.at("notes"), notes);
  output = simulate(program, 300, "WEFT_TEST_WORKERS=3");
  expect_apart(output, how);
  expect_apart(simulate(program, 100, "WEFT_TEST_HOW=copies"), "copies");
}

class EveryLevel : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(ProgramCopies, EveryLevel, testing::Values("-O0", "-O1", "-O2", "-O3"),
                         [](const auto& level) { return std::string(level.param).substr(1); });

TEST_P(EveryLevel, DeltaKeepsCApart) {
  if (!has_pass()) GTEST_SKIP() << "built without LLVM 14";
  expect_all_ways(build(Language::c, "c", {GetParam(), "test_statics.c", "test_statics_other.c"}),
                  "delta", "0");
  expect_all_ways(build(Language::c, "libc", {GetParam(), "test_libc.c"}), "delta", "1000");
}

TEST_P(EveryLevel, DeltaKeepsCxxApart) {
  if (!has_pass()) GTEST_SKIP() << "built without LLVM 14";
  expect_all_ways(build(Language::cxx, "cxx",
                        {GetParam(), "-std=c++20", "test_objects.cpp", "test_objects_other.cpp"}),
                  "delta", "4000");
}

TEST_P(EveryLevel, CopiesKeepCApart) {
  expect_all_ways(
      build(Language::c, "c", {GetParam(), "test_statics.c", "test_statics_other.c"}, "gcc"),
      "copies", "0");
  expect_all_ways(build(Language::c, "libc", {GetParam(), "test_libc.c"}, "gcc"), "copies", "1000");
}

TEST_P(EveryLevel, CopiesKeepCxxApart) {
  expect_all_ways(
      build(Language::cxx, "cxx",
            {GetParam(), "-std=c++20", "test_objects.cpp", "test_objects_other.cpp"}, "g++"),
      "copies", "4000");
}

TEST_P(EveryLevel, CopiesKeepFortranApart) {
  if (!has("gfortran")) GTEST_SKIP() << "no gfortran";
  expect_all_ways(
      build(Language::fortran, "fortran", {GetParam(), "-J" + test_file(""), "test_fortran.f90"}),
      "copies", "0");
}

// A part without the pass would access the original's data, so `delta` must not be used.
TEST(ProgramCopies, MixedProgramsGetCopies) {
  if (!has_pass() || !has("gfortran")) GTEST_SKIP() << "no LLVM 14 or no gfortran";
  const std::string main = build(Language::c, "main.o", {"-O2", "-c", "test_mixed_main.c"});
  const std::string part = build(Language::fortran, "part.o", {"-O2", "-c", "test_mixed_part.f90"});
  const std::string program = build(Language::fortran, "mixed", {main, part});
  expect_apart(simulate(program, 500), "copies");
  const auto marks = read_marks(program);
  ASSERT_TRUE(marks);
  EXPECT_EQ(marks->marked, 1U);
  EXPECT_EQ(marks->unmarked, (std::vector<std::string>{"test_mixed_part.f90"}));
  const Output refused = simulate(program, 5, "WEFT_TEST_HOW=delta");
  EXPECT_NE(refused.text.find("test_mixed_part.f90 was not compiled with"), std::string::npos);
}

TEST(ProgramCopies, CommonBlocksAndStrippedProgramsWork) {
  if (!has_pass()) GTEST_SKIP() << "built without LLVM 14";
  const std::string program =
      build(Language::c, "common",
            {"-O2", "-fcommon", "-DWEFT_TEST_COMMON", "-ffunction-sections", "-fdata-sections",
             "-Wl,--gc-sections", "test_statics.c", "test_statics_other.c"});
  expect_apart(simulate(program, 100), "delta");
  ASSERT_EQ(std::system(("strip " + program).c_str()), 0);
  expect_apart(simulate(program, 100), "copies");
}

// The programs notice when nothing keeps ranks apart.
TEST(ProgramCopies, WithoutSeparationRanksMeet) {
  const std::string program =
      build(Language::c, "together", {"-O2", "test_statics.c", "test_statics_other.c"});
  const Output output = simulate(program, 10, "WEFT_TEST_HOW=none");
  EXPECT_NE(output.code, 0);
  EXPECT_NE(output.facts.at("failed"), "0");
}

TEST(ProgramCopies, ManyRanks) {
  const std::string program = build(Language::c, "scale", {"-O2", "test_scale.c"});
  if (has_pass()) expect_apart(simulate(program, 65536), "delta");
  expect_apart(simulate(program, 5000, "WEFT_TEST_HOW=copies"), "copies");
  const Output refused = simulate(program, 2'000'000'000, "WEFT_TEST_HOW=copies");
  EXPECT_NE(refused.text.find("2000000000 ranks need 4000000000 mappings, vm.max_map_count is"),
            std::string::npos)
      << refused.text;
}

// A few hundred bytes of data do not take whole pages; alignment, addresses and zeros are
// preserved.
TEST(ProgramCopies, SmallDataIsPacked) {
  if (!has_pass()) GTEST_SKIP() << "built without LLVM 14";
  const std::string program = build(Language::c, "packed", {"-O2", "test_packed.c"});
  Output output = simulate(program, 20000, "WEFT_TEST_WORKERS=2");
  expect_apart(output, "delta");
  EXPECT_LT(std::stoul(output.facts.at("reserved")), 4096U);
  EXPECT_EQ(output.facts.at("committed"), output.facts.at("reserved"));
  // Tables that only the loader uses take 700 bytes and are in no copy.
  output = simulate(build(Language::c, "little",
                          {"-O2", "-DALIGNMENT=8", "-DMORE=50", "-DONE_THREAD", "test_packed.c"}),
                    20000);
  expect_apart(output, "delta");
  EXPECT_LE(std::stoul(output.facts.at("reserved")), 256U);
  // Large data, and data aligned to more than a page, is not packed.
  for (const std::string more : {"-DALIGNMENT=8192", "-DMORE=20000"}) {
    output = simulate(build(Language::c, "unpacked", {"-O2", more, "test_packed.c"}), 100);
    expect_apart(output, "delta");
    EXPECT_EQ(std::stoul(output.facts.at("reserved")) % 4096, 0U);
  }
}

TEST(ProgramCopies, RefusesWhatItCannotSeparate) {
  const std::string fixed = test_file("fixed");
  ASSERT_EQ(run("gcc -no-pie -fPIC -I" + data_dir + " " + data_dir + "/test_scale.c -o " + fixed +
                " -L" WEFT_TEST_RUNTIME_DIR " -Wl,-rpath," WEFT_TEST_RUNTIME_DIR
                " -lglobals_test_runtime")
                .text,
            "");
  EXPECT_NE(simulate(fixed, 5).text.find("not position-independent"), std::string::npos);
  if (!has_pass()) GTEST_SKIP() << "built without LLVM 14: no shared library was tried";
  const std::string library = build(Language::c, "libcounter.so", {"-shared", "test_library.c"});
  const std::string user = build(Language::c, "user", {"test_library_user.c", library});
  EXPECT_EQ(run(user).code, 0);
  EXPECT_NE(simulate(user, 5).text.find("make it a static library"), std::string::npos);
}

}  // namespace
}  // namespace weft
