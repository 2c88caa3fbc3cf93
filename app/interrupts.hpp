// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM: the first signal asks for an orderly end, the second kills the program.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace weft::app {

// Catches the signals during its lifetime. There must be only one object at a time.
class Interrupts {
 public:
  Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

 private:
  static constexpr std::array caught = {SIGINT, SIGTERM};
  std::array<void (*)(int), caught.size()> before_{};
};

// Set by the first signal.
const std::atomic<bool>& interrupted();

}  // namespace weft::app
