// SPDX-License-Identifier: Apache-2.0
#include "datatype_layout.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <weft/base/check.hpp>

namespace weft::mpi {
namespace {

// A range of the packed stream and the direction. Members change as the range is processed.
template <bool gathering>
struct Transfer {
  using Byte = std::conditional_t<gathering, std::byte, const std::byte>;
  Byte* packed;
  std::int64_t skip;  // Bytes of the stream still to skip.
  std::int64_t left;  // Bytes still to copy.

  // Memory is addressed by integers: MPI_BOTTOM plus an absolute address is no pointer arithmetic.
  void copy(std::uintptr_t memory, std::int64_t size) {
    const auto bytes = static_cast<std::size_t>(size);
    auto* place = reinterpret_cast<std::byte*>(memory);  // NOLINT(performance-no-int-to-ptr)
    if constexpr (gathering) {
      std::memcpy(packed, place, bytes);
    } else {
      std::memcpy(place, packed, bytes);
    }
    packed += size;
    left -= size;
  }

  void copy_block(std::uintptr_t memory, std::int64_t size) {
    const std::int64_t part = std::min(size - skip, left);
    copy(at(memory, skip), part);
    skip = 0;
  }

  static std::uintptr_t at(std::uintptr_t base, std::int64_t offset) {
    return base + static_cast<std::uintptr_t>(offset);
  }

  // Whole blocks of a size known at compile time become single loads and stores.
  template <std::int64_t size>
  void copy_fixed(std::uintptr_t memory, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i) copy(at(memory, i * stride), size);
  }

  void copy_whole(std::uintptr_t memory, std::int64_t size, std::int64_t count,
                  std::int64_t stride) {
    switch (size) {
      case 4:
        return copy_fixed<4>(memory, count, stride);
      case 8:
        return copy_fixed<8>(memory, count, stride);
      case 16:
        return copy_fixed<16>(memory, count, stride);
      default:
        for (std::int64_t i = 0; i < count; ++i) copy(at(memory, i * stride), size);
    }
  }

  void copy_strided(std::uintptr_t memory, std::int64_t size, std::int64_t count,
                    std::int64_t stride) {
    std::int64_t i = skip / size;
    skip %= size;
    if (skip > 0) copy_block(at(memory, i++ * stride), size);
    const std::int64_t whole = std::min(count - i, left / size);
    copy_whole(at(memory, i * stride), size, whole, stride);
    i += whole;
    if (left > 0 && i < count) copy_block(at(memory, i * stride), size);
  }

  void loop(const Layout& body, std::uintptr_t memory, std::int64_t count, std::int64_t stride) {
    if (body.kind == Layout::Kind::block) {
      return copy_strided(at(memory, body.offset), body.size, count, stride);
    }
    std::int64_t i = skip / body.size;
    skip %= body.size;
    for (; i < count && left > 0; ++i) walk(body, at(memory, i * stride));
  }

  void blocks(const Layout& layout, std::uintptr_t memory) {
    const auto& list = layout.blocks;
    auto block = std::upper_bound(list.begin(), list.end(), skip,
                                  [](std::int64_t value, const Layout::Block& one) {
                                    return value < one.start;
                                  }) -
                 1;
    skip -= block->start;
    for (; block != list.end() && left > 0; ++block) {
      const std::int64_t end = block + 1 == list.end() ? layout.size : (block + 1)->start;
      copy_block(at(memory, block->offset), end - block->start);
    }
  }

  void parts(const Layout& layout, std::uintptr_t memory) {
    const auto& list = layout.parts;
    auto part = std::upper_bound(
                    list.begin(), list.end(), skip,
                    [](std::int64_t value, const Layout::Part& one) { return value < one.start; }) -
                1;
    skip -= part->start;
    for (; part != list.end() && left > 0; ++part) walk(*part->layout, at(memory, part->offset));
  }

  // Recursion is as deep as the datatype is nested.
  void walk(const Layout& layout, std::uintptr_t memory) {  // NOLINT(misc-no-recursion)
    switch (layout.kind) {
      case Layout::Kind::block:
        return copy_block(at(memory, layout.offset), layout.size);
      case Layout::Kind::loop:
        if (layout.body != nullptr) {
          return loop(*layout.body, at(memory, layout.offset), layout.count, layout.stride);
        }
        return copy_strided(at(memory, layout.offset), layout.size / layout.count, layout.count,
                            layout.stride);
      case Layout::Kind::blocks:
        return blocks(layout, memory);
      case Layout::Kind::parts:
        return parts(layout, memory);
    }
  }

