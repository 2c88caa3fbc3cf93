// SPDX-License-Identifier: Apache-2.0
#include "coll_data.hpp"

#include <algorithm>
#include <span>

#include <weft/message/coll/participant.hpp>

namespace weft::mpi {

namespace {

// Computed with integers, as the base may be null and displacements may be addresses.
void* moved(const void* base, std::int64_t offset) {
  const auto number = reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset);
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr)
}

std::size_t packed_size(const Datatype& type, std::int64_t count) {
  return static_cast<std::size_t>(type.size()) * static_cast<std::size_t>(count);
}

// If the program's base is null, offsets of blocks count from here, as a null base would mean that
// there is no buffer.
constexpr std::int64_t bias = 64;

}  // namespace

Side::~Side() {
  if (type_) Datatype::release(type_);
  for (const Datatype* type : types_) Datatype::release(type);
}

void Side::set(const Piece& piece, int blocks) {
  buffer_ = const_cast<void*>(piece.buffer);
  count_ = piece.count;
  blocks_ = blocks;
  type_ = find_type(piece.type);
  type_->retain();
  direct_ = type_->contiguous(count_ * blocks);
  block_ = packed_size(*type_, count_);
  total_ = block_ * static_cast<std::size_t>(blocks);
}

void Side::set(const Pieces& pieces, int blocks) {
  buffer_ = const_cast<void*>(pieces.buffer);
  counts_ = pieces.counts;
  displacements_ = pieces.displacements;
  blocks_ = blocks;
  if (pieces.types) {
    types_.reserve(static_cast<std::size_t>(blocks));
    for (int i = 0; i < blocks; ++i) {
      types_.push_back(find_type(pieces.types[i]));
      types_.back()->retain();
    }
  } else {
    type_ = find_type(pieces.type);
    type_->retain();
  }
  for (int i = 0; i < blocks; ++i) {
    direct_ = direct_ && type(i).contiguous(count(i));
    total_ += packed_size(type(i), count(i));
  }
  if (direct_) return;
  offsets_.reserve(static_cast<std::size_t>(blocks));
  std::size_t offset = 0;
  for (int i = 0; i < blocks; ++i) {
    offsets_.push_back(offset);
    offset += packed_size(type(i), count(i));
  }
}

void Side::keep_arrays() {
  const auto count = static_cast<std::size_t>(blocks_);
  kept_.resize(2 * count);
  Numbers* const arrays[] = {&counts_, &displacements_};
  for (std::size_t k = 0; k < 2; ++k) {
    if (arrays[k]->missing()) continue;
    MPI_Count* const copy = kept_.data() + k * count;
    for (int i = 0; i < blocks_; ++i) copy[i] = (*arrays[k])[i];
    *arrays[k] = Numbers(copy);
  }
}

std::byte* Side::data() const {
  if (!direct_) return memory_.get();
  void* base = buffer_;
  if (!type_) {
    if (!base) base = moved(base, bias);
  } else {
    base = moved(base, type_->true_lower_bound());
  }
  return static_cast<std::byte*>(base);
}

coll::Blocks Side::blocks() const {
  if (counts_.missing()) return coll::Blocks::equal(block_);
  return coll::Blocks::described(&find, this);
}

coll::Blocks::Block Side::find(const void* self, int index) {
  const Side& side = *static_cast<const Side*>(self);
  const Datatype& type = side.type(index);
  const std::size_t size = packed_size(type, side.count(index));
  if (!side.direct_) {
    return {static_cast<std::ptrdiff_t>(side.offsets_[static_cast<std::size_t>(index)]), size};
  }
  if (side.type_) return {side.displacements_[index] * type.extent(), size};
  return {side.displacements_[index] + type.true_lower_bound() - (side.buffer_ ? 0 : bias), size};
}

void* Side::place(int index) const {
  if (counts_.missing()) return moved(buffer_, index * count_ * type_->extent());
  return moved(buffer_, displacements_[index] * (type_ ? type_->extent() : 1));
}

