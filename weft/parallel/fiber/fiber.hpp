// SPDX-License-Identifier: Apache-2.0
// User-level contexts: thousands of stacks in one thread. A fiber stays on the thread that first
// resumed it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <weft/base/result.hpp>

namespace weft {

// Stacks for many fibers in one mapping; memory is committed as a stack is touched.
class Stacks {
 public:
  enum class Guards : std::uint8_t { best, none };  // As many guards as the system allows, or none.
  // `size` is rounded up to pages. Below every stack lies an inaccessible guard, as far as the
  // system supports that many; guarded() says how many stacks have one.
  static Result<std::unique_ptr<Stacks>> make(std::uint32_t count, std::size_t size,
                                              Guards guards = Guards::best);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  std::byte* low(std::uint32_t index) const { return base_ + index * stride_ + guard_bytes; }
  std::size_t size() const { return stride_ - guard_bytes; }
  std::byte* begin() const { return base_; }  // Start of all stacks and guards.
  std::size_t bytes() const { return stride_ * count_; }
  std::uint32_t guarded() const { return guarded_; }
  // The stack in whose memory or guard this address lies.
  std::optional<std::uint32_t> owner(const void* address) const;
  bool in_guard(const void* address) const;
  // Whether nothing was written just below the stack. Always true for a guarded stack.
  bool intact(std::uint32_t index) const { return index < guarded_ || gap_is_empty(index); }
  // Returns the memory of a finished fiber's stack to the system.
  void give_back(std::uint32_t index);
  // Returns the memory more than a few frames below the caller's frame. Call from inside the fiber
  // only.
  void give_back_unused(std::uint32_t index);

 private:
  static constexpr std::size_t guard_bytes = 65536;  // A multiple of all Linux page sizes.
  Stacks() = default;
  void install_guards();
  bool gap_is_empty(std::uint32_t index) const;
  std::byte* base_ = nullptr;
  std::size_t stride_ = 0;
  std::uint32_t count_ = 0, guarded_ = 0;
};

class Fiber {
 public:
  using Entry = void (*)(void* argument);
  Fiber(std::byte* stack_low, std::size_t stack_size, Entry entry, void* argument);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // Runs the fiber until it pauses or its entry returns. Must not be called inside a fiber.
  void resume();
  // Switches back to the resumer. Called from inside this fiber.
  void pause();
  bool done() const { return done_; }
  // Of a paused fiber: the lowest address of its stack that it uses.
  const void* frame() const { return context_; }

 private:
  struct Exceptions {  // The C++ runtime's per-thread state while exceptions are handled.
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  struct Switch;  // Defined in fiber.cpp.

  void* context_ = nullptr;  // Saved context of the side that is not running.
  Entry entry_;
  void* argument_;
  std::byte* stack_low_;
  std::size_t stack_size_;
  Exceptions exceptions_;
  int errno_ = 0;
  bool done_ = false;
  // What sanitizers must be told at a switch: our fake stack or fiber, and the resumer's stack.
  void* own_shadow_ = nullptr;
  const void* outer_low_ = nullptr;
  std::size_t outer_size_ = 0;
};

}  // namespace weft
