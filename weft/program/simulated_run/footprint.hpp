// SPDX-License-Identifier: Apache-2.0
// Memory use of a simulation by purpose, as measured by the system. For `--verbose`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/program/globals/program_copies.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

// All in bytes.
struct Footprint {
  std::uint64_t resident = 0;  // Total; the following are parts of it.
  std::uint64_t network_state = 0;
  std::uint64_t network_buffers = 0;
  std::uint64_t stacks = 0;
  std::uint64_t data = 0;    // Ranks' copies of the program's variables.
  std::uint64_t heap = 0;    // In use: library state of each rank, and small blocks of ranks.
  std::uint64_t blocks = 0;  // Touched part of the large blocks that ranks allocated.
  // Not part of the total:
  std::uint64_t buffers_reserved = 0, blocks_taken = 0;  // Address space.
  std::uint64_t page_tables = 0;                         // The kernel's, for this process.

  std::uint64_t rest() const;
};

// Anonymous memory that is resident in this range now.
std::uint64_t resident_bytes(std::uintptr_t begin, std::size_t size);

// Remembers how memory was used at its peak.
class FootprintWatch {
 public:
  // Call between runs. Takes a few milliseconds at a new peak, almost nothing otherwise.
  void look(World& world, const ProgramCopies& copies);
  // One line with the peak, then one line for each part.
  std::string table() const;

 private:
  Footprint most_;
  std::uint32_t ranks_ = 0;  // Ranks of this process.
  bool alone_ = true;        // Whether it has all ranks.
};

// Peak resident memory of this process, in bytes. Allocates nothing.
std::uint64_t peak_memory();

}  // namespace weft
