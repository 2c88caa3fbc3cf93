/* SPDX-License-Identifier: Apache-2.0
 * What the programs here share: they count what is wrong, and print the count at the end. */
#ifndef WEFT_WORLDS_CHECK_H
#define WEFT_WORLDS_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++wrong;                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

static inline void report(int rank) {
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
}

#endif
