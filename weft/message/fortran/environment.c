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

/* The call alone keeps the compiler from holding the buffer in registers across it. */
WRAPPER(f_sync_reg, (void* buffer)) {
  (void)buffer;
}

/* The memory's address is of no use to Fortran: only the size comes back. */
WRAPPER(buffer_detach, (void* buffer, int* size, int* ierror)) {
  void* address;
  (void)buffer;
  *ierror = PMPI_Buffer_detach(&address, size);
}

WRAPPER(comm_detach_buffer, (int* comm, void* buffer, int* size, int* ierror)) {
  void* address;
  (void)buffer;
  *ierror = PMPI_Comm_detach_buffer(comm_of(*comm), &address, size);
}

WRAPPER(session_detach_buffer, (int* session, void* buffer, int* size, int* ierror)) {
  void* address;
  (void)buffer;
  *ierror = PMPI_Session_detach_buffer(session_of(*session), &address, size);
}

/* Lengths are those of Fortran, without the terminating zero. */
WRAPPER(session_get_nth_pset, (int* session, int* info, int* n, int* pset_len, char* pset_name,
                               int* ierror, size_t pset_name_length)) {
  char name[MPI_MAX_PSET_NAME_LEN];
  int length = sizeof name;
  *ierror = PMPI_Session_get_nth_pset(session_of(*session), info_of(*info), *n, &length, name);
  if (*ierror != MPI_SUCCESS) return;
  if (*pset_len > 0) give_text(pset_name, pset_name_length, name);
  *pset_len = length - 1;
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
