// SPDX-License-Identifier: Apache-2.0
// weft doctor: checks that the compilers make programs that start.
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "doctor.hpp"
#include "doctor_child.hpp"
#include "home.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>

namespace weft::app {
namespace {

struct Language {
  const char* command;  // weft cc
  const char* name;
  const char* file;
  const char* source;
  const char* packages;
  const char* variable;
  bool needed;
};

// Each program prints "sum 3" if two ranks have found each other.
constexpr std::array<Language, 3> languages = {
    Language{"cc", "C", "check.c",
             "#include <mpi.h>\n#include <stdio.h>\n"
             "int main(int n, char** words) {\n"
             "  int rank, sum;\n"
             "  MPI_Init(&n, &words);\n"
             "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
             "  ++rank;\n"
             "  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
             "  if (rank == 1) printf(\"sum %d\\n\", sum);\n"
             "  return MPI_Finalize();\n}\n",
             "clang-14, or gcc and libc6-dev", "WEFT_CC", true},
    Language{"c++", "C++", "check.cpp",
             "#include <mpi.h>\n#include <iostream>\n"
             "int main(int n, char** words) {\n"
             "  int rank, sum;\n"
             "  MPI_Init(&n, &words);\n"
             "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
             "  ++rank;\n"
             "  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
             "  if (rank == 1) std::cout << \"sum \" << sum << std::endl;\n"
             "  return MPI_Finalize();\n}\n",
             "g++ (clang-14 uses its library)", "WEFT_CXX", false},
    Language{
        "fc", "Fortran", "check.f90",
        "program check\n  use mpi\n  integer :: rank, total, ierr\n"
        "  call MPI_Init(ierr)\n"
        "  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)\n"
        "  call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)\n"
        "  if (rank == 0) print '(a, i0)', 'sum ', total\n"
        "  call MPI_Finalize(ierr)\nend program\n",
        "gfortran", "WEFT_FC", false}};

// The first line that names an error, else the first line.
std::string first_error(const std::string& output) {
  std::string first;
  for (const std::string_view line : split(output, '\n')) {
    if (first.empty()) first = trim(line);
    if (line.find("rror") != std::string_view::npos) return std::string(trim(line)).substr(0, 200);
  }
  return first.empty() ? "no message" : first.substr(0, 200);
}

class Trial {
 public:
  Trial(const ScratchFolder& folder, Duration limit) : folder_(folder), limit_(limit) {}

  // Runs a command. Returns the reason if it failed or did not print `expected`; else nothing.
  std::string failure_of(const std::vector<std::string>& words, std::string_view expected) {
    const ProcessResult end = run_bounded(words, folder_.path(), limit_);
    output_ = end.output;
    code_ = end.code;
    if (!end.ended) return "interrupted";
    if (end.late) return "not done after " + to_text(limit_);
    if (end.code != 0) return fmt::format("ends with code {}: {}", end.code, first_error(output_));
    if (output_.find(expected) == std::string::npos)
      return fmt::format("should print '{}', not '{}'", expected, first_error(output_));
    return {};
  }
  const std::string& output() const { return output_; }
  const std::string& path() const { return folder_.path(); }

