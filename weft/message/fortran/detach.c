/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers for MPI_Bsend come back from module mpi_f08 as TYPE(C_PTR). */
#include "fortran.h"

WRAPPER(buffer_detach_f08ts, (void** buffer_addr, int* size, int* ierror)) {
  const int error = PMPI_Buffer_detach(buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(buffer_detach_c_f08ts, (void** buffer_addr, MPI_Count* size, int* ierror)) {
  const int error = PMPI_Buffer_detach_c(buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(comm_detach_buffer_f08ts, (const int* comm, void** buffer_addr, int* size, int* ierror)) {
  const int error = PMPI_Comm_detach_buffer(comm_of(*comm), buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(comm_detach_buffer_c_f08ts,
        (const int* comm, void** buffer_addr, MPI_Count* size, int* ierror)) {
  const int error = PMPI_Comm_detach_buffer_c(comm_of(*comm), buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(session_detach_buffer_f08ts,
        (const int* session, void** buffer_addr, int* size, int* ierror)) {
  const int error = PMPI_Session_detach_buffer(session_of(*session), buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(session_detach_buffer_c_f08ts,
        (const int* session, void** buffer_addr, MPI_Count* size, int* ierror)) {
  const int error = PMPI_Session_detach_buffer_c(session_of(*session), buffer_addr, size);
  if (ierror) *ierror = error;
}
