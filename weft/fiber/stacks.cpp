// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <sys/mman.h>

#include <weft/fiber/fiber.hpp>

namespace weft {

namespace {

constexpr std::uint64_t watch_word = 0x77656674'73746163;

// Each guard splits a mapping in two. Others need mappings too, malloc before all, so we stay well
// below the usual limit of 65,530.
constexpr std::uint32_t guards_max = 16'000;

}  // namespace

Result<std::unique_ptr<Stacks>> Stacks::make(std::uint32_t count, std::size_t size) {
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
  // Huge pages would commit two megabytes for the first word of a stack.
  madvise(base, stacks->stride_ * count, MADV_NOHUGEPAGE);
  stacks->guarded_ = count <= guards_max ? count : 0;
  for (std::uint32_t i = 0; i < stacks->guarded_; ++i) {
    if (mprotect(stacks->base_ + i * stacks->stride_, guard_bytes, PROT_NONE) != 0) {
      stacks->guarded_ = i;
      break;
    }
  }
  // A stack without a guard touches its lowest page, so that an overflow can be seen afterwards.
  for (std::uint32_t i = stacks->guarded_; i < count; ++i) {
    std::memcpy(stacks->low(i), &watch_word, sizeof watch_word);
  }
  return stacks;
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

bool Stacks::intact(std::uint32_t index) const {
  if (index < guarded_) return true;
  std::uint64_t word = 0;
  std::memcpy(&word, low(index), sizeof word);
  return word == watch_word;
}

void Stacks::give_back(std::uint32_t index) {
  madvise(low(index), size(), MADV_DONTNEED);
}

}  // namespace weft
