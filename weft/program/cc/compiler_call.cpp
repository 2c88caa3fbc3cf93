// SPDX-License-Identifier: Apache-2.0
#include "compiler_call.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include <weft/base/shell_word.hpp>
#include <weft/base/text.hpp>

namespace weft {

namespace {

using Words = std::vector<std::string>;

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Options whose value is the next word, so that word is not an input.
constexpr std::array<std::string_view, 34> with_value = {"-o",
                                                         "-I",
                                                         "-L",
                                                         "-D",
                                                         "-U",
                                                         "-l",
                                                         "-x",
                                                         "-include",
                                                         "-isystem",
                                                         "-MF",
                                                         "-MT",
                                                         "-MQ",
                                                         "-Xlinker",
                                                         "-Xclang",
                                                         "-imacros",
                                                         "-iquote",
                                                         "-idirafter",
                                                         "-iprefix",
                                                         "-isysroot",
                                                         "-Xassembler",
                                                         "-u",
                                                         "-T",
                                                         "-z",
                                                         "-J",
                                                         "--param",
                                                         "-mllvm",
                                                         "-target",
                                                         "-aux-info",
                                                         "-Xpreprocessor",
                                                         "-B",
                                                         "-iwithprefix",
                                                         "-e",
                                                         "-dumpbase",
                                                         "-wrapper"};

constexpr std::array<std::string_view, 16> c_endings = {
    ".c",   ".i",  ".C", ".cc", ".cp", ".cpp", ".cxx",  ".c++",
    ".CPP", ".ii", ".m", ".mm", ".ll", ".bc",  ".cppm", ".ixx"};
constexpr std::array<std::string_view, 16> fortran_endings = {
    ".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08",
    ".F", ".FOR", ".FTN", ".fpp", ".F90", ".F95", ".F03", ".F08"};

enum class Stage { nothing, preprocess, compile, link };

// What the user's arguments ask for.
struct Request {
  Words words;  // All arguments except those for weft.
  Stage stage = Stage::nothing;
  bool sources = false;  // Something is compiled.
  bool shared = false;   // The output is a library or an object, not a program.
  bool loose = false;    // Linked without libraries (-nostdlib and similar).
  bool lto = false;      // Link-time optimisation.
  std::string show;      // "", "command", or a part: "compile", "link", ...
};

bool is_source(const std::string& word) {
  const std::string ending = std::filesystem::path(word).extension();
  return word == "-" || one_of(ending, c_endings) || one_of(ending, fortran_endings);
}

Status refuse(const std::string& word) {
  constexpr std::array<std::string_view, 3> fixed = {"-static", "--static", "-static-pie"};
  if (one_of(word, fixed))
    return Error::call(word + ": a program for weft needs shared libraries; leave it out");
  if (word == "-no-pie" || word == "-nopie")
    return Error::call(word + ": ranks need a position-independent program; leave it out");
  return {};
}

// -show, -showme, --showme:compile and so on, as in other MPI compiler wrappers.
Result<bool> read_show(std::string_view word, Request& request) {
  if (word.starts_with("--show")) word.remove_prefix(1);
  if (word == "-show" || word == "-showme") {
    request.show = "command";
    return true;
  }
  if (!word.starts_with("-showme:")) return false;
  constexpr std::array<std::string_view, 6> parts = {"command", "compile", "link",
                                                     "incdirs", "libdirs", "libs"};
  request.show = word.substr(8);
  if (!one_of(request.show, parts))
    return Error::call(std::string(word) + ": unknown part" + suggest(request.show, parts));
  if (request.show == "command") request.show = "compiler";
  return true;
}

Result<Request> read_request(const Words& arguments) {
  Request request;
  bool inputs = false;
  Stage last = Stage::link;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (Status fine = refuse(word); !fine) return std::move(fine).error();
    const auto shown = read_show(word, request);
    if (!shown) return shown.error();
    if (*shown) continue;
    request.words.push_back(word);
    if (word == "-E" || word == "-M" || word == "-MM" || word == "-fsyntax-only")
      last = Stage::preprocess;
    if ((word == "-c" || word == "-S") && last == Stage::link) last = Stage::compile;
    if (word.starts_with("-flto")) request.lto = true;
    if (word == "-shared" || word == "-r") request.shared = true;
    if (word == "-r" || word == "-nostdlib" || word == "-nodefaultlibs") request.loose = true;
    if (word == "-x" || (word.starts_with("-x") && word.size() > 2)) request.sources = true;
    if (one_of(word, with_value)) {
      if (i + 1 < arguments.size()) request.words.push_back(arguments[++i]);
      continue;
    }
    if (word.starts_with("-") && word != "-") continue;
    inputs = true;
    request.sources = request.sources || is_source(word);
  }
  request.stage = inputs ? last : Stage::nothing;
  return request;
}

std::filesystem::path found_in(const std::string& name, const std::string& search_path) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos) return std::filesystem::canonical(name, ignored);
  for (const std::string_view folder : split(search_path, ':')) {
    const auto candidate = std::filesystem::path(folder) / name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0)
      return std::filesystem::canonical(candidate, ignored);
  }
  return {};
}

