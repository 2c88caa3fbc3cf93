/* SPDX-License-Identifier: Apache-2.0
 * Partitioned messages in a ring: cut alike and differently on both sides, small and large, with
 * and without gaps, ready in any order, looked for one by one. */
#include "check.h"
#include <stdlib.h>

static int rank, size;

static int value_of(int from, int round, int i) {
  return from * 1000003 + round * 101 + i;
}

/* Sends `all` integers to the next rank in `out` partitions and receives them in `in` partitions,
   `rounds` times. With a gap, every other integer of the buffer is sent. */
static void ring(int all, int out, int in, int gap, int rounds) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const int stride = gap ? 2 : 1;
  int* to = calloc((size_t)(all * stride + 1), sizeof(int));
  int* from = calloc((size_t)(all * stride + 1), sizeof(int));
  MPI_Datatype type = MPI_INT;
  if (gap) {
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
  }
  MPI_Request requests[2];
  CHECK(MPI_Psend_init(to, out, all / out, type, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]) == MPI_SUCCESS);
  CHECK(MPI_Precv_init(from, in, all / in, type, before, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[1]) == MPI_SUCCESS);
  if (gap) MPI_Type_free(&type); /* The requests keep it. */
  for (int round = 0; round < rounds; ++round) {
    int flag = 0;
    MPI_Status statuses[2];
    for (int i = 0; i < all; ++i) to[i * stride] = value_of(rank, round, i);
    memset(from, 0, (size_t)(all * stride) * sizeof(int));
    CHECK(MPI_Startall(2, requests) == MPI_SUCCESS);
    if (out > 2) {
      const int list[] = {out - 1, 0};
      CHECK(MPI_Pready_list(2, list, requests[0]) == MPI_SUCCESS);
      CHECK(MPI_Pready_range(1, out - 2, requests[0]) == MPI_SUCCESS);
    } else {
      for (int i = out - 1; i >= 0; --i) CHECK(MPI_Pready(i, requests[0]) == MPI_SUCCESS);
    }
    for (int i = in - 1; i >= 0; --i) {
      for (flag = 0; !flag;) CHECK(MPI_Parrived(requests[1], i, &flag) == MPI_SUCCESS);
      const int last = (i + 1) * (all / in) - 1;
      CHECK(from[last * stride] == value_of(before, round, last));
    }
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS);
    int got = -1;
    MPI_Get_count(&statuses[1], MPI_INT, &got);
    CHECK(statuses[1].MPI_SOURCE == before && statuses[1].MPI_TAG == 7 && got == all);
    CHECK(MPI_Parrived(requests[1], 0, &flag) == MPI_SUCCESS && flag);
    int bad = 0;
    for (int i = 0; i < all; ++i) bad += from[i * stride] != value_of(before, round, i);
    CHECK(bad == 0);
    if (gap) CHECK(from[1] == 0);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(to);
  free(from);
}

/* Two pairs with one tag match in the order of their making, and not with plain messages. */
static void order(void) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int out[2] = {rank, rank + 100}, in[2] = {-1, -1}, plain = -1;
  MPI_Request requests[5];
  MPI_Isend(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[4]);
  for (int i = 0; i < 2; ++i) {
    MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    MPI_Precv_init(&in[i], 1, 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[2 + i]);
  }
  MPI_Start(&requests[1]);
  MPI_Pready(0, requests[1]);
  MPI_Start(&requests[3]);
  MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
  CHECK(in[1] == before + 100 && in[0] == -1);
  MPI_Start(&requests[0]);
  MPI_Start(&requests[2]);
  MPI_Pready(0, requests[0]);
  MPI_Recv(&plain, 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  CHECK(in[0] == before && plain == before);
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
}

static void errors(void) {
  int data[4] = {0}, flag = 0;
  MPI_Request send, receive;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &receive) == MPI_ERR_RANK);
  CHECK(MPI_Precv_init(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &receive) == MPI_ERR_TAG);
  CHECK(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send) ==
        MPI_ERR_ARG);
  CHECK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &send) == MPI_SUCCESS);
  CHECK(MPI_Precv_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &receive) == MPI_SUCCESS);
  CHECK(MPI_Pready(0, send) == MPI_ERR_REQUEST); /* Not started. */
  MPI_Start(&send);
  MPI_Start(&receive);
  CHECK(MPI_Pready(4, send) == MPI_ERR_ARG);
  CHECK(MPI_Pready_list(-1, data, send) == MPI_ERR_ARG);
  CHECK(MPI_Pready_list(1, NULL, send) == MPI_ERR_ARG);
  CHECK(MPI_Pready_list(0, NULL, send) == MPI_SUCCESS);
  CHECK(MPI_Pready(0, receive) == MPI_ERR_REQUEST);
  CHECK(MPI_Parrived(send, 0, &flag) == MPI_ERR_REQUEST);
  CHECK(MPI_Pready_range(0, 3, send) == MPI_SUCCESS);
  CHECK(MPI_Pready(0, send) == MPI_ERR_ARG); /* A second time. */
  CHECK(MPI_Parrived(receive, 3, &flag) == MPI_SUCCESS && flag);
  MPI_Status status;
  CHECK(MPI_Wait(&send, &status) == MPI_SUCCESS);
  CHECK(MPI_Wait(&receive, &status) == MPI_SUCCESS && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring(12, 4, 4, 0, 3);
  ring(12, 4, 3, 0, 3);
  ring(12, 3, 4, 1, 3);
  ring(12, 1, 12, 1, 2);
  ring(120000, 12, 5, 0, 3); /* By rendezvous. */
  ring(120000, 5, 12, 1, 2);
  order();
  errors();
  report(rank);
  MPI_Finalize();
  return 0;
}
