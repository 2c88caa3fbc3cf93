// SPDX-License-Identifier: Apache-2.0
// Output to a descriptor whose reader may have stalled: a full pipe, a stopped terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft {

// Never waits for the reader unless told to. Leaves the descriptor's flags alone, since other
// processes share them. All functions are safe in signal handlers.
class NonblockingOutput {
 public:
  constexpr explicit NonblockingOutput(int descriptor) : descriptor_(descriptor) {}
  ~NonblockingOutput();
  NonblockingOutput(const NonblockingOutput&) = delete;
  NonblockingOutput& operator=(const NonblockingOutput&) = delete;

  int descriptor() const { return descriptor_; }
  // Writes as much as fits without waiting, and says how much: 0 if nothing fits, -1 if nobody
  // reads or writing failed.
  long write_some(std::string_view bytes);
  // Waits until something fits, at most this long; -1: without limit. False: nothing fits yet, or a
  // signal arrived.
  bool wait(int ms) const;

 private:
  enum class Kind : unsigned char { unknown, file, socket, pipe, reopened };
  void look();

  const int descriptor_;
  int own_ = -1;  // A description of our own that does not block.
  Kind kind_ = Kind::unknown;
};

}  // namespace weft
