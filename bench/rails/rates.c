// SPDX-License-Identifier: Apache-2.0
// rates BYTES WINDOW SECONDS: rank 0 sends to rank 1, WINDOW messages at a time, then waits for a
// word. Prints bytes per second.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double stream(int rank, char* data, int size, int window, long rounds, MPI_Request* open) {
  char word = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long i = 0; i < rounds; ++i) {
    for (int k = 0; k < window; ++k) {
      if (rank == 0) MPI_Isend(data, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &open[k]);
      if (rank == 1) MPI_Irecv(data, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &open[k]);
    }
    MPI_Waitall(window, open, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(&word, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&word, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - start;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int size = atoi(argv[1]), window = atoi(argv[2]);
  const double seconds = atof(argv[3]);
  char* data = malloc((size_t)size);
  memset(data, rank + 1, (size_t)size);
  MPI_Request* open = calloc((size_t)window, sizeof *open);
  for (int k = 0; k < window; ++k) open[k] = MPI_REQUEST_NULL;
  // Once to warm up, once to learn how many rounds there is time for.
  stream(rank, data, size, window, 4, open);
  const double once = stream(rank, data, size, window, 4, open) / 4;
  long rounds = (long)(seconds / once) + 1;
  MPI_Bcast(&rounds, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  const double took = stream(rank, data, size, window, rounds, open);
  if (rank == 0) printf("%.0f\n", (double)size * window * (double)rounds / took);
  free(open);
  free(data);
  MPI_Finalize();
  return 0;
}
