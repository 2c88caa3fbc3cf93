/* SPDX-License-Identifier: Apache-2.0
 * What can go wrong in a program, one thing per word. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int deep(int n) {
  volatile char room[4096];
  room[0] = (char)n;
  return n == 0 ? 0 : deep(n - 1) + room[0];
}

static void wait_in_circle(int rank, int size) {
  int x;
  MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_in_circle(int rank, int size) {
  char* data = malloc(100000);
  MPI_Send(data, 100000, MPI_BYTE, (rank + 1) % size, 5, MPI_COMM_WORLD);
}

static void truncate_message(int rank) {
  int data[4] = {0};
  if (rank == 0) MPI_Send(data, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank, size, x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argv[1];
  printf("rank %d begins\n", rank);
  if (!strcmp(what, "receive")) wait_in_circle(rank, size);
  if (!strcmp(what, "send")) send_in_circle(rank, size);
  if (!strcmp(what, "ended") && rank > 0) wait_in_circle(0, size);
  for (int found = 0; !strcmp(what, "poll") && rank == 0 && !found;)
    MPI_Iprobe(1, 5, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  if (!strcmp(what, "crash") && rank == 3) *(volatile int*)8 = 1;
  if (!strcmp(what, "stack") && rank == 2) x = deep(1 << 20);
  if (!strcmp(what, "abort") && rank == 2) MPI_Abort(MPI_COMM_WORLD, 7);
  if (!strcmp(what, "exit") && rank == 2) exit(9);
  if (!strcmp(what, "rank")) MPI_Send(&x, 1, MPI_INT, 99, 5, MPI_COMM_WORLD);
  if (!strcmp(what, "tag")) MPI_Send(&x, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
  if (!strcmp(what, "comm")) MPI_Send(&x, 1, MPI_INT, 0, 5, MPI_COMM_NULL);
  if (!strcmp(what, "type")) MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 5, MPI_COMM_WORLD);
  if (!strcmp(what, "truncate")) truncate_message(rank);
  MPI_Finalize();
  return !strcmp(what, "return") && rank == 2 ? 5 : 0;
}
