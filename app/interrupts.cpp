// SPDX-License-Identifier: Apache-2.0
#include "interrupts.hpp"

namespace weft::app {
namespace {

std::atomic<bool> was_interrupted{false};

extern "C" void on_interrupt(int signal) {
  was_interrupted.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupts::Interrupts() {
  was_interrupted.store(false);
  for (std::size_t i = 0; i < caught.size(); ++i)
    before_[i] = std::signal(caught[i], &on_interrupt);
}

Interrupts::~Interrupts() {
  for (std::size_t i = 0; i < caught.size(); ++i) std::signal(caught[i], before_[i]);
}

const std::atomic<bool>& interrupted() {
  return was_interrupted;
}

}  // namespace weft::app
