// SPDX-License-Identifier: Apache-2.0
#include "doctor_child.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "interrupts.hpp"
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/real/launch/descendants.hpp>

namespace weft::app {
namespace {

constexpr std::size_t output_max = 64 << 10;
constexpr int poll_interval_ms = 50;

// Reads what is available; false at the end of the stream.
bool read_some(int from, std::string& into) {
  std::array<char, 4096> bytes{};
  const ssize_t size = ::read(from, bytes.data(), bytes.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  if (into.size() < output_max) into.append(bytes.data(), static_cast<std::size_t>(size));
  return size > 0;
}

[[noreturn]] void run_in_child(const std::function<int()>& work, const std::array<int, 2>& ends) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  const int code = work();
  std::fflush(nullptr);
  ::_exit(code);
}

ProcessResult wait_for(pid_t child, int from, Duration limit) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(limit.in_ps() / 1'000'000'000);
  ProcessResult result;
  int status = 0;
  bool open = true;
  for (;;) {
    pollfd ready{from, POLLIN, 0};
    ::poll(&ready, open ? 1 : 0, poll_interval_ms);
    if (open && ready.revents != 0) open = read_some(from, result.output);
    const bool quiet = !open || ready.revents == 0;
    if (quiet && ::waitpid(child, &status, WNOHANG) == child) break;
    result.late = Clock::now() >= end;
    result.ended = !interrupted().load();
    if (!result.late && result.ended) continue;
    ::kill(-child, SIGKILL);
    ::waitpid(child, &status, 0);
    break;
  }
  // Also end processes that have left the group.
  launch::end_descendants([](pid_t, int) {});
  pollfd rest{from, POLLIN, 0};
  while (open && ::poll(&rest, 1, 0) > 0) open = read_some(from, result.output);
  result.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make() {
  const char* const given = std::getenv("TMPDIR");
  const std::string parent = given != nullptr && *given == '/' ? given : "/tmp";
  std::string path = parent + "/weft-doctor-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return Error::run("cannot make a folder in " + parent + ": " + std::strerror(errno));
  return ScratchFolder(std::move(path));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

ProcessResult run_bounded(const std::function<int()>& work, Duration limit) {
  launch::adopt_descendants();
  std::array<int, 2> ends{};
  if (interrupted().load()) return {1, false, false, ""};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return {127, false, true, std::string("no pipe: ") + std::strerror(errno)};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const pid_t child = ::fork();
  if (child == 0) run_in_child(work, ends);
  ::close(ends[1]);
  ProcessResult result{127, false, true, std::string("no process: ") + std::strerror(errno)};
  if (child > 0) {
    ::setpgid(child, child);  // In both processes: the group must exist before it is killed.
    result = wait_for(child, ends[0], limit);
  }
  ::close(ends[0]);
  return result;
}

ProcessResult run_bounded(const std::vector<std::string>& words, const std::string& folder,
                          Duration limit) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return run_bounded(
      [&] {
        ::setenv("TMPDIR", folder.c_str(), 1);
        if (::chdir(folder.c_str()) == 0) ::execvp(arguments[0], arguments.data());
        std::fprintf(stderr, "cannot run %s: %s\n", arguments[0], std::strerror(errno));
        return 127;
      },
      limit);
}

}  // namespace weft::app
