// SPDX-License-Identifier: Apache-2.0
// Where the bytes of one element of a datatype lie, in packing order. A tree of loops and lists of
// blocks, never longer than the description that it came from; parts are shared between datatypes.
// Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft::mpi {

struct Layout;
using LayoutRef = std::shared_ptr<const Layout>;  // Null: no bytes.

struct Layout {
  enum class Kind { block, loop, blocks, parts };
  struct Block {
    std::int64_t offset;
    std::int64_t start;  // Its first byte in the packed element; it ends where the next one starts.
  };
  struct Part {
    std::int64_t offset;
    std::int64_t start;
    LayoutRef layout;
  };

  Kind kind = Kind::block;
  std::int64_t offset = 0;  // Start of the block, or of the loop's first iteration.
  std::int64_t size = 0;    // Packed bytes.
  std::int64_t count = 1;   // Iterations of the loop.
  std::int64_t stride = 0;
  LayoutRef body;  // Body of the loop. Null: a block of size / count bytes.
  std::vector<Block> blocks;
  std::vector<Part> parts;
};

LayoutRef block_layout(std::int64_t offset, std::int64_t size);
LayoutRef repeat_layout(const LayoutRef& body, std::int64_t count, std::int64_t stride);
LayoutRef shift_layout(const LayoutRef& layout, std::int64_t offset);

// Concatenates layouts; adjacent blocks are merged.
class LayoutBuilder {
 public:
  void add(std::int64_t offset, const LayoutRef& layout);
  LayoutRef finish();

 private:
  struct Piece {
    std::int64_t offset;
    std::int64_t size;
  };
  void add_block(std::int64_t offset, std::int64_t size);
  void close_blocks();

  std::vector<Piece> open_;  // Blocks that are not yet a part.
  std::vector<Layout::Part> parts_;
  std::int64_t size_ = 0;
};

// The memory of `count` elements, one extent apart. The base may be zero (MPI_BOTTOM), so it is no
// pointer.
struct Elements {
  const Layout* layout;
  std::uintptr_t base;
  std::int64_t count;
  std::int64_t extent;
};

// Copies bytes [from, from + size of the span) of the packed stream; the range must lie within it.
void gather_bytes(const Elements& elements, std::int64_t from, std::span<std::byte> out);
void scatter_bytes(const Elements& elements, std::int64_t from, std::span<const std::byte> in);

}  // namespace weft::mpi
