// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: replacements for the functions that datatypes call. Errors are
// returned by the entry points unchanged.
#pragma once

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// Calls that the replacements received, and their answers.
struct AttributeCalls {
  MPI_Datatype copied_from = MPI_DATATYPE_NULL;
  MPI_Datatype copied_to = MPI_DATATYPE_NULL;
  MPI_Datatype deleted = MPI_DATATYPE_NULL;
  int deletions = 0;
  int result = MPI_SUCCESS;
};
AttributeCalls& attribute_calls();

}  // namespace weft::mpi