class Compiler {
 public:
  Compiler(Language language, const ToolChain& tools, const CompilerChoice& choice) {
    for (const std::string_view word : split(choice.command, ' '))
      if (!word.empty()) words_.emplace_back(word);
    const std::string clang = tools.clang_dir + "/clang";
    const bool has_pass = !tools.plugin.empty() && ::access(clang.c_str(), X_OK) == 0;
    if (words_.empty() && !tools.sanitizing_compiler.empty())
      words_.push_back(tools.sanitizing_compiler);
    if (words_.empty()) words_.push_back(standard(language, has_pass ? clang : ""));
    if (!has_pass) return;
    std::error_code ignored;
    // A plugin loads only into the compiler it was built for; clang++ is another name for the same
    // compiler.
    const auto own = std::filesystem::canonical(clang, ignored);
    loads_pass_ = std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
      return !word.starts_with("-") && found_in(word, choice.search_path) == own;
    });
  }
  const Words& words() const { return words_; }
  bool loads_pass() const { return loads_pass_; }

 private:
  static std::string standard(Language language, const std::string& clang) {
    if (language == Language::fortran) return "gfortran";
    if (language == Language::cxx) return clang.empty() ? "g++" : clang + "++";
    return clang.empty() ? "gcc" : clang;
  }
  Words words_;
  bool loads_pass_ = false;
};

Words include_flags(Language language, const ToolChain& tools) {
  Words flags = {"-I" + tools.include_dir};
  if (language == Language::fortran && !tools.module_dir.empty())
    flags.push_back("-I" + tools.module_dir);
  return flags;
}

Words library_flags(const ToolChain& tools) {
  // Immediate binding: copies of the program then find library functions in its tables.
  Words flags = {"-L" + tools.library_dir, "-Wl,-rpath," + tools.library_dir, "-Wl,-z,now"};
  for (const std::string& library : tools.libraries) flags.push_back("-l" + library);
  return flags;
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Quotes the word for a shell.
std::string line_of(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line + "\n";
}

Words full_command(Language language, const Request& request, const ToolChain& tools,
                   const Compiler& compiler) {
  Words command = compiler.words();
  const bool links = request.stage == Stage::link;
  const bool generates = request.sources && (links || request.stage == Stage::compile);
  // Our include path comes first, so that no other mpi.h is found; -fPIC comes last, so that
  // nothing overrides it.
  if (request.sources || request.stage == Stage::preprocess || request.stage == Stage::compile)
    append(command, include_flags(language, tools));
  // Fortran's own crash report knows nothing of ranks. Programs with mpif.h pass buffers of
  // different types to one routine, which other MPI compilers take as well.
  if (generates && language == Language::fortran)
    append(command, {"-fno-backtrace", "-fallow-argument-mismatch"});
  append(command, request.words);
  if (generates) command.emplace_back("-fPIC");
  if (generates && compiler.loads_pass()) command.push_back("-fpass-plugin=" + tools.plugin);
  // No optimiser may run after the pass.
  if (request.lto && compiler.loads_pass()) command.emplace_back("-fno-lto");
  if (links && !request.shared) command.emplace_back("-pie");
  // The program's own code stays as it is: weft is what is looked at.
  if (links && !request.shared && !tools.sanitizers.empty())
    command.push_back("-fsanitize=" + tools.sanitizers);
  // Linked statically, so that each rank has its own I/O units and random numbers.
  if (links && !request.shared && !request.loose && language == Language::fortran)
    command.emplace_back("-static-libgfortran");
  if (links && !request.loose) append(command, library_flags(tools));
  return command;
}

}  // namespace

Result<CompilerCall> make_compiler_call(Language language, const Words& arguments,
                                        const ToolChain& tools, const CompilerChoice& choice) {
  const auto request = read_request(arguments);
  if (!request) return request.error();
  const Compiler compiler(language, tools, choice);
  CompilerCall call;
  call.command = full_command(language, *request, tools, compiler);
  call.own_clang = choice.command.empty() && compiler.loads_pass();
  Words compile = include_flags(language, tools);
  // Without the pass: a build that asks for flags may give them to another compiler.
  compile.emplace_back("-fPIC");
  if (request->show == "command") call.answer = line_of(call.command);
  if (request->show == "compiler") call.answer = line_of(compiler.words());
  if (request->show == "compile") call.answer = line_of(compile);
  if (request->show == "link") call.answer = line_of(library_flags(tools));
  if (request->show == "incdirs") call.answer = line_of({tools.include_dir});
  if (request->show == "libdirs") call.answer = line_of({tools.library_dir});
  if (request->show == "libs") call.answer = line_of(tools.libraries);
  return call;
}

Status become(const Words& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  return Error::call("cannot run the compiler '" + command[0] + "': " + std::strerror(errno) +
                     "; WEFT_CC, WEFT_CXX and WEFT_FC choose another");
}

}  // namespace weft
