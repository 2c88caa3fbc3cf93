// SPDX-License-Identifier: Apache-2.0
// stream BYTES SECONDS AT: rank 0 sends messages to rank 1, four in flight, for so long. Rank 1
// checks every word and prints the mean rate before the moment AT and after it (from AT + 0.5 s
// on), and the longest pause between two messages:
//   before after pause wrong
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { flying = 4 };

static uint64_t word(uint64_t message, size_t at) {
  return (message * 0x9e3779b97f4a7c15u) ^ (at * 0xff51afd7ed558ccdu);
}

static void send_all(uint64_t** data, size_t words, double seconds) {
  MPI_Request open[flying] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                              MPI_REQUEST_NULL};
  const double start = MPI_Wtime();
  for (uint64_t message = 0;; ++message) {
    const int k = (int)(message % flying);
    MPI_Wait(&open[k], MPI_STATUS_IGNORE);
    const int last = MPI_Wtime() - start > seconds;
    for (size_t i = 0; i < words; ++i) data[k][i] = word(message, i);
    // The last one is empty.
    MPI_Isend(data[k], last ? 0 : (int)(words * sizeof(uint64_t)), MPI_BYTE, 1, 1, MPI_COMM_WORLD,
              &open[k]);
    if (last) break;
  }
  MPI_Waitall(flying, open, MPI_STATUSES_IGNORE);
}

static void receive_all(uint64_t** data, size_t words, double at) {
  MPI_Request open[flying];
  const int size = (int)(words * sizeof(uint64_t));
  for (int k = 0; k < flying; ++k)
    MPI_Irecv(data[k], size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &open[k]);
  printf("begin\n");
  fflush(stdout);
  const double start = MPI_Wtime();
  double before = 0, after = 0, pause = 0, previous = start;
  double first_after = 0, last_after = 0, last_before = start;
  uint64_t wrong = 0;
  for (uint64_t message = 0;; ++message) {
    const int k = (int)(message % flying);
    MPI_Status status;
    MPI_Wait(&open[k], &status);
    const double now = MPI_Wtime();
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes == 0) break;
    if (now - previous > pause && message > 8) pause = now - previous;
    previous = now;
    if (now - start < at) before += bytes, last_before = now;
    if (now - start > at + 0.5) {
      if (first_after > 0)
        after += bytes;
      else
        first_after = now;
      last_after = now;
    }
    for (size_t i = 0; i < words; ++i) wrong += data[k][i] != word(message, i);
    MPI_Irecv(data[k], size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &open[k]);
  }
  for (int k = 0; k < flying; ++k) {
    if (open[k] == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&open[k]);
    MPI_Wait(&open[k], MPI_STATUS_IGNORE);
  }
  printf("%.0f %.0f %.3f %llu\n", last_before > start ? before / (last_before - start) : 0,
         last_after > first_after ? after / (last_after - first_after) : 0, pause,
         (unsigned long long)wrong);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const size_t words = (size_t)atol(argv[1]) / sizeof(uint64_t);
  uint64_t* data[flying];
  for (int k = 0; k < flying; ++k) data[k] = calloc(words, sizeof(uint64_t));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) send_all(data, words, atof(argv[2]));
  if (rank == 1) receive_all(data, words, atof(argv[3]));
  for (int k = 0; k < flying; ++k) free(data[k]);
  MPI_Finalize();
  return 0;
}
