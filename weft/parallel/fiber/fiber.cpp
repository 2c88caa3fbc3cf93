// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <utility>

#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>

#include <weft/base/check.hpp>
#include <weft/parallel/fiber/fiber.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#endif
#if defined(WEFT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(WEFT_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace weft {

namespace context = boost::context::detail;

struct Fiber::Switch {
  // The two words behind __cxa_get_globals, whose layout is fixed by the C++ ABI.
  static Exceptions& current_exceptions() {
    return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  }
  // A switch inside a catch block must neither lose the exception nor hand it to another fiber.
  static void swap_thread_state(Fiber& fiber) {
    std::swap(current_exceptions(), fiber.exceptions_);
    std::swap(errno, fiber.errno_);
  }

  [[noreturn]] static void enter(context::transfer_t from) {
    auto& fiber = *static_cast<Fiber*>(from.data);
    fiber.context_ = from.fctx;
#if defined(WEFT_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, &fiber.outer_low_, &fiber.outer_size_);
#endif
    fiber.entry_(fiber.argument_);
    fiber.done_ = true;
    fiber.pause();
    WEFT_CHECK(false);  // A finished fiber was resumed.
    __builtin_unreachable();
  }
};

Fiber::Fiber(std::byte* stack_low, std::size_t stack_size, Entry entry, void* argument)
    : entry_(entry), argument_(argument), stack_low_(stack_low), stack_size_(stack_size) {
  context_ = context::make_fcontext(stack_low + stack_size, stack_size, &Switch::enter);
#if defined(WEFT_TSAN)
  own_shadow_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(WEFT_ASAN)
  // The fiber ended with frames on its stack; clear their poison for the next user of this memory.
  __asan_unpoison_memory_region(stack_low_, stack_size_);
#endif
#if defined(WEFT_TSAN)
  __tsan_destroy_fiber(own_shadow_);
#endif
}

void Fiber::resume() {
  WEFT_CHECK(!done_);
  Switch::swap_thread_state(*this);
#if defined(WEFT_ASAN)
  void* resumer_shadow = nullptr;
  __sanitizer_start_switch_fiber(&resumer_shadow, stack_low_, stack_size_);
#endif
#if defined(WEFT_TSAN)
  void* const resumer = __tsan_get_current_fiber();
  outer_low_ = resumer;
  __tsan_switch_to_fiber(own_shadow_, 0);
#endif
  context_ = context::jump_fcontext(context_, this).fctx;
#if defined(WEFT_ASAN)
  __sanitizer_finish_switch_fiber(resumer_shadow, nullptr, nullptr);
#endif
  Switch::swap_thread_state(*this);
}

void Fiber::pause() {
#if defined(WEFT_ASAN)
  __sanitizer_start_switch_fiber(done_ ? nullptr : &own_shadow_, outer_low_, outer_size_);
#endif
#if defined(WEFT_TSAN)
  __tsan_switch_to_fiber(const_cast<void*>(outer_low_), 0);
#endif
  context_ = context::jump_fcontext(context_, this).fctx;
#if defined(WEFT_ASAN)
  __sanitizer_finish_switch_fiber(own_shadow_, &outer_low_, &outer_size_);
#endif
}

}  // namespace weft
