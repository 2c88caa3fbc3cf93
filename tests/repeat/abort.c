/* SPDX-License-Identifier: Apache-2.0
 * Ranks exchange data until one of them gives up, at a moment when many are busy. */
#include <mpi.h>

int main(int argc, char** argv) {
  static char out[3000], in[3000];
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0;; ++step) {
    const int to = (rank + step) % size, from = (rank + size - step % size) % size;
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, to, 0, in, sizeof in, MPI_CHAR, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 11 && step == 77) MPI_Abort(MPI_COMM_WORLD, 3);
  }
}
