// SPDX-License-Identifier: Apache-2.0
// Keeps third-party libraries from handling the program's signals: threads that start while an
// object of this class lives have all signals blocked; its destructor restores the handlers.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace weft {

class SignalsKept {
 public:
  SignalsKept() {
    for (int i = 1; i < NSIG; ++i) ::sigaction(i, nullptr, &actions_[static_cast<std::size_t>(i)]);
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&blocked, fault);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_);
  }
  SignalsKept(const SignalsKept&) = delete;
  SignalsKept& operator=(const SignalsKept&) = delete;
  ~SignalsKept() {
    for (int i = 1; i < NSIG; ++i) ::sigaction(i, &actions_[static_cast<std::size_t>(i)], nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  std::array<struct sigaction, NSIG> actions_{};
  sigset_t mask_{};
};

}  // namespace weft
