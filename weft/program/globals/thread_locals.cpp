// SPDX-License-Identifier: Apache-2.0
#include "thread_locals.hpp"

#include <link.h>

#include <weft/program/globals/words.h>

namespace weft {

namespace {

struct Found {
  const ElfW(Phdr) * segment = nullptr;
  std::uintptr_t base = 0;
  void* block = nullptr;
};

// The program is the first object that dl_iterate_phdr reports.
Found find_segment() {
  Found found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type == PT_TLS)
            *static_cast<Found*>(out) = {&info->dlpi_phdr[i], info->dlpi_addr, info->dlpi_tls_data};
        }
        return 1;
      },
      &found);
  return found;
}

}  // namespace

ThreadLocals::ThreadLocals(std::uint32_t ranks) {
  const Found found = find_segment();
  if (found.segment == nullptr) return;
  // The word with which code finds its rank's variables is no variable of a rank.
  if (found.segment->p_memsz == sizeof __weft_delta && found.block == &__weft_delta) return;
  size_ = found.segment->p_memsz;
  filled_ = found.segment->p_filesz;
  initial_ = found.base + found.segment->p_vaddr;
  saved_.resize(size_ * ranks);
}

void ThreadLocals::prepare(std::uint32_t rank, std::uintptr_t distance) {
  if (filled_ == 0) return;
  const auto* const initial = reinterpret_cast<const std::byte*>(initial_ + distance);
  std::memcpy(&saved_[rank * size_], initial, filled_);
}

std::byte* ThreadLocals::block() {
  static thread_local std::byte* const own = static_cast<std::byte*>(find_segment().block);
  return own;
}

}  // namespace weft
