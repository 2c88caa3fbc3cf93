/* SPDX-License-Identifier: Apache-2.0 */
/* What the Fortran wrappers share. They are linked into the program itself, so that the addresses
   of the COMMON variables below are those of the rank that calls. */
#ifndef WEFT_FORTRAN_FORTRAN_H
#define WEFT_FORTRAN_FORTRAN_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Starts the definition of a subroutine: pmpi_NAME_, and mpi_NAME_ that a profiler may replace. */
#define WRAPPER(name, parameters) FUNCTION(void, name, parameters)
#define FUNCTION(type, name, parameters)                                         \
  type pmpi_##name##_ parameters;                                                \
  type mpi_##name##_ parameters __attribute__((weak, alias("pmpi_" #name "_"))); \
  type pmpi_##name##_ parameters

/* Special arguments: COMMON /mpi_fortran_.../ of mpif.h and module mpi. */
extern int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_;
extern int mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
extern int mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
extern int mpi_fortran_unweighted_[1], mpi_fortran_weights_empty_[1];
extern int mpi_fortran_errcodes_ignore_[1];
extern char mpi_fortran_argv_null_[1], mpi_fortran_argvs_null_[1];

static inline void* buffer_of(void* argument) {
  if (argument == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (argument == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (argument == &mpi_fortran_buffer_automatic_) return MPI_BUFFER_AUTOMATIC;
  return argument;
}

/* A program may write MPI_STATUS_IGNORE for several, or the other way round. */
static inline MPI_Status* status_of(int* argument) {
  if (argument == mpi_fortran_status_ignore_ || argument == mpi_fortran_statuses_ignore_) {
    return MPI_STATUS_IGNORE;
  }
  return (MPI_Status*)argument;
}

static inline int* weights_of(int* argument) {
  if (argument == mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (argument == mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return argument;
}

/* Handles and their numbers. The ABI keeps the values of predefined handles within the first page,
   and these are their numbers too. */
#define HANDLES(type, name, conversion)                                    \
  static inline MPI_##type name##_of(int number) {                         \
    if (number >= 0 && number < 4096) return (MPI_##type)(intptr_t)number; \
    return PMPI_##conversion##_fromint(number);                            \
  }                                                                        \
  static inline int name##_number(MPI_##type handle) {                     \
    if ((uintptr_t)handle < 4096) return (int)(uintptr_t)handle;           \
    return PMPI_##conversion##_toint(handle);                              \
  }
HANDLES(Comm, comm, Comm)
HANDLES(Datatype, datatype, Type)
HANDLES(Errhandler, errhandler, Errhandler)
HANDLES(File, file, File)
HANDLES(Group, group, Group)
HANDLES(Info, info, Info)
HANDLES(Message, message, Message)
HANDLES(Op, op, Op)
HANDLES(Request, request, Request)
HANDLES(Session, session, Session)
HANDLES(Win, win, Win)
#undef HANDLES

/* Memory for count handles: what is given if that is enough, otherwise from the heap. */
enum { few_handles = 32 };
static inline void* room_for(int count, void* few) {
  if (count <= few_handles) return few;
  return malloc((size_t)count * sizeof(void*));
}
static inline void leave_room(void* room, void* few) {
  if (room != few) free(room);
}

/* Indices start with 1. */
static inline int index_of(int index) {
  return index == MPI_UNDEFINED ? index : index + 1;
}

/* A text without the blanks around it (before it: only if asked), ended by a zero. */
static inline char* text_of(const char* text, size_t length, int strip_front) {
  while (length > 0 && text[length - 1] == ' ') --length;
  while (strip_front && length > 0 && *text == ' ') ++text, --length;
  char* copy = malloc(length + 1);
  if (copy) {
    memcpy(copy, text, length);
    copy[length] = '\0';
  }
  return copy;
}

static inline void give_text(char* to, size_t length, const char* from) {
  size_t known = strlen(from);
  if (known > length) known = length;
  memcpy(to, from, known);
  memset(to + known, ' ', length - known);
}

/* Values of attributes: see boxes.c. */
void* weft_fortran_box(MPI_Aint value);
MPI_Aint weft_fortran_unboxed(const void* pointer);
void weft_fortran_free_box(void* pointer);

/* How many blocks the arrays of an operation with one type per block have. */
int weft_fortran_peers(MPI_Comm comm);
int weft_fortran_sources(MPI_Comm comm);
int weft_fortran_destinations(MPI_Comm comm);

#endif