  void run(const Elements& elements) {
    if (left == 0) return;
    WEFT_CHECK(elements.layout != nullptr && skip >= 0);
    const Layout& layout = *elements.layout;
    if (layout.kind == Layout::Kind::block && layout.size == elements.extent) {
      return copy(at(elements.base, layout.offset + skip), left);
    }
    loop(layout, elements.base, elements.count, elements.extent);
  }
};

bool is_block(const LayoutRef& layout) {
  return layout->kind == Layout::Kind::block;
}

// Whether a second iteration of the loop, a stride later, continues where the first one ended.
bool continues(const Layout& layout, std::int64_t stride) {
  std::int64_t reach = 0;
  return layout.kind == Layout::Kind::loop &&
         !__builtin_mul_overflow(layout.stride, layout.count, &reach) && reach == stride;
}

// The blocks as one layout: a block, a loop, or a list.
template <typename Piece>
LayoutRef join_blocks(const std::vector<Piece>& pieces) {
  if (pieces.size() == 1) return block_layout(pieces[0].offset, pieces[0].size);
  auto layout = std::make_shared<Layout>();
  const std::int64_t stride = pieces[1].offset - pieces[0].offset;
  bool regular = true;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    regular = regular && pieces[i].size == pieces[0].size &&
              (i == 0 || pieces[i].offset - pieces[i - 1].offset == stride);
    layout->size += pieces[i].size;
  }
  if (regular) {
    layout->kind = Layout::Kind::loop;
    layout->offset = pieces[0].offset;
    layout->count = static_cast<std::int64_t>(pieces.size());
    layout->stride = stride;
    return layout;
  }
  layout->kind = Layout::Kind::blocks;
  layout->blocks.reserve(pieces.size());
  std::int64_t start = 0;
  for (const Piece& piece : pieces) {
    layout->blocks.push_back({piece.offset, start});
    start += piece.size;
  }
  return layout;
}

}  // namespace

LayoutRef block_layout(std::int64_t offset, std::int64_t size) {
  if (size == 0) return nullptr;
  auto layout = std::make_shared<Layout>();
  layout->offset = offset;
  layout->size = size;
  return layout;
}

LayoutRef repeat_layout(const LayoutRef& body, std::int64_t count, std::int64_t stride) {
  if (body == nullptr || count == 0) return nullptr;
  if (count == 1) return body;
  if (is_block(body) && stride == body->size) return block_layout(body->offset, count * stride);
  auto layout = std::make_shared<Layout>();
  layout->kind = Layout::Kind::loop;
  layout->size = body->size * count;
  layout->count = count;
  layout->stride = stride;
  if (is_block(body)) {
    layout->offset = body->offset;
  } else if (continues(*body, stride)) {
    layout->offset = body->offset;
    layout->count = count * body->count;
    layout->stride = body->stride;
    layout->body = body->body;
  } else {
    layout->body = body;
  }
  return layout;
}

LayoutRef shift_layout(const LayoutRef& layout, std::int64_t offset) {
  LayoutBuilder builder;
  builder.add(offset, layout);
  return builder.finish();
}

void LayoutBuilder::add(std::int64_t offset, const LayoutRef& layout) {
  if (layout == nullptr) return;
  if (layout->kind == Layout::Kind::block) {
    add_block(offset + layout->offset, layout->size);
  } else if (layout->kind == Layout::Kind::blocks) {
    const auto& list = layout->blocks;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::int64_t end = i + 1 == list.size() ? layout->size : list[i + 1].start;
      add_block(offset + list[i].offset, end - list[i].start);
    }
  } else {
    close_blocks();
    parts_.push_back({offset, size_, layout});
    size_ += layout->size;
  }
}

void LayoutBuilder::add_block(std::int64_t offset, std::int64_t size) {
  if (size == 0) return;
  if (!open_.empty() && open_.back().offset + open_.back().size == offset) {
    open_.back().size += size;
    return;
  }
  open_.push_back({offset, size});
}

void LayoutBuilder::close_blocks() {
  if (open_.empty()) return;
  const LayoutRef layout = join_blocks(open_);
  parts_.push_back({0, size_, layout});
  size_ += layout->size;
  open_.clear();
}

LayoutRef LayoutBuilder::finish() {
  close_blocks();
  if (parts_.empty()) return nullptr;
  if (parts_.size() == 1) {
    if (parts_[0].offset == 0) return parts_[0].layout;
    if (parts_[0].layout->kind == Layout::Kind::loop) {
      auto moved = std::make_shared<Layout>(*parts_[0].layout);
      moved->offset += parts_[0].offset;
      return moved;
    }
  }
  auto layout = std::make_shared<Layout>();
  layout->kind = Layout::Kind::parts;
  layout->size = size_;
  layout->parts = std::move(parts_);
  return layout;
}

void gather_bytes(const Elements& elements, std::int64_t from, std::span<std::byte> out) {
  Transfer<true>{out.data(), from, std::ssize(out)}.run(elements);
}

void scatter_bytes(const Elements& elements, std::int64_t from, std::span<const std::byte> in) {
  Transfer<false>{in.data(), from, std::ssize(in)}.run(elements);
}

}  // namespace weft::mpi
