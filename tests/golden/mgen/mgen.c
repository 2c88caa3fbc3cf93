/* SPDX-License-Identifier: Apache-2.0
 * A program in NSIM's names alone, with its extensions. */
#include <mgen.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, known = 0, squares[4] = {0}, sum = 0;
  MGEN_Init(&argc, &argv);
  MGEN_Comm_rank(MGEN_COMM_WORLD, &rank);
  MGEN_Comm_size(MGEN_COMM_WORLD, &size);

  // What one rank has computed, others need not.
  if (rank == 0) {
    for (int i = 0; i < 4; ++i) squares[i] = i * i;
    MGEN_Advance(2e-6);
    MGEN_Key_store(7, squares, sizeof squares);
  }
  MGEN_Barrier(MGEN_COMM_WORLD);
  MGEN_Key(7, squares, sizeof squares, &known);
  MGEN_Stats_start("sum");
  const int mine = known ? squares[rank % 4] : -100;
  MGEN_Allreduce(&mine, &sum, 1, MGEN_INT, MGEN_SUM, MGEN_COMM_WORLD);
  MGEN_Stats_stop();

  // A message that waits 5 ns after each packet.
  const MGEN_Tuning slowly = {.gap_ns = 5};
  char block[4096] = {0};
  const double begin = MGEN_Wtime();
  if (rank == 0) MGEN_Send_tuned(block, sizeof block, MGEN_CHAR, 1, 0, MGEN_COMM_WORLD, &slowly);
  if (rank == 1) {
    MGEN_Status status;
    MGEN_Recv(block, sizeof block, MGEN_CHAR, MGEN_ANY_SOURCE, 0, MGEN_COMM_WORLD, &status);
    printf("sum of squares %d, block from %d in %.4f us\n", sum, status.MPI_SOURCE,
           (MGEN_Wtime() - begin) * 1e6);
    MGEN_Stats_mark("received");
  }
  MGEN_Finalize();
  return 0;
}
