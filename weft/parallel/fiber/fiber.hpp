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

// Stacks for many fibers in one mapping of address space; memory is taken as a stack is touched.
class Stacks {
 public:
  enum class Guards : std::uint8_t { best, none };  // As good as the system has them, or none.
  // `size` is rounded up to pages. Below every stack lies a gap that no memory stands behind, if
  // the system can do that for so many; guarded() says how many have it.
  static Result<std::unique_ptr<Stacks>> make(std::uint32_t count, std::size_t size,
                                              Guards guards = Guards::best);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  std::byte* low(std::uint32_t index) const { return base_ + index * stride_ + guard_bytes; }
  std::size_t size() const { return stride_ - guard_bytes; }
  std::byte* begin() const { return base_; }  // Of all stacks and guards.
  std::size_t bytes() const { return stride_ * count_; }
  std::uint32_t guarded() const { return guarded_; }
  // Whose stack or guard this address lies in.
  std::optional<std::uint32_t> owner(const void* address) const;
  bool in_guard(const void* address) const;
  // Whether nothing was written right below the stack. One that is guarded always is.
  bool intact(std::uint32_t index) const { return index < guarded_ || gap_is_empty(index); }
  // The fiber is done; its memory goes back.
  void give_back(std::uint32_t index);
  // The same of what lies more than a few frames below the caller's frame. Only from inside the
  // fiber.
  void give_back_unused(std::uint32_t index);

 private:
  static constexpr std::size_t guard_bytes = 65536;  // A page of any size that Linux has.
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

  // Runs the fiber until it pauses or its entry returns. Not from inside a fiber.
  void resume();
  // Back to who resumed it; from inside this fiber.
  void pause();
  bool done() const { return done_; }

 private:
  struct Exceptions {  // The C++ runtime's state of a thread that is unwinding.
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };
  struct Switch;  // Of fiber.cpp.

  void* context_ = nullptr;  // Of the side that does not run.
  Entry entry_;
  void* argument_;
  std::byte* stack_low_;
  std::size_t stack_size_;
  Exceptions exceptions_;
  int errno_ = 0;
  bool done_ = false;
  // What sanitizers want to know of a switch: our fake stack or fiber, and the resumer's stack.
  void* own_shadow_ = nullptr;
  const void* outer_low_ = nullptr;
  std::size_t outer_size_ = 0;
};

}  // namespace weft