 private:
  const ScratchFolder& folder_;
  Duration limit_;
  std::string output_;
  int code_ = 0;
};

// "clang (Debian clang version 14.0.6)"
std::string compiler_name(Trial& trial, const Language& language) {
  const std::string weft = find_home().program;
  if (!trial.failure_of({weft, language.command, "-showme:command"}, "").empty()) return {};
  std::string command(trim(trial.output()));
  std::vector<std::string> words;
  for (const std::string_view word : split(command, ' ')) words.emplace_back(word);
  words.emplace_back("--version");
  if (!trial.failure_of(words, "").empty()) return command;
  return command + " (" + std::string(trim(split(trial.output(), '\n').front())) + ")";
}

struct StartMethod {
  const char* text;
  std::vector<std::string> words;
  const char* expected;
};

// The ways to start the program; the first failure ends the trial.
std::vector<StartMethod> start_methods(const std::string& program) {
  const std::string weft = find_home().program;
  return {{"alone", {program}, "sum 1"},
          {"under weft sim",
           {weft, "sim", "-q", "--payload", "full", "--net", "mesh:2", program},
           "sum 3"},
          {"under weft run -n 2", {weft, "run", "-n", "2", program}, "sum 3"}};
}

Check check_language(Trial& trial, const Language& language) {
  Check check{"compilers", std::string("weft ") + language.command, Health::ok, "", "", ""};
  check.use = fmt::format("MPI programs in {}", language.name);
  const Health worst = Health::missing;
  const std::string weft = find_home().program;
  const std::string program = trial.path() + "/check-" + language.command;
  const std::string source = trial.path() + "/" + language.file;
  const auto refuse = [&](Health health, const std::string& found, const std::string& remedy) {
    check.health = health;
    check.found = found;
    check.remedy = remedy;
    return check;
  };
  if (Status s = write_file(source, language.source); !s)
    return refuse(worst, s.error().text(), "free some space, or set TMPDIR");
  const std::string compile = trial.failure_of({weft, language.command, "-o", program, source}, "");
  const bool absent = trial.output().find("cannot run the compiler") != std::string::npos;
  const std::string install =
      fmt::format("apt install {}, or let {} name another", language.packages, language.variable);
  if (absent)
    return refuse(language.needed ? worst : Health::note,
                  "no compiler: " + trial.output().substr(0, trial.output().find('\n')), install);
  const std::string name = compiler_name(trial, language);
  if (!compile.empty())
    return refuse(worst, fmt::format("{} does not compile and link: {}", name, compile), install);
  for (const StartMethod& method : start_methods(program)) {
    const std::string why = trial.failure_of(method.words, method.expected);
    if (!why.empty())
      return refuse(worst, fmt::format("{}: its program fails {}: {}", name, method.text, why),
                    "see the lines on files and on the machine; TMPDIR must allow programs");
  }
  check.found =
      name + " compiles and links; its program starts alone, under weft sim and weft run -n 2";
  return check;
}

// Runs the program of weft cc in a mode that works only if its compiler has run the pass.
Check check_pass(Trial& trial) {
  Check check{"compilers", "compiler pass", Health::note, "", "", ""};
  check.use = "ranks that share a program's code and pages under weft sim: less memory, any number";
  if (!std::filesystem::exists(find_home().lib + "/weft_globals.so")) {
    check.found = "weft was built without LLVM 14: ranks get copies of the program";
    check.remedy = "apt install clang-14 llvm-14-dev and build again";
    return check;
  }
  const std::string why =
      trial.failure_of({find_home().program, "sim", "-q", "--payload", "full", "--net", "mesh:2",
                        "--separate", "delta", trial.path() + "/check-cc"},
                       "sum 3");
  if (!why.empty()) {
    check.found = "the compiler of weft cc does not load it: " + why;
    check.remedy = fmt::format("apt install clang-14 (expected in {}) and leave WEFT_CC unset",
                               WEFT_CLANG_FOLDER);
    return check;
  }
  check.health = Health::ok;
  check.found = find_home().lib + "/weft_globals.so, used by weft cc";
  return check;
}

}  // namespace

Checks check_programs(Duration limit) {
  auto folder = ScratchFolder::make();
  if (!folder)
    return {{"compilers", "temporary folder", Health::missing, folder.error().text(),
             "trying the compilers", "set TMPDIR to a folder that may be written"}};
  Trial trial(*folder, limit);
  Checks checks;
  const bool fortran = std::filesystem::exists(find_home().lib + "/libmpi_abi_fortran.a");
  for (const Language& language : languages) {
    if (language.command == std::string_view("fc") && !fortran)
      checks.push_back({"compilers", "weft fc", Health::note,
                        "weft was built without its Fortran interface", "MPI programs in Fortran",
                        "apt install gfortran and build again"});
    else
      checks.push_back(check_language(trial, language));
    if (language.needed) checks.push_back(check_pass(trial));
  }
  return checks;
}

}  // namespace weft::app
