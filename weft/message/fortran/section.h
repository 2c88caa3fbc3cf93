/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of Fortran 2008, which may be sections of arrays. */
#ifndef WEFT_FORTRAN_SECTION_H
#define WEFT_FORTRAN_SECTION_H

#include "fortran.h"
#include <ISO_Fortran_binding.h>

/* A buffer while it is used. */
struct section {
  void* address;             /* What MPI is given. */
  void* copy;                /* Of the section, if there is one. */
  const CFI_cdesc_t* places; /* Where the copy belongs, */
  size_t copied;             /* and how many elements it has. */
  int datatype, made;        /* A type of the section's gaps, if there is one. */
};

/* A scalar and an array of unknown size (the last extent is -1 then) have no gaps. What is not
   allocated has no shape: programs pass it where the buffer does not matter. */
int weft_f08_has_gaps(const CFI_cdesc_t* buffer);

/* For calls that are done with the buffer when they return: a copy without gaps. */
void weft_f08_copy(struct section* s, const CFI_cdesc_t* buffer, int* ierror);
/* The same with no more elements than are used: others may be the buffer of another call. */
void weft_f08_copy_first(struct section* s, const CFI_cdesc_t* buffer, MPI_Count count,
                         int datatype, int* ierror);
/* For calls that use it later: a type of the first `count` elements. */
void weft_f08_describe(struct section* s, const CFI_cdesc_t* buffer, MPI_Count count, int datatype,
                       int* ierror);
/* For calls that use all of it later: sections are refused. */
void weft_f08_whole(struct section* s, const CFI_cdesc_t* buffer, int* ierror);
/* For calls that want to know where it begins, or do not look at it. */
void weft_f08_address(struct section* s, const CFI_cdesc_t* buffer, int* ierror);

/* Whether the buffer of the root counts in this rank. */
static inline int weft_f08_is_root(int comm, int root) {
  int rank = MPI_UNDEFINED, inter = 0;
  if (PMPI_Comm_test_inter(comm_of(comm), &inter) != MPI_SUCCESS) return 0;
  if (inter) return root == MPI_ROOT;
  PMPI_Comm_rank(comm_of(comm), &rank);
  return rank == root;
}

/* Calls the error handler of what the call was for. Here, so that only wrappers of files need a
   library that has files. */
static inline void weft_f08_refuse_comm(int comm, int error) {
  PMPI_Comm_call_errhandler(comm_of(comm), error);
}
static inline void weft_f08_refuse_win(int win, int error) {
  PMPI_Win_call_errhandler(win_of(win), error);
}
static inline void weft_f08_refuse_session(int session, int error) {
  PMPI_Session_call_errhandler(session_of(session), error);
}
static inline void weft_f08_refuse_fh(int fh, int error) {
  PMPI_File_call_errhandler(file_of(fh), error);
}

/* Brings a copy back if the call may have changed it, and frees what was made. */
void weft_f08_leave(struct section* s, int changed);

#endif
