// SPDX-License-Identifier: Apache-2.0
// Stacks of fibers and their guards.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <sys/mman.h>

#include <weft/parallel/fiber/fiber.hpp>

namespace weft {

namespace {

// MADV_GUARD_INSTALL (Linux 6.13): guard pages without a mapping of their own. Our headers may be
// older.
constexpr int guard_advice = 102;

// With mprotect each guard splits a mapping in two. Others need mappings too, above all malloc, so
// we stay well below the default limit of 65,530.
constexpr std::uint32_t guards_max = 16'000;

}  // namespace

Result<std::unique_ptr<Stacks>> Stacks::make(std::uint32_t count, std::size_t size, Guards guards) {
  std::unique_ptr<Stacks> stacks(new Stacks);
  stacks->stride_ = (size + guard_bytes - 1) / guard_bytes * guard_bytes + guard_bytes;
  stacks->count_ = count;
  void* const base = mmap(nullptr, stacks->stride_ * count, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return Error::run("no address space for " + std::to_string(count) + " stacks of " +
                      std::to_string(size) + " bytes: " + std::strerror(errno) +
                      "; use smaller ones (--stack)");
  }
  stacks->base_ = static_cast<std::byte*>(base);
  // A huge page would commit two megabytes for the first word of a stack.
  madvise(base, stacks->stride_ * count, MADV_NOHUGEPAGE);
  if (guards == Guards::best) stacks->install_guards();
  return stacks;
}

void Stacks::install_guards() {
  const auto install = [this](const auto& guard) {
    while (guarded_ < count_ && guard(base_ + guarded_ * stride_)) ++guarded_;
  };
  install([](std::byte* at) { return madvise(at, guard_bytes, guard_advice) == 0; });
  if (guarded_ == 0 && count_ <= guards_max)
    install([](std::byte* at) { return mprotect(at, guard_bytes, PROT_NONE) == 0; });
}

Stacks::~Stacks() {
  if (base_ != nullptr) munmap(base_, stride_ * count_);
}

std::optional<std::uint32_t> Stacks::owner(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  if (at < base || at >= base + stride_ * count_) return std::nullopt;
  return static_cast<std::uint32_t>((at - base) / stride_);
}

bool Stacks::in_guard(const void* address) const {
  const auto index = owner(address);
  return index && static_cast<const std::byte*>(address) < low(*index);
}

// An untouched gap reads as zero, and reading it commits no memory.
bool Stacks::gap_is_empty(std::uint32_t index) const {
  constexpr std::size_t looked_at = 256;
  std::uint64_t words[looked_at / sizeof(std::uint64_t)];
  std::memcpy(words, low(index) - looked_at, looked_at);
  return std::all_of(std::begin(words), std::end(words), [](std::uint64_t w) { return w == 0; });
}

void Stacks::give_back(std::uint32_t index) {
  madvise(low(index), size(), MADV_DONTNEED);
}

void Stacks::give_back_unused(std::uint32_t index) {
  // Enough for this frame and the system call's.
  constexpr std::uintptr_t page = 4096, near = 1024;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uintptr_t used = (here - near) / page * page;
  const auto first = reinterpret_cast<std::uintptr_t>(low(index));
  if (used > first) madvise(low(index), used - first, MADV_DONTNEED);
}

}  // namespace weft
