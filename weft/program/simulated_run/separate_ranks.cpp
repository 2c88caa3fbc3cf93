// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/program/rank_channel/requests.hpp>
#include <weft/program/simulated_run/separate_ranks.hpp>

namespace weft {

namespace {

// For signal handlers: the groups of all processes that may be there.
std::array<std::atomic<pid_t>, SeparateRanks::ranks_max> groups_to_end;

// Each rank takes a socket, two pipes and a descriptor of its process.
Status allow_descriptors(std::uint32_t ranks, rlimit& before) {
  constexpr rlim_t each = 4, others = 128;
  const rlim_t needed = each * ranks + others;
  if (::getrlimit(RLIMIT_NOFILE, &before) != 0) return {};
  rlimit wanted = before;
  wanted.rlim_cur = std::max(before.rlim_cur, std::min(needed, before.rlim_max));
  if (wanted.rlim_cur >= needed && ::setrlimit(RLIMIT_NOFILE, &wanted) == 0) return {};
  return Error::run(fmt::format(
      "--separate processes: {} ranks need {} open files, and this machine allows {} (ulimit -n)",
      ranks, needed, before.rlim_max));
}

bool is_setting_of(std::string_view entry, std::string_view name) {
  return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
}

// The library comes first in each process: its clocks and its main stand before the C library's.
std::vector<std::string> environment_for(const SeparateRanks::Command& command, int socket) {
  std::vector<std::string> settings;
  std::string preloaded = "LD_PRELOAD=" + command.library;
  bool unbuffered = false;
  for (char** entry = command.environment; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (is_setting_of(text, "LD_PRELOAD")) {
      preloaded += ":" + std::string(text.substr(text.find('=') + 1));
    } else if (!is_setting_of(text, rank_channel_variable)) {
      settings.emplace_back(text);
    }
    unbuffered = unbuffered || is_setting_of(text, "PYTHONUNBUFFERED");
  }
  settings.push_back(preloaded);
  settings.push_back(fmt::format("{}={}", rank_channel_variable, socket));
  // What Python prints shall come when it is printed.
  if (!unbuffered) settings.emplace_back("PYTHONUNBUFFERED=1");
  return settings;
}

struct Child {
  const char* program;
  char** arguments;
  char* const* environment;
  int channel, output[2], input;
  pid_t parent;
  rlimit files;
};

// Between fork and exec: nothing but system calls.
[[noreturn]] void become(const Child& child) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != child.parent) ::syscall(SYS_exit_group, 1);
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(child.input, 0);
  ::dup2(child.output[0], 1);
  ::dup2(child.output[1], 2);
  ::fcntl(child.channel, F_SETFD, 0);
  ::setrlimit(RLIMIT_NOFILE, &child.files);
  ::execve(child.program, child.arguments, child.environment);
  const char* const why = std::strerror(errno);
  for (const char* const text : {"weft: error: ", child.program, " cannot be started: ", why, "\n"})
    if (::syscall(SYS_write, 2, text, std::strlen(text)) < 0) break;
  ::syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

int open_exit(pid_t process) {
#if defined(SYS_pidfd_open)
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
#else
  static_cast<void>(process);
  errno = ENOSYS;
  return -1;
#endif
}

Status system_error(std::uint32_t rank, const char* what) {
  return Error::run(fmt::format("--separate processes: no {} for rank {}: {}; use fewer ranks",
                                what, rank, std::strerror(errno)));
}

// Standard input is the first rank's, unless somebody types it: a terminal stops processes that
// are not in front.
int input_of(std::uint32_t rank) {
  if (rank == 0 && ::isatty(0) == 0) return 0;
  static const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return nothing;
}

}  // namespace

Result<std::unique_ptr<SeparateRanks>> SeparateRanks::start(std::uint32_t ranks,
                                                            const Command& command) {
  std::unique_ptr<SeparateRanks> started(new SeparateRanks);
  started->ranks_.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (Status s = started->start_one(rank, command); !s) return std::move(s).error();
  }
  return started;
}

