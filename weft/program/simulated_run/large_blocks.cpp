// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weft/program/simulated_run/large_blocks.hpp>

namespace weft {

constinit LargeBlocks large_blocks, huge_blocks;

void open_large_and_huge_blocks() {
  constexpr std::size_t huge_grain = std::size_t{1} << 20;
  large_blocks.open();
  huge_blocks.open((std::size_t{64} << 40) - huge_grain, huge_grain);
}

namespace {

void* reserve(std::size_t size) {
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

// A class is at most an eighth larger than what was requested, so that a freed block fits the next
// request. The excess costs address space, not memory.
LargeBlocks::SizeClass LargeBlocks::class_of(std::size_t size) const {
  const auto grains = static_cast<std::uint32_t>((size + grain_ - 1) / grain_);
  if (grains <= 16) return {grains, grains};
  const auto shift = static_cast<std::uint32_t>(std::bit_width(grains - 1)) - 4;
  const std::uint32_t eighth = (grains - 1) >> shift;  // 8 to 15
  return {16 + 8 * (shift - 1) + eighth - 7, (eighth + 1) << shift};
}

bool LargeBlocks::open(std::size_t most, std::size_t grain) {
  // Where address space is limited (ulimit -v), leave some for others.
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return false;
  constexpr std::size_t worth_it = std::size_t{1} << 20;
  const auto page = std::max<std::size_t>(4096, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  grain = grain_ = std::max(page, grain / page * page);
  std::size_t size = most / grain * grain;
  void* region = nullptr;
  for (; size >= worth_it && region == nullptr; size /= 2) {
    region = reserve(size + grain);
    if (region != nullptr) break;
  }
  if (region == nullptr) return false;
  size = size / grain * grain;
  // A huge page would hold the first bytes of many blocks and commit memory that is never used.
  ::madvise(region, size + grain, MADV_NOHUGEPAGE);
  void* const entries = reserve(size / grain * sizeof(Entry));
  if (entries == nullptr) {
    ::munmap(region, size + grain);
    return false;
  }
  entries_ = static_cast<Entry*>(entries);
  begin_ = (reinterpret_cast<std::uintptr_t>(region) + grain - 1) / grain * grain;
  size_ = size;
  return true;
}

LargeBlocks::Taken LargeBlocks::take(std::size_t size) {
  if (size > size_) return {};
  const SizeClass wanted = class_of(std::max(size, std::size_t{1}));
  const std::size_t bytes = std::size_t{wanted.grains} * grain_;
  const std::lock_guard lock(mutex_);
  std::uint32_t first = free_[wanted.index];
  bool zero = true;
  if (first != 0) {
    Entry& entry = entries_[--first];
    free_[wanted.index] = entry.next;
    zero = entry.dirty == 0;
    if (!zero) dirty_ -= bytes;
  } else {
    if (wanted.grains > size_ / grain_ - unused_) return {};
    first = unused_;
    unused_ += wanted.grains;
  }
  entries_[first] = {wanted.grains & 0x7fff'ffffu, 0, in_use};
  taken_ += bytes;
  return {reinterpret_cast<std::byte*>(begin_ + first * grain_), zero};
}

bool LargeBlocks::give(void* block) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = entry_of(block);
  if (entry == nullptr) return false;
  const std::size_t bytes = std::size_t{entry->grains} * grain_;
  taken_ -= bytes;
  entry->dirty = dirty_ + bytes <= dirty_max ? 1 : 0;
  if (entry->dirty != 0) {
    dirty_ += bytes;
  } else {
    ::madvise(block, bytes, MADV_DONTNEED);
  }
  std::uint32_t& first = free_[class_of(bytes).index];
  entry->next = first;
  first = static_cast<std::uint32_t>(entry - entries_) + 1;
  return true;
}

LargeBlocks::Entry* LargeBlocks::entry_of(const void* block) const {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(block) - begin_;
  if (offset >= size_ || offset % grain_ != 0) return nullptr;
  Entry& entry = entries_[offset / grain_];
  return entry.grains != 0 && entry.next == in_use ? &entry : nullptr;
}

std::size_t LargeBlocks::size_of(const void* block) const {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = entry_of(block);
  return entry == nullptr ? 0 : std::size_t{entry->grains} * grain_;
}

void LargeBlocks::trim(void* block, std::size_t used) {
  const std::size_t size = size_of(block), kept = (used + grain_ - 1) / grain_ * grain_;
  if (kept < size) ::madvise(static_cast<std::byte*>(block) + kept, size - kept, MADV_DONTNEED);
}

std::size_t LargeBlocks::used() const {
  const std::lock_guard lock(mutex_);
  return unused_ * grain_;
}

std::uint64_t LargeBlocks::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

void copy_touched(std::byte* to, const std::byte* from, std::size_t size) {
  constexpr std::size_t page = 4096;
  static constexpr std::byte zeros[page] = {};
  for (std::size_t at = 0; at < size; at += page) {
    const std::size_t count = std::min(page, size - at);
    if (std::memcmp(from + at, zeros, count) != 0) std::memcpy(to + at, from + at, count);
  }
}

}  // namespace weft