std::span<std::byte> Side::packed(int index) const {
  const std::size_t offset = counts_.missing() ? block_ * static_cast<std::size_t>(index)
                                               : offsets_[static_cast<std::size_t>(index)];
  return {memory_.get() + offset, packed_size(type(index), count(index))};
}

void Side::clear(bool carries) {
  if (direct_ || memory_ || !carries || total_ == 0) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(total_);
}

void Side::load(Process& process, bool carries) {
  if (direct_ || total_ == 0) return;
  clear(carries);
  process.fabric.processor.copy(nullptr, nullptr, total_);
  for (int i = 0; i < blocks_ && memory_; ++i) {
    type(i).pack(place(i), count(i), 0, packed(i));
  }
}

void Side::store(Process& process) {
  if (direct_ || total_ == 0) return;
  process.fabric.processor.copy(nullptr, nullptr, total_);
  for (int i = 0; i < blocks_ && memory_; ++i) {
    type(i).unpack(place(i), count(i), 0, packed(i));
  }
}

void Side::store(Process& process, std::int64_t elements) {
  const std::size_t size = type_ ? packed_size(*type_, elements) : 0;
  if (direct_ || size == 0) return;
  process.fabric.processor.copy(nullptr, nullptr, size);
  if (memory_) type_->unpack(buffer_, elements, 0, {memory_.get(), size});
}

Reduction::~Reduction() {
  if (op_) Op::release(op_);
  if (type_) Datatype::release(type_);
}

void Reduction::set(const Op& op, const Datatype& type) {
  op_ = &op;
  type_ = &type;
  op.retain();
  type.retain();
}

coll::Reducer Reduction::reducer() const {
  return {static_cast<std::size_t>(type_->size()), op_->commutative(), &apply,
          const_cast<Reduction*>(this)};
}

void Reduction::apply(const void* in, void* inout, std::int64_t count, void* self) {
  const auto& reduction = *static_cast<const Reduction*>(self);
  const Datatype& type = *reduction.type_;
  if (!type.contiguous()) {
    reduction.apply_packed(coll::bytes(in), coll::bytes(inout), count);
    return;
  }
  // Where the function expects its elements to start.
  const std::int64_t lower = type.true_lower_bound();
  reduction.op_->apply(moved(in, -lower), moved(inout, -lower), count, type);
}

// Unpacks a few elements at a time into the type's layout.
void Reduction::apply_packed(const std::byte* in, std::byte* inout, std::int64_t count) const {
  constexpr std::int64_t turn = 64;
  const std::int64_t step = type_->extent();
  const std::int64_t span = (std::min(count, turn) - 1) * (step < 0 ? -step : step);
  // Includes the gaps at both ends, as an operator may move whole elements.
  const std::int64_t low = std::min(type_->lower_bound(), type_->true_lower_bound());
  const std::int64_t high =
      std::max(type_->lower_bound() + step, type_->true_lower_bound() + type_->true_extent());
  const auto room = static_cast<std::size_t>(span + high - low);
  const auto left = std::make_unique<std::byte[]>(room);
  const auto right = std::make_unique<std::byte[]>(room);
  // The lowest byte of all is at the start of the memory.
  const std::int64_t lowest = low - (step < 0 ? span : 0);
  void* const a = moved(left.get(), -lowest);
  void* const b = moved(right.get(), -lowest);
  const auto element = static_cast<std::size_t>(type_->size());
  for (std::int64_t done = 0; done < count; done += turn) {
    const std::int64_t now = std::min(turn, count - done);
    const std::size_t first = coll::scaled(done, element);
    const std::size_t size = coll::scaled(now, element);
    type_->unpack(a, now, 0, {in + first, size});
    type_->unpack(b, now, 0, {inout + first, size});
    op_->apply(a, b, now, *type_);
    type_->pack(b, now, 0, {inout + first, size});
  }
}

}  // namespace weft::mpi
