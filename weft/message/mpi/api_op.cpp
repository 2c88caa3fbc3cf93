// SPDX-License-Identifier: Apache-2.0
// The entry points for reduction operators.
#include <weft/message/mpi/errors.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/op.hpp>

using weft::mpi::Datatype;
using weft::mpi::find_op;
using weft::mpi::find_type;
using weft::mpi::Op;
using weft::mpi::OpForm;
using weft::mpi::report;

namespace {

int create(Op::AnyFunction function, OpForm form, int commute, MPI_Op* op) {
  if (function == nullptr || op == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  *op = (new Op(function, form, commute != 0))->handle();
  return MPI_SUCCESS;
}

int reduce(const void* in, void* inout, MPI_Count count, MPI_Datatype datatype, MPI_Op handle) {
  if (count < 0) return report(MPI_COMM_NULL, MPI_ERR_COUNT);
  const Datatype* type = find_type(datatype);
  if (type == nullptr || !type->committed()) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (!type->fits(count)) return report(MPI_COMM_NULL, MPI_ERR_COUNT);
  const Op* op = find_op(handle);
  if (op == nullptr) return report(MPI_COMM_NULL, MPI_ERR_OP);
  if (const int error = op->check(*type)) return report(MPI_COMM_NULL, error);
  if (count == 0) return MPI_SUCCESS;
  if (in == MPI_IN_PLACE || inout == MPI_IN_PLACE || in == inout) {
    return report(MPI_COMM_NULL, MPI_ERR_BUFFER);
  }
  op->apply(in, inout, count, *type);
  return MPI_SUCCESS;
}

}  // namespace

WEFT_MPI(Op_create)(MPI_User_function* function, int commute, MPI_Op* op) {
  return create(reinterpret_cast<Op::AnyFunction>(function), OpForm::small, commute, op);
}

WEFT_MPI(Op_create_c)(MPI_User_function_c* function, int commute, MPI_Op* op) {
  return create(reinterpret_cast<Op::AnyFunction>(function), OpForm::large, commute, op);
}

WEFT_MPI(Op_free)(MPI_Op* handle) {
  if (handle == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  const Op* op = find_op(*handle);
  if (op == nullptr || op->predefined()) return report(MPI_COMM_NULL, MPI_ERR_OP);
  Op::release(op);
  *handle = MPI_OP_NULL;
  return MPI_SUCCESS;
}

WEFT_MPI(Op_commutative)(MPI_Op handle, int* commute) {
  const Op* op = find_op(handle);
  if (op == nullptr) return report(MPI_COMM_NULL, MPI_ERR_OP);
  if (commute == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  *commute = op->commutative() ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Reduce_local)
(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op) {
  return reduce(inbuf, inoutbuf, count, datatype, op);
}

WEFT_MPI(Reduce_local_c)
(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  return reduce(inbuf, inoutbuf, count, datatype, op);
}
