/* SPDX-License-Identifier: Apache-2.0
 * One rank breaks, in the way that the argument names, after it and the others have printed a line.
 * Usage: crash [MODE] */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int zero = 0;

static int dive(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  return dive(depth + 1) + room[0];
}

/* Destroys what the allocator keeps beside its blocks, in every arena that this thread may use. */
static void break_heap(void) {
  char* volatile block = malloc(40);
  memset(block - 64, 0x5a, 4096);
}

static void* map_file(void) {
  FILE* file = tmpfile();
  return mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
}

static void crash(const char* how, int size) {
  char* volatile block = calloc(1, 100);
  if (strcmp(how, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(how, "fpe") == 0) raise(1 / (zero + 1) == 1 ? SIGFPE : 0);
  if (strcmp(how, "bus") == 0) zero = *(volatile char*)map_file();
  if (strcmp(how, "ill") == 0) __builtin_trap();
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "stack") == 0) zero = dive(0);
  if (strcmp(how, "free") == 0) free(block + 8); /* free(): invalid pointer */
  if (strcmp(how, "heap") == 0) {
    break_heap();
    for (int i = 0; i < 100000; ++i) free(malloc((size_t)(i % 3000)));
    abort(); /* An allocator that did not notice. */
  }
  if (strcmp(how, "call") == 0) MPI_Send((void*)8, 64, MPI_BYTE, size - 2, 0, MPI_COMM_WORLD);
}

int main(int count, char** words) {
  int rank, size;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank %d is there\n", rank);
  fflush(stdout);
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) crash(count > 1 ? words[1] : "segv", size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
