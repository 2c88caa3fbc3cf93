// SPDX-License-Identifier: Apache-2.0
#include "early_end.hpp"

#include <csignal>
#include <utility>

namespace weft {

namespace {

volatile std::sig_atomic_t inside_call = 0, end_asked = 0;

void on_terminate(int number) {
  if (inside_call != 0) {
    end_asked = 1;
    return;
  }
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

void EarlyEnd::watch(std::function<void()> save) {
  save_ = std::move(save);
  struct sigaction now = {};
  if (::sigaction(SIGTERM, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = on_terminate;
  ::sigaction(SIGTERM, &now, nullptr);
}

void EarlyEnd::enter_call() {
  inside_call = 1;
}

void EarlyEnd::leave_call() {
  inside_call = 0;
  if (asked()) end();
}

bool EarlyEnd::asked() const {
  return end_asked != 0;
}

void EarlyEnd::end() {
  if (save_) save_();
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
}

}  // namespace weft
