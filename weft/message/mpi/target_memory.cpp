// SPDX-License-Identifier: Apache-2.0
#include "target_memory.hpp"

#include <cstring>
#include <utility>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/op.hpp>

namespace weft::mpi {

TargetMemory::TargetMemory(const Window::Part& part, const RmaCommand& command,
                           std::vector<std::uint64_t> blocks)
    : blocks_(std::move(blocks)) {
  if (blocks_.empty()) blocks_ = {0, command.bytes};
  std::int64_t from = 0;
  addressable_ = !__builtin_mul_overflow(command.displacement, std::int64_t{part.unit}, &from);
  start_ = reinterpret_cast<std::uintptr_t>(part.base) + static_cast<std::uintptr_t>(from);
}

bool TargetMemory::inside(const Window::Part& part) const {
  if (!addressable_) return false;
  const auto first = reinterpret_cast<std::uintptr_t>(part.base);
  const auto size = static_cast<std::uintptr_t>(part.size);
  for (std::size_t i = 0; i < blocks_.size(); i += 2) {
    const std::uintptr_t offset = start_ + blocks_[i] - first;
    if (blocks_[i + 1] > 0 && (offset > size || size - offset < blocks_[i + 1])) return false;
  }
  return true;
}

std::size_t TargetMemory::size() const {
  std::size_t sum = 0;
  for (std::size_t i = 1; i < blocks_.size(); i += 2) sum += blocks_[i];
  return sum;
}

std::vector<std::byte> TargetMemory::read() const {
  std::vector<std::byte> bytes(size());
  std::byte* to = bytes.data();
  for (std::size_t i = 0; i < blocks_.size(); i += 2) {
    std::memcpy(to, reinterpret_cast<void*>(start_ + blocks_[i]), blocks_[i + 1]);
    to += blocks_[i + 1];
  }
  return bytes;
}

void TargetMemory::write(const std::byte* from) const {
  for (std::size_t i = 0; i < blocks_.size(); i += 2) {
    std::memcpy(reinterpret_cast<void*>(start_ + blocks_[i]), from, blocks_[i + 1]);
    from += blocks_[i + 1];
  }
}

namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
T* handle_from(std::uint64_t number) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(number));
}

// target = target op data, element by element.
void accumulate(const RmaCommand& command, const TargetMemory& place, const Bytes& data) {
  const auto op_handle = handle_from<MPI_ABI_Op>(command.op);
  if (op_handle == MPI_NO_OP) return;
  if (op_handle == MPI_REPLACE) {
    place.write(data.data());
    return;
  }
  const Datatype* type = find_type(handle_from<MPI_ABI_Datatype>(command.type));
  const Op* op = find_op(op_handle);
  Bytes old = place.read();
  const std::int64_t count = static_cast<std::int64_t>(old.size()) / type->size();
  if (type->contiguous()) {
    op->apply(data.data(), old.data(), count, *type);
    place.write(old.data());
    return;
  }
  // Elements with gaps inside, such as pairs, are unpacked for the computation.
  Bytes in(static_cast<std::size_t>(count * type->extent()));
  Bytes inout(in.size());
  type->unpack(in.data(), count, 0, data);
  type->unpack(inout.data(), count, 0, old);
  op->apply(in.data(), inout.data(), count, *type);
  type->pack(inout.data(), count, 0, old);
  place.write(old.data());
}

void swap(const TargetMemory& place, const Bytes& data) {
  const std::size_t size = place.size();
  const Bytes old = place.read();
  if (std::memcmp(old.data(), data.data(), size) == 0) place.write(data.data() + size);
}

}  // namespace

void change(const RmaCommand& command, const TargetMemory& place, const Bytes& data) {
  switch (command.kind) {
    case RmaCommand::Kind::put:
      place.write(data.data());
      return;
    case RmaCommand::Kind::accumulate:
    case RmaCommand::Kind::fetch:
      accumulate(command, place, data);
      return;
    case RmaCommand::Kind::swap:
      swap(place, data);
      return;
    default:
      return;
  }
}

}  // namespace weft::mpi
