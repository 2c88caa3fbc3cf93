// SPDX-License-Identifier: Apache-2.0
// What every entry point of the C interface needs: a function to report an error, and a macro that
// defines PMPI_X with MPI_X as its weak alias, which a profiler may replace.
#pragma once

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// Passes the error to the communicator's error handler and returns the code that the entry point
// must return. MPI_COMM_NULL: the error belongs to no communicator. Does not return if the handler
// ends the program. Success passes through.
int report(MPI_Comm comm_or_null, int error_class);

}  // namespace weft::mpi

// Starts the definition of a function with this return type: WEFT_MPI_AS(double, Wtime)() { ... }
#define WEFT_MPI_AS(type, name)                                                            \
  extern "C" __attribute__((weak, alias("PMPI_" #name))) decltype(PMPI_##name) MPI_##name; \
  type PMPI_##name

// The same for return type int: WEFT_MPI(Comm_size)(MPI_Comm comm, int* size) { ... }
#define WEFT_MPI(name) WEFT_MPI_AS(int, name)
