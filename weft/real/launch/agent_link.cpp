// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/agent_link.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/base/text.hpp>

namespace weft::launch {
namespace {

constexpr std::size_t said_size_max = 64 << 10;

Error failed(const char* what) {
  return Error::run(std::string(what) + ": " + std::strerror(errno));
}

// Leaves the terminal's process group: Ctrl-C is for `weft run`, which forwards it.
void stand_apart(pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

Result<std::unique_ptr<AgentLink>> AgentLink::fork_local(const DecideBinding& places) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return failed("cannot make a socket");
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return failed("cannot start a process");
  if (child == 0) {
    ::close(ends[0]);
    stand_apart(parent);
    ::_exit(serve_agent(ends[1], ends[1], places));
  }
  ::close(ends[1]);
  return std::unique_ptr<AgentLink>(new AgentLink(child, ends[0], -1));
}

Result<std::unique_ptr<AgentLink>> AgentLink::start_remote(const std::vector<std::string>& words) {
  std::array<int, 2> ends{}, complaints{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return failed("cannot make a socket");
  if (::pipe2(complaints.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe");
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return failed("cannot start a process");
  if (child == 0) {
    stand_apart(parent);
    ::dup2(ends[1], 0);
    ::dup2(ends[1], 1);
    ::dup2(complaints[1], 2);
    std::signal(SIGPIPE, SIG_DFL);
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    ::execvp(pointers[0], pointers.data());
    const std::string text = words[0] + ": " + std::strerror(errno) + "\n";
    static_cast<void>(!::write(2, text.data(), text.size()));
    ::_exit(127);
  }
  ::close(ends[1]);
  ::close(complaints[1]);
  ::fcntl(complaints[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<AgentLink>(new AgentLink(child, ends[0], complaints[0]));
}

AgentLink::~AgentLink() {
  if (complaints_ >= 0) ::close(complaints_);
}

void AgentLink::read_complaints() {
  std::array<char, 4096> bytes;
  while (complaints_ >= 0) {
    const ssize_t size = ::read(complaints_, bytes.data(), bytes.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      ::close(complaints_);
      complaints_ = -1;
      return;
    }
    said_.append(bytes.data(), static_cast<std::size_t>(size));
    if (said_.size() > said_size_max) said_.erase(0, said_.size() - said_size_max);
  }
}

std::string AgentLink::last_complaint() const {
  std::string last;
  for (const std::string_view line : split(said_, '\n'))
    if (!trim(line).empty()) last = trim(line);
  return last;
}

std::string AgentLink::take_complaints() {
  const std::size_t end = said_.rfind('\n');
  if (end == std::string::npos) return {};
  std::string lines = said_.substr(0, end + 1);
  said_.erase(0, end + 1);
  return lines;
}

}  // namespace weft::launch
