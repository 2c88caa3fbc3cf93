// SPDX-License-Identifier: Apache-2.0
// Statuses, except for functions that need datatypes.
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/status.hpp>

using weft::mpi::Call;

WEFT_MPI(Test_cancelled)(const MPI_Status* status, int* flag) {
  Call call("MPI_Test_cancelled", Call::always);
  if (!status || !flag) return call.result(MPI_ERR_ARG);
  *flag = weft::mpi::status_cancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Status_set_cancelled)(MPI_Status* status, int flag) {
  Call call("MPI_Status_set_cancelled", Call::always);
  if (!status) return call.result(MPI_ERR_ARG);
  weft::mpi::set_status_cancelled(*status, flag != 0);
  return MPI_SUCCESS;
}

#define WEFT_STATUS_FIELD(name, field)                                \
  WEFT_MPI(Status_get_##name)(const MPI_Status* status, int* value) { \
    Call call("MPI_Status_get_" #name, Call::always);                 \
    if (!status || !value) return call.result(MPI_ERR_ARG);           \
    *value = status->field;                                           \
    return MPI_SUCCESS;                                               \
  }                                                                   \
  WEFT_MPI(Status_set_##name)(MPI_Status * status, int value) {       \
    Call call("MPI_Status_set_" #name, Call::always);                 \
    if (!status) return call.result(MPI_ERR_ARG);                     \
    status->field = value;                                            \
    return MPI_SUCCESS;                                               \
  }

WEFT_STATUS_FIELD(error, MPI_ERROR)
WEFT_STATUS_FIELD(source, MPI_SOURCE)
WEFT_STATUS_FIELD(tag, MPI_TAG)
