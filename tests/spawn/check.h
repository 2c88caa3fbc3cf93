/* SPDX-License-Identifier: Apache-2.0
 * What the programs here share: they count what is wrong, and the parents' first rank prints the
 * count of all. */
#ifndef WEFT_SPAWN_CHECK_H
#define WEFT_SPAWN_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++wrong;                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

static inline int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static inline int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}

static inline int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

#endif
