// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and requests to end (SIGTERM). The first asks for an orderly end, the second ends at once.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace weft::app {

// Catches them while it lives; one at a time.
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

// Set by the first one.
const std::atomic<bool>& interrupted();

}  // namespace weft::app
