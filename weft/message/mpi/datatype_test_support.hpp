// SPDX-License-Identifier: Apache-2.0
// For tests only, not installed: stand-ins for the functions that datatypes call. Errors come back
// from the entry points as they are.
#pragma once

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// What the stand-ins were asked, and what they answer.
struct AttributeCalls {
  MPI_Datatype copied_from = MPI_DATATYPE_NULL;
  MPI_Datatype copied_to = MPI_DATATYPE_NULL;
  MPI_Datatype deleted = MPI_DATATYPE_NULL;
  int deletions = 0;
  int result = MPI_SUCCESS;
};
AttributeCalls& attribute_calls();

}  // namespace weft::mpi
