// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <weft/parallel/fiber/futex_trap.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEFT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_SANITIZED 1
#endif
#endif

namespace weft {

namespace {

// The kernel takes 32 bits of the operation, the filter sees 64: calls with this mark are our own.
constexpr std::uint32_t mark = 0x7765'6674;

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

FutexTrap::Answer answer_of_all = nullptr;

long pass_on(const FutexCall& call) {
  const long marked =
      static_cast<long>((std::uint64_t{mark} << 32) | static_cast<std::uint32_t>(call.operation));
  return ::syscall(SYS_futex, call.word, marked, call.value, call.timeout, call.other, call.bits);
}

FutexCall call_of(const void* context) {
  FutexCall call;
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto argument = [&](int name) { return static_cast<std::uint64_t>(machine.gregs[name]); };
  const std::uint64_t given[] = {argument(REG_RDI), argument(REG_RSI), argument(REG_RDX),
                                 argument(REG_R10), argument(REG_R8),  argument(REG_R9)};
#elif defined(__aarch64__)
  const auto& given = machine.regs;
#else
  const std::uint64_t given[6] = {};
  static_cast<void>(machine);
#endif
  call.word = reinterpret_cast<std::uint32_t*>(given[0]);
  call.operation = static_cast<int>(given[1]);
  call.value = static_cast<std::uint32_t>(given[2]);
  call.timeout = reinterpret_cast<const void*>(given[3]);
  call.other = reinterpret_cast<std::uint32_t*>(given[4]);
  call.bits = static_cast<std::uint32_t>(given[5]);
  return call;
}

void set_result(void* context, long result) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  machine.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
  machine.regs[0] = static_cast<unsigned long long>(result);
#else
  static_cast<void>(machine);
  static_cast<void>(result);
#endif
}

// Nothing is blocked while it runs: it may switch to others, which are caught again.
void on_trap(int, siginfo_t* info, void* context) {
  if (info->si_syscall != SYS_futex) return;
  const int kept = errno;
  const FutexCall call = call_of(context);
  long result = answer_of_all == nullptr ? FutexTrap::declined : answer_of_all(call);
  if (result == FutexTrap::declined) {
    result = pass_on(call);
    if (result < 0) result = -errno;
  }
  errno = kept;
  set_result(context, result);
}

Status handle_signal() {
  struct sigaction action = {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSYS, &action, nullptr) != 0)
    return Error::run(std::string("sigaction: ") + std::strerror(errno));
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  return {};
}

Status add_filter() {
  constexpr auto high_of_operation =
      static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 + 4);  // Little-endian.
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, high_of_operation),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mark, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  const sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return Error::run(std::string("PR_SET_NO_NEW_PRIVS: ") + std::strerror(errno));
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    return Error::run(std::string("seccomp: ") + std::strerror(errno));
  return {};
}

// In a process of its own, since a filter cannot be taken away.
bool works() {
  constexpr long expected = 4711;
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    ::alarm(5);
    std::uint32_t word = 0;
    const auto answer = [](const FutexCall&) { return expected; };
    const bool installed = bool(FutexTrap::install(answer));
    const long got =
        installed ? ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0) : 0;
    std::atomic<std::uint32_t> own{1};
    ::syscall(SYS_exit_group,
              got == expected && FutexTrap::pass(&own, FUTEX_WAKE_PRIVATE, 1) == 0 ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string find_obstacle() {
#if defined(WEFT_SANITIZED)
  return "weft was built with a sanitizer, which watches system calls itself";
#endif
  if (architecture == 0) return "weft catches waits of threads on x86-64 and ARM only";
  return works() ? "" : "this machine does not let a program filter its system calls (seccomp)";
}

}  // namespace

const std::string& FutexTrap::obstacle() {
  static const std::string found = find_obstacle();
  return found;
}

Status FutexTrap::install(Answer answer) {
  answer_of_all = answer;
  if (Status handled = handle_signal(); !handled) return handled;
  return add_filter();
}

long FutexTrap::pass(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value) {
  FutexCall call;
  call.word = reinterpret_cast<std::uint32_t*>(word);
  call.operation = operation;
  call.value = value;
  return pass_on(call);
}

}  // namespace weft
