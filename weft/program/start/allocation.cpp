// SPDX-License-Identifier: Apache-2.0
// malloc and related functions in a simulated program: large blocks of ranks come from LargeBlocks,
// all others from the C library. Must be in the shared library that the program links first.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <malloc.h>

#include <weft/message/port/fabric.hpp>
#include <weft/program/simulated_run/large_blocks.hpp>
#include <weft/program/simulated_run/out_of_memory.hpp>

// The names and the declarations are the C library's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace {

using weft::huge_blocks;
using weft::large_blocks;
using weft::LargeBlocks;

// Null if it is the C library's.
LargeBlocks* owner_of(const void* block) {
  if (large_blocks.holds(block)) return &large_blocks;
  return huge_blocks.holds(block) ? &huge_blocks : nullptr;
}

LargeBlocks::Taken take(std::size_t size, std::size_t alignment = 1) {
  if (size < LargeBlocks::least || !large_blocks.is_open()) return {};
  if (weft::Current::fabric() == nullptr) return {};
  if (size >= weft::huge_least && alignment <= huge_blocks.grain()) {
    if (const LargeBlocks::Taken taken = huge_blocks.take(size); taken.data != nullptr)
      return taken;
  }
  return alignment <= large_blocks.grain() ? large_blocks.take(size) : LargeBlocks::Taken{};
}

[[noreturn]] void refuse() {
  std::fputs("free or realloc of an address that malloc did not return\n", stderr);
  std::abort();
}

std::size_t usable_size(void* block) {
  static const auto next =
      reinterpret_cast<std::size_t (*)(void*)>(::dlsym(RTLD_NEXT, "malloc_usable_size"));
  return next(block);
}

// Moves a block between our allocator and the C library's, or between two of ours.
void* exchange(void* block, std::size_t size) {
  LargeBlocks* const owner = owner_of(block);
  const std::size_t known = owner != nullptr ? owner->size_of(block) : usable_size(block);
  if (known == 0) refuse();
  if (owner != nullptr && size >= LargeBlocks::least && size <= known) {
    owner->trim(block, size);
    return block;
  }
  const LargeBlocks::Taken taken = take(size);
  void* const made = taken.data != nullptr ? taken.data : __libc_malloc(size);
  if (made == nullptr) return nullptr;
  const std::size_t count = std::min(size, known);
  if (taken.zero) {
    weft::copy_touched(taken.data, static_cast<const std::byte*>(block), count);
  } else {
    std::memcpy(made, block, count);
  }
  std::free(block);
  return made;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

void* malloc(std::size_t size) {
  const LargeBlocks::Taken taken = take(size);
  void* const made = taken.data != nullptr ? taken.data : __libc_malloc(size);
  if (made == nullptr) weft::note_refusal(size);
  return made;
}

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  const LargeBlocks::Taken taken = take(bytes);
  if (taken.data == nullptr) return __libc_calloc(count, size);
  return taken.zero ? taken.data : std::memset(taken.data, 0, bytes);
}

void free(void* block) {
  LargeBlocks* const owner = owner_of(block);
  if (owner == nullptr) {
    __libc_free(block);
  } else if (const int kept = errno; !owner->give(block)) {
    refuse();
  } else {
    errno = kept;
  }
}

void* realloc(void* block, std::size_t size) {
  if (block == nullptr) return std::malloc(size);
  const bool ours = owner_of(block) != nullptr;
  if (ours && size == 0) {
    std::free(block);
    return nullptr;
  }
  const bool wanted = size >= LargeBlocks::least && weft::Current::fabric() != nullptr;
  if (ours || (wanted && large_blocks.is_open())) return exchange(block, size);
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  const LargeBlocks::Taken taken = take(size, alignment);
  return taken.data != nullptr ? taken.data : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (std::has_single_bit(alignment)) return ::memalign(alignment, size);
  errno = EINVAL;
  return nullptr;
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int kept = errno;
  void* const made = ::memalign(alignment, size);
  errno = kept;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

std::size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  const LargeBlocks* const owner = owner_of(block);
  return owner != nullptr ? owner->size_of(block) : usable_size(block);
}

#pragma GCC visibility pop

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
