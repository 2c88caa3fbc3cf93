// SPDX-License-Identifier: Apache-2.0
// The memory blocks that an access touches.
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/window.hpp>

namespace weft::mpi {

namespace {

// Merges adjacent blocks.
void add(std::vector<std::uint64_t>& blocks, std::int64_t offset, std::int64_t size) {
  if (size == 0) return;
  const auto start = static_cast<std::uint64_t>(offset);
  const auto bytes = static_cast<std::uint64_t>(size);
  if (!blocks.empty() && blocks[blocks.size() - 2] + blocks.back() == start) {
    blocks.back() += bytes;
    return;
  }
  blocks.push_back(start);
  blocks.push_back(bytes);
}

void flatten(const Layout& layout, std::int64_t at,
             std::vector<std::uint64_t>& out) {  // NOLINT(misc-no-recursion)
  switch (layout.kind) {
    case Layout::Kind::block:
      return add(out, at + layout.offset, layout.size);
    case Layout::Kind::loop:
      for (std::int64_t i = 0; i < layout.count; ++i) {
        const std::int64_t turn = at + layout.offset + i * layout.stride;
        if (layout.body) {
          flatten(*layout.body, turn, out);
        } else {
          add(out, turn, layout.size / layout.count);
        }
      }
      return;
    case Layout::Kind::blocks:
      for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
        const std::int64_t end =
            i + 1 < layout.blocks.size() ? layout.blocks[i + 1].start : layout.size;
        add(out, at + layout.blocks[i].offset, end - layout.blocks[i].start);
      }
      return;
    case Layout::Kind::parts:
      for (const Layout::Part& part : layout.parts) flatten(*part.layout, at + part.offset, out);
  }
}

}  // namespace

std::vector<std::uint64_t> blocks_of(const Datatype& type, MPI_Count count) {
  std::vector<std::uint64_t> blocks;
  const Layout* layout = type.shape().layout.get();
  if (!layout || count == 0) return blocks;
  if (type.contiguous(count)) {
    add(blocks, type.true_lower_bound(), count * type.size());
    return blocks;
  }
  for (MPI_Count i = 0; i < count; ++i) flatten(*layout, i * type.extent(), blocks);
  return blocks;
}

}  // namespace weft::mpi
