// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/apply.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/real/locality/number_list.hpp>

namespace weft::locality {
namespace {

constexpr int bits_per_word = sizeof(unsigned long) * CHAR_BIT;

// A set of processors or nodes for system calls: 16,384 of them, twice what Linux supports.
class Mask {
 public:
  static constexpr int capacity = 16'384;

  bool set(int number) {
    if (number < 0 || number >= capacity) return false;
    words_[static_cast<std::size_t>(number / bits_per_word)] |= 1ul << (number % bits_per_word);
    return true;
  }
  bool has(int number) const {
    const unsigned long word = words_[static_cast<std::size_t>(number / bits_per_word)];
    return ((word >> (number % bits_per_word)) & 1) != 0;
  }
  unsigned long* words() { return words_.data(); }
  static constexpr std::size_t size() { return sizeof(words_); }

 private:
  std::array<unsigned long, capacity / bits_per_word> words_{};
};

}  // namespace

std::vector<int> cpus_of_this_process() {
  Mask mask;
  std::vector<int> cpus;
  if (::syscall(SYS_sched_getaffinity, 0, Mask::size(), mask.words()) < 0) return cpus;
  for (int cpu = 0; cpu < Mask::capacity; ++cpu)
    if (mask.has(cpu)) cpus.push_back(cpu);
  return cpus;
}

Status bind_this_process(std::span<const int> cpus) {
  if (cpus.empty()) return {};
  Mask mask;
  bool fits = true;
  for (const int cpu : cpus) fits = mask.set(cpu) && fits;
  if (fits && ::syscall(SYS_sched_setaffinity, 0, Mask::size(), mask.words()) == 0) return {};
  const std::string why = fits ? std::strerror(errno) : "no such processor";
  return Error::run("cannot run on processors " + list_to_text(cpus) + ": " + why);
}

int node_of_memory(const void* pointer) {
  // Asking for the policy of an address would touch its page; asking where pages are does not.
  void* page = const_cast<void*>(pointer);
  int node = -1;
  if (::syscall(SYS_move_pages, 0, 1ul, &page, nullptr, &node, 0) != 0) return -1;
  return node >= 0 ? node : -1;
}

void prefer_node(void* pointer, std::size_t size, int node) {
  Mask mask;
  if (!mask.set(node)) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + size) / page * page;
  if (begin >= end) return;
  // A refusal does no harm: memory then comes from the node of the first thread to touch it.
  (void)::syscall(SYS_mbind, begin, end - begin, MPOL_PREFERRED, mask.words(),
                  static_cast<unsigned long>(Mask::capacity), 0u);
}

}  // namespace weft::locality
