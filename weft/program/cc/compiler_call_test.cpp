// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/program/cc/compiler_call.hpp>

namespace weft {
namespace {

using Words = std::vector<std::string>;

const Words link_flags = {"-L/w/lib", "-Wl,-rpath,/w/lib", "-Wl,-z,now", "-lmpi_abi"};

ToolChain tools_without_pass() {
  ToolChain tools;
  tools.include_dir = "/w/include";
  tools.library_dir = "/w/lib";
  tools.module_dir = "/w/mod";
  return tools;
}

// A folder with executables named like compilers; clang++ is a link, as in an installation.
ToolChain tools_with_pass() {
  ToolChain tools = tools_without_pass();
  tools.plugin = "/w/lib/weft_globals.so";
  tools.clang_dir = std::filesystem::path(test_file("clang")).parent_path() / "llvm";
  std::filesystem::create_directories(tools.clang_dir);
  for (const char* name : {"/clang", "/gcc"}) {
    EXPECT_TRUE(write_file(tools.clang_dir + name, "#!/bin/sh\n"));
    std::filesystem::permissions(tools.clang_dir + name, std::filesystem::perms::owner_all);
  }
  std::error_code there;
  std::filesystem::create_symlink("clang", tools.clang_dir + "/clang++", there);
  return tools;
}

Words command(Language language, const Words& arguments, const ToolChain& tools,
              const CompilerChoice& choice = {}) {
  const auto call = make_compiler_call(language, arguments, tools, choice);
  EXPECT_TRUE(call) << call.error().text();
  EXPECT_EQ(call->answer, "");
  return call->command;
}

Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(CompilerCall, AddsWhatEachStageNeeds) {
  const ToolChain tools = tools_without_pass();
  const auto gcc = [&](const Words& words) { return command(Language::c, words, tools); };
  EXPECT_EQ(gcc({"-c", "a.c"}), (Words{"gcc", "-I/w/include", "-c", "a.c", "-fPIC"}));
  EXPECT_EQ(gcc({"-S", "a.c"}), (Words{"gcc", "-I/w/include", "-S", "a.c", "-fPIC"}));
  EXPECT_EQ(gcc({"-E", "a.c"}), (Words{"gcc", "-I/w/include", "-E", "a.c"}));
  EXPECT_EQ(gcc({"-MM", "-c", "a.c"}), (Words{"gcc", "-I/w/include", "-MM", "-c", "a.c"}));
  EXPECT_EQ(gcc({"a.o", "-o", "a"}), (Words{"gcc", "a.o", "-o", "a", "-pie"}) + link_flags);
  EXPECT_EQ(gcc({"a.c", "-lm"}),
            (Words{"gcc", "-I/w/include", "a.c", "-lm", "-fPIC", "-pie"}) + link_flags);
  EXPECT_EQ(gcc({"-shared", "a.o"}), (Words{"gcc", "-shared", "a.o"}) + link_flags);
  EXPECT_EQ(gcc({"-r", "a.o", "-o", "b.o"}), (Words{"gcc", "-r", "a.o", "-o", "b.o"}));
}

TEST(CompilerCall, SanitizedLibrariesNeedTheirSanitizer) {
  ToolChain tools = tools_without_pass();
  tools.sanitizers = "address,undefined";
  tools.sanitizing_compiler = "/usr/bin/cc";
  EXPECT_EQ(command(Language::c, {"a.c"}, tools),
            (Words{"/usr/bin/cc", "-I/w/include", "a.c", "-fPIC", "-pie",
                   "-fsanitize=address,undefined"} +
             link_flags));
  EXPECT_EQ(command(Language::c, {"-c", "a.c"}, tools, {"clang", ""}),
            (Words{"clang", "-I/w/include", "-c", "a.c", "-fPIC"}));
  EXPECT_EQ(command(Language::c, {"-shared", "a.o"}, tools),
            (Words{"/usr/bin/cc", "-shared", "a.o"} + link_flags));
}

TEST(CompilerCall, LeavesCallsWithoutInputsAlone) {
  const ToolChain tools = tools_without_pass();
  for (const char* word : {"--version", "-v", "-dumpmachine", "-print-search-dirs"})
    EXPECT_EQ(command(Language::c, {word}, tools), (Words{"gcc", word}));
  // Option values are no inputs, even if they look like files.
  EXPECT_EQ(command(Language::c, {"-o", "a.c", "-v"}, tools), (Words{"gcc", "-o", "a.c", "-v"}));
}

TEST(CompilerCall, ReadsStandardInputAndTheLanguageOption) {
  EXPECT_EQ(command(Language::c, {"-x", "c", "-c", "weird.input"}, tools_without_pass()),
            (Words{"gcc", "-I/w/include", "-x", "c", "-c", "weird.input", "-fPIC"}));
  EXPECT_EQ(command(Language::c, {"-E", "-dM", "-"}, tools_without_pass()),
            (Words{"gcc", "-I/w/include", "-E", "-dM", "-"}));
}

TEST(CompilerCall, TakesClangWhenThePassIsThere) {
  const ToolChain tools = tools_with_pass();
  const std::string clang = tools.clang_dir + "/clang";
  const std::string pass = "-fpass-plugin=/w/lib/weft_globals.so";
  EXPECT_EQ(command(Language::c, {"-c", "a.c"}, tools),
            (Words{clang, "-I/w/include", "-c", "a.c", "-fPIC", pass}));
  EXPECT_EQ(command(Language::cxx, {"-c", "a.cpp"}, tools),
            (Words{clang + "++", "-I/w/include", "-c", "a.cpp", "-fPIC", pass}));
  EXPECT_EQ(command(Language::c, {"a.o"}, tools), (Words{clang, "a.o", "-pie"}) + link_flags);
  EXPECT_EQ(command(Language::c, {"-E", "a.c"}, tools),
            (Words{clang, "-I/w/include", "-E", "a.c"}));
}

TEST(CompilerCall, KeepsThePassLast) {
  const ToolChain tools = tools_with_pass();
  const std::string clang = tools.clang_dir + "/clang";
  EXPECT_EQ(command(Language::c, {"-flto=thin", "a.o"}, tools),
            (Words{clang, "-flto=thin", "a.o", "-fno-lto", "-pie"}) + link_flags);
  EXPECT_EQ(command(Language::c, {"-flto", "-c", "a.c"}, tools_without_pass()),
            (Words{"gcc", "-I/w/include", "-flto", "-c", "a.c", "-fPIC"}));
}

TEST(CompilerCall, LetsTheUserChoose) {
  const ToolChain tools = tools_with_pass();
  const std::string pass = "-fpass-plugin=/w/lib/weft_globals.so";
  EXPECT_EQ(command(Language::c, {"-c", "a.c"}, tools, {"gcc", tools.clang_dir}),
            (Words{"gcc", "-I/w/include", "-c", "a.c", "-fPIC"}));
  EXPECT_EQ(command(Language::c, {"-c", "a.c"}, tools, {"ccache clang -g", tools.clang_dir}),
            (Words{"ccache", "clang", "-g", "-I/w/include", "-c", "a.c", "-fPIC", pass}));
  // Another clang cannot load the pass.
  EXPECT_EQ(command(Language::c, {"-c", "a.c"}, tools, {"clang", "/nowhere"}),
            (Words{"clang", "-I/w/include", "-c", "a.c", "-fPIC"}));
}

TEST(CompilerCall, FortranHasItsModules) {
  EXPECT_EQ(command(Language::fortran, {"-c", "a.f90"}, tools_with_pass()),
            (Words{"gfortran", "-I/w/include", "-I/w/mod", "-fno-backtrace",
                   "-fallow-argument-mismatch", "-c", "a.f90", "-fPIC"}));
}

TEST(CompilerCall, RefusesWhatNoRankCanRun) {
  for (const char* word : {"-static", "-static-pie", "-no-pie", "-nopie"}) {
    const auto call = make_compiler_call(Language::c, {word, "a.c"}, tools_without_pass(), {});
    ASSERT_FALSE(call) << word;
    EXPECT_EQ(call.error().broken(), Broken::call);
    EXPECT_NE(call.error().message().find(word), std::string::npos);
    EXPECT_EQ(call.error().message().find('\n'), std::string::npos);
  }
}

TEST(CompilerCall, ShowsInsteadOfRunning) {
  const auto shown = [](const Words& words) {
    const auto call = make_compiler_call(Language::c, words, tools_without_pass(), {});
    return call ? call->answer : call.error().text();
  };
  const std::string whole =
      "gcc -I/w/include 'a b.c' -fPIC -pie -L/w/lib -Wl,-rpath,/w/lib -Wl,-z,now -lmpi_abi\n";
  for (const char* word : {"-show", "-showme", "--showme"})
    EXPECT_EQ(shown({word, "a b.c"}), whole);
  EXPECT_EQ(shown({"--showme:compile"}), "-I/w/include -fPIC\n");
  EXPECT_EQ(shown({"-showme:link"}), "-L/w/lib -Wl,-rpath,/w/lib -Wl,-z,now -lmpi_abi\n");
  EXPECT_EQ(shown({"-showme:incdirs"}), "/w/include\n");
  EXPECT_EQ(shown({"-showme:libdirs"}), "/w/lib\n");
  EXPECT_EQ(shown({"-showme:libs"}), "mpi_abi\n");
  EXPECT_EQ(shown({"-showme:command"}), "gcc\n");
  EXPECT_NE(shown({"-showme:lnik"}).find("did you mean 'link'"), std::string::npos);
}

TEST(CompilerCall, SaysWhichCompilerIsMissing) {
  const Status status = become({"no-such-compiler-here"});
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("no-such-compiler-here"), std::string::npos);
}

}  // namespace
}  // namespace weft
