// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include <link.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weft/real/wire/registration_watch.hpp>

namespace weft::wire {

namespace {

// Nothing here may ask for memory: the hooks run inside of allocators. A fixed number is
// remembered; what does not fit is not known, or counts as all gone.
template <std::size_t room>
struct Ranges {
  std::array<MemoryRange, room> at;
  std::size_t count = 0;

  bool add(MemoryRange range) {
    if (count == room) return false;
    at[count++] = range;
    return true;
  }
};

struct Notes {
  std::atomic<bool> armed{false};
  std::atomic<bool> any_gone{false};
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  Ranges<1024> known;
  Ranges<8> fixed;  // Static data, the stack.
  Ranges<256> gone;
  bool all_gone = false;
  const std::byte* heap = nullptr;
};
Notes notes;

class Locked {
 public:
  Locked() {
    while (notes.busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { notes.busy.clear(std::memory_order_release); }
};

bool within(const std::byte* begin, const std::byte* end, const MemoryRange& range) {
  return range.begin <= begin && end <= range.end;
}

const std::byte* as_bytes(std::uintptr_t address) {
  return reinterpret_cast<const std::byte*>(address);
}

void note_gone(MemoryRange range) {
  if (!notes.gone.add(range)) notes.all_gone = true;
  notes.any_gone.store(true, std::memory_order_release);
}

// The program itself comes first.
int note_static_data(dl_phdr_info* info, std::size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    const std::byte* const begin = as_bytes(info->dlpi_addr + part.p_vaddr);
    notes.fixed.add({begin, begin + part.p_memsz});
  }
  return 1;
}

void note_heap_and_stack() {
  notes.heap = static_cast<const std::byte*>(::sbrk(0));
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    if (std::strstr(line, "[heap]") != nullptr) {
      notes.heap = std::min(notes.heap, as_bytes(begin));
    } else if (std::strstr(line, "[stack]") != nullptr) {
      rlimit most = {};
      ::getrlimit(RLIMIT_STACK, &most);
      const bool bounded = most.rlim_cur != RLIM_INFINITY && most.rlim_cur < end;
      notes.fixed.add({bounded ? as_bytes(end - most.rlim_cur) : as_bytes(begin), as_bytes(end)});
    }
  }
  std::fclose(maps);
}

}  // namespace

bool RegistrationWatch::arm() {
  if (&weft_memory_hooks == nullptr || !weft_memory_hooks()) return false;
  if (armed()) return true;
  // The C library calls the system directly when it gives memory back, unseen by hooks: it shall
  // keep it. mallopt says 1 when it has understood.
  if (::mallopt(M_TRIM_THRESHOLD, -1) != 1 || ::mallopt(M_MMAP_MAX, 0) != 1) return false;
  notes.known.count = notes.fixed.count = notes.gone.count = 0;
  notes.all_gone = false;
  ::dl_iterate_phdr(&note_static_data, nullptr);
  note_heap_and_stack();
  notes.armed.store(true, std::memory_order_release);
  return true;
}

void RegistrationWatch::disarm() {
  notes.armed.store(false, std::memory_order_release);
}

bool RegistrationWatch::armed() {
  return notes.armed.load(std::memory_order_relaxed);
}

bool RegistrationWatch::knows(const std::byte* begin, const std::byte* end) {
  if (!armed()) return false;
  const std::byte* const top = static_cast<const std::byte*>(::sbrk(0));
  if (within(begin, end, {notes.heap, top})) return true;
  const Locked locked;
  const auto covers = [&](const MemoryRange& range) { return within(begin, end, range); };
  return std::any_of(notes.fixed.at.begin(), notes.fixed.at.begin() + notes.fixed.count, covers) ||
         std::any_of(notes.known.at.begin(), notes.known.at.begin() + notes.known.count, covers);
}

bool RegistrationWatch::next_gone(MemoryRange& out) {
  if (!notes.any_gone.load(std::memory_order_acquire)) return false;
  const Locked locked;
  if (notes.all_gone) {
    notes.all_gone = false;
    notes.gone.count = 0;
    out = {nullptr, as_bytes(UINTPTR_MAX)};
    return true;
  }
  if (notes.gone.count == 0) {
    notes.any_gone.store(false, std::memory_order_relaxed);
    return false;
  }
  out = notes.gone.at[--notes.gone.count];
  return true;
}

void RegistrationWatch::mapped(const void* begin, std::size_t size) {
  if (!armed() || size == 0) return;
  const auto* const first = static_cast<const std::byte*>(begin);
  const Locked locked;
  notes.known.add({first, first + size});
}

void RegistrationWatch::gone(const void* begin, std::size_t size) {
  if (!armed() || size == 0) return;
  const auto* const first = static_cast<const std::byte*>(begin);
  const std::byte* const last = first + size;
  const Locked locked;
  for (std::size_t i = 0; i < notes.known.count; ++i) {
    MemoryRange& range = notes.known.at[i];
    if (range.end <= first || last <= range.begin) continue;
    const MemoryRange after{std::max(last, range.begin), range.end};
    range.end = std::max(range.begin, std::min(range.end, first));
    if (after.begin < after.end) {
      if (range.begin == range.end) {
        range = after;
      } else {
        notes.known.add(after);
      }
    }
    if (range.begin == range.end) {
      range = notes.known.at[--notes.known.count];
      --i;
    }
  }
  note_gone({first, last});
}

void RegistrationWatch::emptied(const void* begin, std::size_t size) {
  if (!armed() || size == 0) return;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t last = first + std::min<std::uintptr_t>(size, UINTPTR_MAX - first);
  const Locked locked;
  note_gone({as_bytes(first), as_bytes(last)});
}

}  // namespace weft::wire
