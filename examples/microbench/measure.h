/* SPDX-License-Identifier: Apache-2.0
 * What the micro-benchmarks share: options, and tables as text or comma-separated values. */
#ifndef MEASURE_H
#define MEASURE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int csv;
  int rounds;             /* Measured, after one that is not. */
  long smallest, largest; /* Bytes */
  int window;             /* Messages under way at once. */
  const char* only;       /* Name of the one benchmark wanted, or null. */
} Options;

/* Nonzero: this argument was the option, and its value has been taken. */
static inline int take_number(const char* argument, const char* name, long* value) {
  const size_t length = strlen(name);
  if (strncmp(argument, name, length) != 0 || argument[length] != '=') return 0;
  *value = atol(argument + length + 1);
  return 1;
}

static inline Options read_options(int argc, char** argv) {
  Options o = {0, 10, 1, 65536, 64, NULL};
  for (int i = 1; i < argc; ++i) {
    long number = 0;
    if (strcmp(argv[i], "--csv") == 0) {
      o.csv = 1;
    } else if (take_number(argv[i], "--rounds", &number)) {
      o.rounds = (int)number;
    } else if (take_number(argv[i], "--min", &number)) {
      o.smallest = number;
    } else if (take_number(argv[i], "--max", &number)) {
      o.largest = number;
    } else if (take_number(argv[i], "--window", &number)) {
      o.window = (int)number;
    } else if (argv[i][0] != '-') {
      o.only = argv[i];
    } else {
      fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  return o;
}

static inline int wanted(const Options* o, const char* name) {
  return o->only == NULL || strcmp(o->only, name) == 0;
}

/* Doubles, but does not leave out an empty message. */
static inline long next_size(long size) {
  return size == 0 ? 1 : 2 * size;
}

static inline void print_row(const Options* o, const char* name, long size, double value,
                             const char* unit) {
  if (o->csv)
    printf("%s,%ld,%.4f,%s\n", name, size, value, unit);
  else
    printf("%-22s %9ld B %14.4f %s\n", name, size, value, unit);
}

static inline void print_head(const Options* o) {
  if (o->csv)
    printf("benchmark,bytes,value,unit\n");
  else
    printf("%-22s %11s %14s\n", "benchmark", "size", "result");
}

#endif
