// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/descendants.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <dirent.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/real/launch/clock.hpp>

namespace weft::launch {
namespace {

constexpr int end_ms_max = 10'000;  // A process inside a system call may take a while to die.

// Process numbers in /proc are valid only if it was mounted in our own pid namespace.
bool proc_is_ours() {
  std::array<char, 32> own{};
  const ssize_t size = ::readlink("/proc/self", own.data(), own.size() - 1);
  return size > 0 && std::string(own.data()) == std::to_string(::getpid());
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* const threads = proc_is_ours() ? ::opendir("/proc/self/task") : nullptr;
  if (threads == nullptr) return found;
  while (const dirent* entry = ::readdir(threads)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream list(std::string("/proc/self/task/") + entry->d_name + "/children");
    for (pid_t child = 0; list >> child;) found.push_back(child);
  }
  ::closedir(threads);
  return found;
}

}  // namespace

void adopt_descendants() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void end_descendants(const std::function<void(pid_t, int status)>& reaped) {
  // Parents first: their children then become ours and are next.
  for (const Deadline deadline = Deadline::in_ms(end_ms_max); !deadline.passed();) {
    for (const pid_t child : children()) ::kill(child, SIGKILL);
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, WNOHANG);
      if (ended < 0 && errno == ECHILD) return;
      if (ended <= 0) break;
      reaped(ended, status);
    }
    ::poll(nullptr, 0, 1);
  }
}

}  // namespace weft::launch
