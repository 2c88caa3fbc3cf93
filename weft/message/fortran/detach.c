/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers for MPI_Bsend come back from module mpi_f08 as TYPE(C_PTR). */
#include "fortran.h"

#define DETACH(name, Name, Count, parameters, arguments)                             \
  WRAPPER(name##_f08ts, (parameters void** buffer_addr, Count* size, int* ierror)) { \
    const int error = PMPI_##Name(arguments buffer_addr, size);                      \
    if (ierror) *ierror = error;                                                     \
  }
#define NOTHING
#define COMM int *comm,
#define COMM_OF comm_of(*comm),
#define SESSION int *session,
#define SESSION_OF session_of(*session),
DETACH(buffer_detach, Buffer_detach, int, NOTHING, NOTHING)
DETACH(buffer_detach_c, Buffer_detach_c, MPI_Count, NOTHING, NOTHING)
DETACH(comm_detach_buffer, Comm_detach_buffer, int, COMM, COMM_OF)
DETACH(comm_detach_buffer_c, Comm_detach_buffer_c, MPI_Count, COMM, COMM_OF)
DETACH(session_detach_buffer, Session_detach_buffer, int, SESSION, SESSION_OF)
DETACH(session_detach_buffer_c, Session_detach_buffer_c, MPI_Count, SESSION, SESSION_OF)