Status SeparateRanks::start_one(std::uint32_t number, const Command& command) {
  static rlimit files_before = {};
  if (number == 0) {
    if (Status s = allow_descriptors(static_cast<std::uint32_t>(ranks_.size()), files_before); !s)
      return s;
  }
  Rank& rank = ranks_[number];
  RankChannel theirs;
  if (!RankChannel::make_pair(rank.channel, theirs)) return system_error(number, "socket");
  int out[2] = {-1, -1}, error[2] = {-1, -1};
  const bool piped = ::pipe2(out, O_CLOEXEC) == 0 && ::pipe2(error, O_CLOEXEC) == 0;
  rank.output[0] = out[0];
  rank.output[1] = error[0];
  const std::vector<std::string> settings = environment_for(command, theirs.socket());
  std::vector<char*> environment;
  for (const std::string& setting : settings)
    environment.push_back(const_cast<char*>(setting.c_str()));
  environment.push_back(nullptr);
  const Child child = {
      command.program.c_str(), command.arguments, environment.data(), theirs.socket(),
      {out[1], error[1]},      input_of(number),  ::getpid(),         files_before};
  const pid_t process = piped ? ::fork() : -1;
  if (process == 0) become(child);
  for (const int end : {out[1], error[1]})
    if (end >= 0) ::close(end);
  if (process < 0) return system_error(number, piped ? "process" : "pipe");
  ::setpgid(process, process);  // Whoever comes first.
  rank.process = process;
  groups_to_end[number] = process;
  rank.exit = open_exit(process);
  if (rank.exit < 0) return system_error(number, "descriptor of the process");
  for (const int descriptor : rank.output) ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return {};
}

void SeparateRanks::show(Rank& rank, const Fabric& fabric, Console& console) {
  std::array<char, 4096> text;
  for (const int stream : {1, 2}) {
    ssize_t size = 0;
    while ((size = ::read(rank.output[stream - 1], text.data(), text.size())) > 0)
      console.print(fabric.self, fabric.processor.now(), stream,
                    {text.data(), static_cast<std::size_t>(size)});
  }
}

// The channel is looked at first: what was printed before a request is then found, too.
bool SeparateRanks::wait(Rank& rank, const Fabric& fabric, Console& console) {
  for (;;) {
    std::array<pollfd, 4> sources = {{{rank.channel.socket(), POLLIN, 0},
                                      {rank.exit, POLLIN, 0},
                                      {rank.output[0], POLLIN, 0},
                                      {rank.output[1], POLLIN, 0}}};
    if (::poll(sources.data(), sources.size(), -1) < 0) continue;
    if (((sources[2].revents | sources[3].revents) & POLLIN) != 0) show(rank, fabric, console);
    if (sources[0].revents != 0) return true;
    if (sources[1].revents != 0) return false;
    for (std::size_t i = 2; i < sources.size(); ++i) {
      if ((sources[i].revents & POLLIN) != 0 || sources[i].revents == 0) continue;
      ::close(std::exchange(rank.output[i - 2], -1));  // Closed at the other end.
    }
  }
}

int SeparateRanks::serve(RankServer& server, const Fabric& fabric, Console& console) {
  Rank& rank = ranks_[fabric.self.index];
  std::vector<std::byte> packet;
  while (wait(rank, fabric, console)) {
    if (!rank.channel.receive(packet) || !server.serve(packet)) rank.channel.close();
  }
  show(rank, fabric, console);
  int status = 0;
  while (::waitpid(rank.process, &status, 0) < 0 && errno == EINTR) {
  }
  rank.ended = true;
  groups_to_end[fabric.self.index] = 0;
  return status;
}

void SeparateRanks::end_all() {
  end_now();
  for (Rank& rank : ranks_) {
    if (rank.process > 0 && !rank.ended) ::waitpid(rank.process, nullptr, 0);
    rank.ended = true;
  }
}

void SeparateRanks::end_now() {
  for (auto& group : groups_to_end) {
    const pid_t process = group.exchange(0);
    if (process > 0) ::kill(-process, SIGKILL);
  }
}

std::string ending_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  return fmt::format("it ended with code {}", WEXITSTATUS(status));
}

}  // namespace weft
