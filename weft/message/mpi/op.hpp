// SPDX-License-Identifier: Apache-2.0
// Reduction operators. Predefined ones are constants of the ABI; user-defined ones belong to the
// rank that created them and are reference-counted.
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// The signature of a user-defined function.
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

  // Returns MPI_SUCCESS, or MPI_ERR_OP if the operator is not defined for the type.
  int check(const Datatype& type) const;

  // inout[i] = in[i] op inout[i]. REQUIRES: check() has passed; the two buffers do not overlap.
  // They may have any alignment if the operator is predefined.
  void apply(const void* in, void* inout, std::int64_t count, const Datatype& type) const;

  // Predefined operators are not counted: these calls then do nothing.
  void retain() const;
  static void release(const Op* op);
  MPI_Op handle() const;

 private:
  friend const Op* find_op(MPI_Op handle);
  void call(const void* in, void* inout, std::int64_t count, const Datatype& type) const;

  static constexpr std::uint32_t alive = 0x57454f50;
  // Distinguishes an operator from anything else that a handle may point to.
  std::uint32_t life_ = alive;
  mutable std::atomic<std::int32_t> references_ = 1;
  bool commutative_;
  OpForm form_ = OpForm::small;
  std::uint16_t handle_ = 0;  // For a predefined operator.
  AnyFunction function_ = nullptr;
};

// The operator of a handle; null for MPI_OP_NULL and invalid handles.
const Op* find_op(MPI_Op handle);

}  // namespace weft::mpi
