/* SPDX-License-Identifier: Apache-2.0 */
/* Sends to itself, small and large, and adds up; with an argument waits for a message that never
 * comes; with two aborts. */
#include <mpi.h>
#include <stdio.h>

enum { many = 100000 };
static int out[many], in[many];

int main(int argc, char** argv) {
  int size, sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double start = MPI_Wtime();
  for (int count = 1; count <= many; count *= 10) {
    out[count - 1] = count;
    MPI_Irecv(in, count, MPI_INT, 0, count, MPI_COMM_WORLD, &request);
    MPI_Send(out, count, MPI_INT, 0, count, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in[count - 1] != count) return 1;
  }
  const int five = 5;
  MPI_Allreduce(&five, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  while (MPI_Wtime() < start + 1e-3) {
  }
  if (argc > 2) MPI_Abort(MPI_COMM_WORLD, 7);
  if (argc > 1) MPI_Recv(in, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d ranks: %d\n", size, sum);
  MPI_Finalize();
  return 0;
}
