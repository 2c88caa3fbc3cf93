// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/program/simulated_run/footprint.hpp>
#include <weft/program/simulated_run/large_blocks.hpp>

namespace weft {

namespace {

// The number after a name in one of the kernel's tables, in bytes; 0 if the name is missing.
std::uint64_t number_after(std::string_view text, std::string_view name) {
  const std::size_t found = text.find(name);
  if (found == std::string_view::npos) return 0;
  std::string_view rest = text.substr(found + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t kilobytes = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), kilobytes);
  return kilobytes * 1024;
}

std::uint64_t resident_now() {
  const auto text = read_file("/proc/self/status");
  return text ? number_after(*text, "VmRSS:") : 0;
}

// The addresses at the head of a mapping in the kernel's list, if this line is one.
std::optional<std::pair<std::uint64_t, std::uint64_t>> range_of(std::string_view line) {
  std::pair<std::uint64_t, std::uint64_t> range;
  const char* const end = line.data() + line.size();
  const auto [minus, bad] = std::from_chars(line.data(), end, range.first, 16);
  if (bad != std::errc() || minus == end || *minus != '-') return std::nullopt;
  const auto [space, worse] = std::from_chars(minus + 1, end, range.second, 16);
  if (worse != std::errc() || space == end || *space != ' ') return std::nullopt;
  return range;
}

// Only the network asks for huge pages, for its tables; of one table it refuses them for the rest,
// which then is a mapping of its own that follows at once.
std::uint64_t in_advised_mappings() {
  const auto text = read_file("/proc/self/smaps");
  if (!text) return 0;
  std::uint64_t sum = 0, rss = 0, end_before = 0;
  bool advised_before = false, follows = false;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line.starts_with("Rss:")) rss = number_after(line, "Rss:");
    if (const auto range = range_of(line)) {
      follows = advised_before && range->first == end_before;
      end_before = range->second;
    }
    if (!line.starts_with("VmFlags:")) continue;
    advised_before = line.find(" hg") != std::string_view::npos;
    if (advised_before || (follows && line.find(" nh") != std::string_view::npos)) sum += rss;
  }
  return sum;
}

Footprint measure(World& world, const ProgramCopies& copies) {
  Footprint now;
  const auto status = read_file("/proc/self/status");
  if (status) {
    now.resident = number_after(*status, "VmRSS:");
    now.page_tables = number_after(*status, "VmPTE:");
  }
  const MemoryUse network = world.network().memory();
  std::uint64_t routers = 0;
  for (std::uint32_t r = 0; r < world.routers(); ++r)
    routers += world.network().is_here(RouterId(r)) ? 1 : 0;
  now.network_state = network.bytes_per_router * routers;
  now.buffers_reserved = network.bytes_reserved;
  const std::uint64_t tables = in_advised_mappings();
  now.network_buffers = tables - std::min(tables, now.network_state);
  const World::Memory stacks = world.stack_memory();
  now.stacks = resident_bytes(stacks.begin, stacks.size);
  now.data = resident_bytes(copies.space().begin, copies.space().size());
  for (const LargeBlocks* const blocks : {&large_blocks, &huge_blocks}) {
    now.blocks += resident_bytes(blocks->begin(), blocks->used());
    now.blocks_taken += blocks->taken();
  }
  // What the C library has mapped (hblkhd) was asked for; how much of it is touched, nobody knows.
  const auto heap = mallinfo2();
  now.heap = heap.uordblks;
  now.blocks_taken += heap.hblkhd;
  return now;
}

}  // namespace

std::uint64_t Footprint::rest() const {
  const std::uint64_t known = network_state + network_buffers + stacks + data + heap + blocks;
  return resident - std::min(resident, known);
}

std::uint64_t resident_bytes(std::uintptr_t begin, std::size_t size) {
  // One word per page: the highest bit says whether it is resident, another whether it belongs to a
  // file.
  constexpr std::uint64_t present = std::uint64_t{1} << 63, of_file = std::uint64_t{1} << 61;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<std::uint64_t, 4096> words;
  std::uint64_t pages = 0;
  const std::uintptr_t last = (begin + size + page - 1) / page;
  for (std::uintptr_t first = begin / page; first < last;) {
    const std::size_t wanted = std::min<std::size_t>(words.size(), last - first);
    const ssize_t got = ::pread(file, words.data(), wanted * sizeof words[0],
                                static_cast<off_t>(first * sizeof words[0]));
    if (got < static_cast<ssize_t>(sizeof words[0])) break;
    const std::size_t count = static_cast<std::size_t>(got) / sizeof words[0];
    pages += static_cast<std::uint64_t>(
        std::count_if(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count),
                      [](std::uint64_t w) { return (w & present) != 0 && (w & of_file) == 0; }));
    first += count;
  }
  ::close(file);
  return pages * page;
}

void FootprintWatch::look(World& world, const ProgramCopies& copies) {
  const std::uint64_t now = resident_now();
  if (now <= most_.resident + most_.resident / 50) return;
  most_ = measure(world, copies);
  const std::uint32_t all = world.ranks();
  ranks_ = 0;
  for (std::uint32_t r = 0; r < all; ++r) ranks_ += world.is_here(RankId(r)) ? 1 : 0;
  alone_ = ranks_ == all;
}

std::string FootprintWatch::table() const {
  const auto mb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  const auto peak = static_cast<double>(peak_memory());
  std::string text =
      fmt::format("peak memory            {:.1f} MB, {:.1f} KB per rank{}\n", peak / 1e6,
                  peak / 1e3 / std::max(ranks_, 1u), alone_ ? "" : ", of the first process");
  const auto line = [&](const char* name, std::uint64_t bytes, const std::string& more = "") {
    text += fmt::format("  {:<20} {:.1f} MB{}\n", name, mb(bytes), more);
  };
  line("network state", most_.network_state);
  line("network buffers", most_.network_buffers,
       fmt::format(" of {:.1f} MB reserved", mb(most_.buffers_reserved)));
  line("rank stacks", most_.stacks);
  line("rank data", most_.data);
  line("rank heap, library", most_.heap);
  line("large blocks", most_.blocks,
       fmt::format(" of {:.1f} MB asked for", mb(most_.blocks_taken)));
  line("rest", most_.rest());
  line("besides, page tables", most_.page_tables);
  return text;
}

std::uint64_t peak_memory() {
  char text[4096];
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = ::read(file, text, sizeof text);
  ::close(file);
  if (got <= 0) return 0;
  return number_after({text, static_cast<std::size_t>(got)}, "VmHWM:");
}

}  // namespace weft
