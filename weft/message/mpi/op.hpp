// SPDX-License-Identifier: Apache-2.0
// Reduction operators. Predefined ones are constants of the ABI; those of the program belong to the
// rank that made them and are counted.
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// How a function of the program wants its arguments.
enum class OpForm : std::uint8_t {
  small,    // MPI_User_function.
  large,    // MPI_User_function_c.
  fortran,  // As MPI_User_function, but the datatype is a Fortran integer.
};

class Op {
 public:
  using AnyFunction = void (*)();

  constexpr explicit Op(std::uint16_t handle) : commutative_(true), handle_(handle) {}
  Op(AnyFunction function, OpForm form, bool commutative)
      : commutative_(commutative), form_(form), function_(function) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  bool commutative() const { return commutative_; }
  bool predefined() const { return handle_ != 0; }

  // MPI_SUCCESS, or MPI_ERR_OP if the operator is not defined for the type.
  int check(const Datatype& type) const;

  // inout[i] = in[i] op inout[i]. The pair must have passed the check; the two buffers must not
  // overlap, and may have any alignment if the operator is predefined.
  void apply(const void* in, void* inout, std::int64_t count, const Datatype& type) const;

  // The predefined operators need no counting: these calls are then nothing.
  void retain() const;
  static void release(const Op* op);
  MPI_Op handle() const;

 private:
  friend const Op* find_op(MPI_Op handle);
  void call(const void* in, void* inout, std::int64_t count, const Datatype& type) const;

  static constexpr std::uint32_t alive = 0x57454f50;
  std::uint32_t life_ = alive;  // Tells an operator from what else a handle may point to.
  mutable std::atomic<std::int32_t> references_ = 1;
  bool commutative_;
  OpForm form_ = OpForm::small;
  std::uint16_t handle_ = 0;  // Of a predefined operator.
  AnyFunction function_ = nullptr;
};

// The operator of a handle; null if it is MPI_OP_NULL or no handle.
const Op* find_op(MPI_Op handle);

}  // namespace weft::mpi
