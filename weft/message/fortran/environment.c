/* SPDX-License-Identifier: Apache-2.0 */
/* Functions whose arguments differ from C. */
#include "fortran.h"

WRAPPER(init, (int* ierror)) {
  *ierror = PMPI_Init(NULL, NULL);
}

WRAPPER(init_thread, (const int* required, int* provided, int* ierror)) {
  *ierror = PMPI_Init_thread(NULL, NULL, *required, provided);
}

WRAPPER(pcontrol, (const int* level)) {
  PMPI_Pcontrol(*level);
}

/* The memory's address is of no use to Fortran: only the size comes back. */
WRAPPER(buffer_detach, (void* buffer, int* size, int* ierror)) {
  void* address;
  (void)buffer;
  *ierror = PMPI_Buffer_detach(&address, size);
}

FUNCTION(double, wtime, (void)) {
  return PMPI_Wtime();
}

FUNCTION(double, wtick, (void)) {
  return PMPI_Wtick();
}

FUNCTION(MPI_Aint, aint_add, (const MPI_Aint* base, const MPI_Aint* displacement)) {
  return PMPI_Aint_add(*base, *displacement);
}

FUNCTION(MPI_Aint, aint_diff, (const MPI_Aint* minuend, const MPI_Aint* subtrahend)) {
  return PMPI_Aint_diff(*minuend, *subtrahend);
}
