// SPDX-License-Identifier: Apache-2.0
#include "probe_job.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "home.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/network/probe/files.hpp>

namespace weft::app {
namespace {

void bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(processor), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

class Child {
 public:
  Status start(const std::vector<std::string>& words, int only_on);
  void write_input(const std::string& text);  // All of it; closes the input.
  // Calls `line` for each line of output until the output ends.
  void read_output(const std::function<void(const std::string&)>& line);
  int wait();

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
};

Status Child::start(const std::vector<std::string>& words, int only_on) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    return Error::run(std::string("cannot make a pipe: ") + std::strerror(errno));
  const std::string program = find_home().program;
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) return Error::run(std::string("cannot start a process: ") + std::strerror(errno));
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (only_on >= 0) bind_to(only_on);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  in_ = in[1];
  out_ = out[0];
  return {};
}

void Child::write_input(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t size = ::write(in_, text.data() + at, text.size() - at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) break;  // The child has ended; its exit code says why.
    at += static_cast<std::size_t>(size);
  }
  ::close(in_);
}

void Child::read_output(const std::function<void(const std::string&)>& line) {
  std::array<char, 4096> bytes;
  std::string held;
  for (;;) {
    const ssize_t size = ::read(out_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    held.append(bytes.data(), static_cast<std::size_t>(size));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = held.find('\n', begin)) != std::string::npos; begin = end + 1)
      line(held.substr(begin, end - begin));
    held.erase(0, begin);
  }
  if (!held.empty()) line(held);
  ::close(out_);
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Handles a line "progress 0.25 text"; false for other lines.
bool show_progress(const ProbeProgress& progress, const std::string& line) {
  constexpr std::string_view word = "progress ";
  if (!line.starts_with(word)) return false;
  const std::size_t blank = line.find(' ', word.size());
  const auto share = parse_number(std::string_view(line).substr(word.size(), blank - word.size()));
  if (progress && share && blank != std::string::npos) progress(*share, line.substr(blank + 1));
  return true;
}

}  // namespace

Result<ProbeOutput> run_probe_program(const ProbeProgram& program) {
  std::vector<std::string> words = program.words;
  words.push_back(find_home().lib + "/weft-probe");
  if (program.progress) words.emplace_back("progress");
  words.insert(words.end(), program.settings.begin(), program.settings.end());
  Child child;
  if (Status s = child.start(words, program.only_on); !s) return std::move(s).error();
  // Ctrl-C reaches the child, too, which ends in order; this process waits for that.
  const auto before = std::signal(SIGINT, SIG_IGN);
  child.write_input(program.input);
  ProbeOutput output;
  child.read_output([&](const std::string& line) {
    if (!show_progress(program.progress, line)) output.text += line + "\n";
  });
  const int code = child.wait();
  std::signal(SIGINT, before);
  output.interrupted = code == 128 + SIGINT;
  if (!trim(output.text).empty() && (code == 0 || output.interrupted)) return output;
  return Error(
      code == 3   ? Broken::input
      : code == 2 ? Broken::call
                  : Broken::run,
      output.interrupted || code == 0
          ? "interrupted before anything was found"
          : fmt::format("the probe program ended with code {}; see its messages above", code));
}

Result<ProbeAnswer> run_probe(const ProbeJob& job) {
  ProbeProgram program{job.words, {"ask"}, "", job.progress};
  program.settings.insert(program.settings.end(), job.settings.begin(), job.settings.end());
  for (const std::string& host : job.hosts) program.input += host + " ";
  program.input += "\n";
  if (job.earlier != nullptr) program.input += probe::to_json(*job.earlier);
  const auto output = run_probe_program(program);
  if (!output) return Error(output.error());
  auto finding = probe::from_json(output->text, "the probe program's answer");
  if (!finding) return std::move(finding).error();
  return ProbeAnswer{*std::move(finding), output->interrupted};
}

}  // namespace weft::app
