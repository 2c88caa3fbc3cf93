/* SPDX-License-Identifier: Apache-2.0
 * Extensions to MPI with which programs control the simulator. In a real run the functions do
 * nothing (or what they can) and return MPI_SUCCESS. */
#ifndef WEFT_MGEN_EXTENSIONS_H
#define WEFT_MGEN_EXTENSIONS_H

#include "mpi.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How messages are sent. All zero: as the machine is configured. */
typedef struct MGEN_Tuning {
  int nics;       /* Network cards that may share a message; 0: all. */
  int rendezvous; /* 1: always; -1: never, whatever the size; 0: by size. */
  int zero_copy;  /* 1: straight out of the program's memory, also when not by rendezvous. */
  double gap_ns;  /* Gap between packets. */
} MGEN_Tuning;

/* For all sends of this rank from now on; NULL: as configured. */
int MGEN_Set_tuning(const MGEN_Tuning* tuning);
/* For one. */
int MGEN_Send_tuned(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    const MGEN_Tuning* tuning);
int MGEN_Isend_tuned(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                     const MGEN_Tuning* tuning, MPI_Request* request);

/* The rank computes for this long. */
int MGEN_Advance(double seconds);

/* Ranks that would compute the same need not: the first stores what it found under a key, others
 * take it. known becomes 1 and data is filled when something of this size was stored. Ranks may ask
 * before another has stored: then they compute it themselves. */
int MGEN_Key(unsigned long long key, void* data, size_t size, int* known);
int MGEN_Key_store(unsigned long long key, const void* data, size_t size);

/* Statistics of this rank between start and stop count for the window of this name. Marks are noted
 * with their time. */
int MGEN_Stats_start(const char* name);
int MGEN_Stats_stop(void);
int MGEN_Stats_mark(const char* text);

/* This memory belongs to a socket of the node (default: the rank's own). */
int MGEN_Place_memory(const void* data, size_t size, int socket);

#ifdef __cplusplus
}
#endif

#endif
