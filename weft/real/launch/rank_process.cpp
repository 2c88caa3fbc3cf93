// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/rank_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::launch {
namespace {

// Above the small descriptor numbers that scripts use.
constexpr int seat_number_min = 60;

void close_now(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

Error failed(const std::string& what) {
  return Error::run(what + ": " + std::strerror(errno));
}

// In the child, between fork and exec: the step that failed, as a number for the parent.
enum Step : int { step_folder, step_program };
struct Trouble {
  Step step;
  int code;
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// Signals that the user had us ignore stay ignored; the launcher's own settings are reset.
void reset_signals() {
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_program(const RankStart& how, int seat, int report) {
  std::vector<std::string> environment = how.environment;
  environment.push_back(std::string(seat_variable) + "=" + std::to_string(seat));
  const std::vector<char*> variables = pointers_to(environment), words = pointers_to(how.words);
  Trouble trouble{step_folder, 0};
  if (how.folder.empty() || ::chdir(how.folder.c_str()) == 0) {
    if (how.in_child) how.in_child();
    environ = const_cast<char**>(variables.data());
    trouble.step = step_program;
    ::execvp(words[0], words.data());
    trouble.code = errno;
    // Also looks in the current folder, as `weft sim` does.
    const std::string here = "./" + how.words[0];
    if (trouble.code == ENOENT && how.words[0].find('/') == std::string::npos)
      ::execv(here.c_str(), words.data());
  } else {
    trouble.code = errno;
  }
  static_cast<void>(!::write(report, &trouble, sizeof trouble));
  ::_exit(127);
}

}  // namespace

RankProcess::~RankProcess() {
  close_now(seat_);
  close_now(input_);
  close_now(holder_);
  for (int& output : outputs_) close_now(output);
}

Status RankProcess::start(const RankStart& how) {
  std::array<int, 2> seat{}, in{}, out{}, err{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, seat.data()) != 0)
    return failed("cannot make a seat");
  seat_ = seat[0];
  const int yes = 1;
  ::setsockopt(seat_, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
  if (how.reads_input) {
    if (::pipe2(in.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe");
    input_ = in[1];
    ::fcntl(input_, F_SETFL, O_NONBLOCK);
  } else {
    in[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe");
  outputs_[0] = out[0];
  if (::pipe2(err.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe");
  outputs_[1] = err[0];
  for (const int output : outputs_) ::fcntl(output, F_SETFL, O_NONBLOCK);
  const std::array<int, 4> ends{in[0], out[1], err[1], seat[1]};
  Status started = fork_program(how, ends);
  for (const int end : ends) ::close(end);
  return started;
}

Status RankProcess::fork_program(const RankStart& how, const std::array<int, 4>& ends) {
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe");
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    for (int i = 0; i < 3; ++i) ::dup2(ends[static_cast<std::size_t>(i)], i);
    int seat = ::fcntl(ends[3], F_DUPFD, seat_number_min);
    if (seat < 0) seat = ::dup(ends[3]);
    reset_signals();
    become_program(how, seat, report[1]);
  }
  ::close(report[1]);
  if (pid_ < 0) {
    ::close(report[0]);
    return failed("cannot start a process");
  }
  ::setpgid(pid_, pid_);
  Trouble trouble{};
  ssize_t told = 0;
  do {
    told = ::read(report[0], &trouble, sizeof trouble);
  } while (told < 0 && errno == EINTR);
  ::close(report[0]);
  if (told != sizeof trouble) return {};
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  const std::string what = trouble.step == step_folder ? how.folder : how.words[0];
  if (trouble.code == ENOENT && trouble.step == step_program)
    return Error::input(what + ": no such program");
  return Error::input(what + ": " + std::strerror(trouble.code));
}

void RankProcess::close_output(int stream) {
  close_now(outputs_[static_cast<std::size_t>(stream - 1)]);
}

void RankProcess::close_input() {
  close_now(input_);
}

void RankProcess::watch_holder(pid_t pid) {
  close_now(holder_);
#ifdef SYS_pidfd_open
  holder_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#endif
}

bool RankProcess::holder_lives() const {
  pollfd ended = {holder_, POLLIN, 0};
  return holder_ >= 0 && ::poll(&ended, 1, 0) == 0;
}

void RankProcess::forget_holder() {
  close_now(holder_);
}

void RankProcess::signal(int number) const {
  if (pid_ > 0) ::kill(-pid_, number);
}

bool RankProcess::receive(std::string& packet, pid_t& sender) {
  if (seat_ < 0) return false;
  packet.resize(packet_size_max);
  iovec part = {packet.data(), packet.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = ::recvmsg(seat_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  // It has ended without reading all that we sent, which is told before its own last packets.
  if (size < 0 && errno == ECONNRESET)
    size = ::recvmsg(seat_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size <= 0) {
    close_now(seat_);
    packets_.clear();
    return false;
  }
  packet.resize(static_cast<std::size_t>(size));
  sender = -1;
  const cmsghdr* const about = CMSG_FIRSTHDR(&message);
  if (about != nullptr && about->cmsg_level == SOL_SOCKET && about->cmsg_type == SCM_CREDENTIALS) {
    ucred who = {};
    std::memcpy(&who, CMSG_DATA(about), sizeof who);
    sender = who.pid;
  }
  return true;
}

void RankProcess::send_now() {
  while (!packets_.empty() && seat_ >= 0) {
    const std::string& packet = *packets_.front();
    if (::send(seat_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      packets_.clear();  // receive() reports the end.
      return;
    }
    packets_.pop_front();
  }
}

}  // namespace weft::launch
