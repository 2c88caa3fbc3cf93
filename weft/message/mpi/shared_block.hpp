// SPDX-License-Identifier: Apache-2.0
// Memory that ranks of one node share: one of them makes it, the others open it with its ticket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <weft/base/result.hpp>

namespace weft::mpi {

// Says where a block is, to ranks of the same node. The environment gives it its meaning.
using SharedTicket = std::array<std::uint64_t, 3>;

// One rank's hold on it. The memory is gone when the last one lets go, however that one ends.
class SharedBlock {
 public:
  SharedBlock() = default;
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;
  virtual ~SharedBlock() = default;

  virtual SharedTicket ticket() const = 0;
  // Where the block lies for this rank; a multiple of the page size. Memory for the given part of
  // it is there from now on, zeroed: using it cannot fail for want of memory.
  virtual Result<std::byte*> map(std::size_t offset, std::size_t size) = 0;
  // No other rank will open it.
  virtual void close() {}
};

// For ranks that live in one process.
Result<std::unique_ptr<SharedBlock>> make_block_of_process(std::size_t size);
Result<std::unique_ptr<SharedBlock>> open_block_of_process(const SharedTicket& ticket);

}  // namespace weft::mpi
