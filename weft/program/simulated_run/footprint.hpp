// SPDX-License-Identifier: Apache-2.0
// What a simulation needs memory for, as measured by the system. For `--verbose`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/program/globals/images.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

// All in bytes.
struct Footprint {
  std::uint64_t resident = 0;  // In all; what follows are parts of it.
  std::uint64_t network_state = 0;
  std::uint64_t network_buffers = 0;
  std::uint64_t stacks = 0;
  std::uint64_t data = 0;    // Ranks' copies of the program's variables.
  std::uint64_t heap = 0;    // In use: what the library knows of each rank, small blocks of ranks.
  std::uint64_t blocks = 0;  // Large blocks that ranks asked for, as far as they were touched.
  // Not parts of it:
  std::uint64_t buffers_reserved = 0, blocks_taken = 0;  // Address space.
  std::uint64_t page_tables = 0;                         // The system's, for this process.

  std::uint64_t rest() const;
};

// Memory without a file behind it that stands behind these addresses now.
std::uint64_t resident_bytes(std::uintptr_t begin, std::size_t size);

// Remembers what memory was used for when most of it was in use.
class FootprintWatch {
 public:
  // Between runs. Takes a few milliseconds if there is more than ever before, else next to nothing.
  void look(World& world, const Images& images);
  // One line for each part, after one with the peak.
  std::string table() const;

 private:
  Footprint most_;
  std::uint32_t ranks_ = 0;  // Of this process,
  bool alone_ = true;        // which has all of them.
};

// The greatest amount of memory that this process ever had, in bytes. Allocates nothing.
std::uint64_t peak_memory();

}  // namespace weft
