// SPDX-License-Identifier: Apache-2.0
#include "op.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <weft/base/check.hpp>
#include <weft/message/mpi/op_kernel.hpp>

namespace weft::mpi {
namespace {

constexpr std::uint16_t replace_handle = 0x3c;
constexpr std::uint16_t no_op_handle = 0x3d;

constinit const Op predefined_ops[] = {
    Op(0x21), Op(0x22), Op(0x23), Op(0x24), Op(0x28), Op(0x29), Op(0x2a),
    Op(0x30), Op(0x31), Op(0x32), Op(0x38), Op(0x39), Op(0x3c), Op(0x3d),
};

std::uintptr_t address(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

// Piece by piece, because the datatype may have gaps, which must not change.
void replace(const void* in, void* inout, std::int64_t count, const Datatype& type) {
  std::array<std::byte, 4096> piece;
  const std::int64_t bytes = count * type.size();
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t part = std::min<std::int64_t>(bytes - done, std::ssize(piece));
    const std::span<std::byte> packed(piece.data(), static_cast<std::size_t>(part));
    type.pack(in, count, done, packed);
    type.unpack(inout, count, done, packed);
    done += part;
  }
}

}  // namespace

int Op::check(const Datatype& type) const {
  if (!predefined() || handle_ == replace_handle || handle_ == no_op_handle) return MPI_SUCCESS;
  return find_kernel(handle_, type) == nullptr ? MPI_ERR_OP : MPI_SUCCESS;
}

void Op::apply(const void* in, void* inout, std::int64_t count, const Datatype& type) const {
  if (handle_ == no_op_handle) return;
  if (handle_ == replace_handle) return replace(in, inout, count, type);
  if (!predefined()) return call(in, inout, count, type);
  const Kernel kernel = find_kernel(handle_, type);
  WEFT_CHECK(kernel != nullptr);
  kernel(in, inout, count);
}

void Op::call(const void* in, void* inout, std::int64_t count, const Datatype& type) const {
  // The interface has no const, though the function must not write.
  std::uintptr_t left = address(in);
  std::uintptr_t right = address(inout);
  MPI_Datatype handle = type.handle();
  MPI_Fint number = form_ == OpForm::fortran ? PMPI_Type_toint(handle) : 0;
  while (count > 0) {
    constexpr std::int64_t longest = std::numeric_limits<int>::max();
    std::int64_t part = form_ == OpForm::large ? count : std::min(count, longest);
    const std::int64_t done = part;
    auto* left_memory = reinterpret_cast<void*>(left);    // NOLINT(performance-no-int-to-ptr)
    auto* right_memory = reinterpret_cast<void*>(right);  // NOLINT(performance-no-int-to-ptr)
    int length = static_cast<int>(std::min(part, longest));
    if (form_ == OpForm::large) {
      reinterpret_cast<MPI_User_function_c*>(function_)(left_memory, right_memory, &part, &handle);
    } else if (form_ == OpForm::fortran) {
      using FortranFunction = void(void*, void*, MPI_Fint*, MPI_Fint*);
      reinterpret_cast<FortranFunction*>(function_)(left_memory, right_memory, &length, &number);
    } else {
      reinterpret_cast<MPI_User_function*>(function_)(left_memory, right_memory, &length, &handle);
    }
    count -= done;
    left += static_cast<std::uintptr_t>(done * type.extent());
    right += static_cast<std::uintptr_t>(done * type.extent());
  }
}

void Op::retain() const {
  if (!predefined()) references_.fetch_add(1, std::memory_order_relaxed);
}

void Op::release(const Op* op) {
  if (op->predefined()) return;
  if (op->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const_cast<Op*>(op)->life_ = 0;
    delete op;
  }
}

MPI_Op Op::handle() const {
  if (!predefined()) return reinterpret_cast<MPI_Op>(const_cast<Op*>(this));
  return reinterpret_cast<MPI_Op>(  // NOLINT(performance-no-int-to-ptr)
      static_cast<std::uintptr_t>(handle_));
}

const Op* find_op(MPI_Op handle) {
  const std::uintptr_t number = address(handle);
  if (number < 0x1000) {
    for (const Op& op : predefined_ops) {
      if (op.handle_ == number) return &op;
    }
    return nullptr;
  }
  if (number % alignof(Op) != 0) return nullptr;
  const auto* op = reinterpret_cast<const Op*>(handle);
  return op->life_ == Op::alive ? op : nullptr;
}

}  // namespace weft::mpi
