/* SPDX-License-Identifier: Apache-2.0 */
/* Counts whose bytes cannot be counted are refused by every kind of call. */
#include <mpi.h>
#include <stdio.h>

static int wrong = 0;

static void expect(const char* name, int code, int wanted) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (class == wanted) return;
  printf("%s gives %d, not %d\n", name, class, wanted);
  wrong++;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int self, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const MPI_Count many = (MPI_Count)1 << 61, half = (MPI_Count)1 << 59;
  const MPI_Comm world = MPI_COMM_WORLD;
  const int other = (self + 1) % ranks;
  double a[8] = {0}, b[8] = {0};
  MPI_Request request;
  MPI_Status status;
  MPI_Aint place[8] = {0};
  MPI_Count counts[8], position = 0;
  for (int i = 0; i < ranks; i++) counts[i] = half;
  MPI_Datatype wide, gaps;
  MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &wide);
  MPI_Type_commit(&wide);
  MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)1 << 40, &gaps);
  MPI_Type_commit(&gaps);

  expect("send", MPI_Send_c(a, many, MPI_DOUBLE, other, 0, world), MPI_ERR_COUNT);
  expect("ssend", MPI_Ssend_c(a, many, MPI_DOUBLE, other, 0, world), MPI_ERR_COUNT);
  expect("bsend", MPI_Bsend_c(a, many, MPI_DOUBLE, other, 0, world), MPI_ERR_COUNT);
  expect("isend", MPI_Isend_c(a, many, MPI_DOUBLE, other, 0, world, &request), MPI_ERR_COUNT);
  expect("send_init", MPI_Send_init_c(a, many, MPI_DOUBLE, other, 0, world, &request),
         MPI_ERR_COUNT);
  expect("send of wide", MPI_Send_c(a, (MPI_Count)1 << 31, wide, other, 0, world), MPI_ERR_COUNT);
  expect("send of gaps", MPI_Send_c(a, (MPI_Count)1 << 24, gaps, other, 0, world), MPI_ERR_COUNT);
  expect("recv", MPI_Recv_c(a, many, MPI_DOUBLE, other, 0, world, &status), MPI_ERR_COUNT);
  expect("irecv", MPI_Irecv_c(a, many, MPI_DOUBLE, other, 0, world, &request), MPI_ERR_COUNT);
  expect("sendrecv",
         MPI_Sendrecv_c(a, many, MPI_DOUBLE, other, 0, b, 1, MPI_DOUBLE, other, 0, world, &status),
         MPI_ERR_COUNT);
  expect("bcast", MPI_Bcast_c(a, many, MPI_DOUBLE, 0, world), MPI_ERR_COUNT);
  expect("ibcast", MPI_Ibcast_c(a, many, MPI_DOUBLE, 0, world, &request), MPI_ERR_COUNT);
  expect("allreduce", MPI_Allreduce_c(a, b, many, MPI_DOUBLE, MPI_SUM, world), MPI_ERR_COUNT);
  expect("reduce", MPI_Reduce_c(a, b, many, MPI_DOUBLE, MPI_SUM, 0, world), MPI_ERR_COUNT);
  expect("scan", MPI_Scan_c(a, b, many, MPI_DOUBLE, MPI_SUM, world), MPI_ERR_COUNT);
  expect("allgather", MPI_Allgather_c(a, half, MPI_DOUBLE, b, half, MPI_DOUBLE, world),
         MPI_ERR_COUNT);
  expect("alltoall", MPI_Alltoall_c(a, half, MPI_DOUBLE, b, half, MPI_DOUBLE, world),
         MPI_ERR_COUNT);
  expect("allgatherv", MPI_Allgatherv_c(a, half, MPI_DOUBLE, b, counts, place, MPI_DOUBLE, world),
         MPI_ERR_COUNT);
  expect("alltoallv",
         MPI_Alltoallv_c(a, counts, place, MPI_DOUBLE, b, counts, place, MPI_DOUBLE, world),
         MPI_ERR_COUNT);
  expect("reduce_scatter_block",
         MPI_Reduce_scatter_block_c(a, b, many * 2, MPI_BYTE, MPI_BOR, world), MPI_ERR_COUNT);
  for (int i = 0; i < ranks; i++) counts[i] = many * 2;
  expect("reduce_scatter", MPI_Reduce_scatter_c(a, b, counts, MPI_BYTE, MPI_BOR, world),
         MPI_ERR_COUNT);
  expect("reduce_local", MPI_Reduce_local_c(a, b, many, MPI_DOUBLE, MPI_SUM), MPI_ERR_COUNT);
  expect("pack", MPI_Pack_c(a, many, MPI_DOUBLE, b, sizeof b, &position, world),
         MPI_ERR_VALUE_TOO_LARGE);
  expect("unpack", MPI_Unpack_c(a, sizeof a, &position, b, many, MPI_DOUBLE, world),
         MPI_ERR_VALUE_TOO_LARGE);

  MPI_Win win;
  MPI_Win_create(b, sizeof b, 1, MPI_INFO_NULL, world, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  expect("put", MPI_Put_c(a, many, MPI_DOUBLE, other, 0, many, MPI_DOUBLE, win), MPI_ERR_COUNT);
  expect("get", MPI_Get_c(a, 1, MPI_DOUBLE, other, 0, many, MPI_DOUBLE, win), MPI_ERR_COUNT);
  expect("accumulate",
         MPI_Accumulate_c(a, many, MPI_DOUBLE, other, 0, many, MPI_DOUBLE, MPI_SUM, win),
         MPI_ERR_COUNT);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);

  /* The library still works. */
  a[0] = self;
  expect("exchange",
         MPI_Sendrecv(a, 1, MPI_DOUBLE, other, 1, b, 1, MPI_DOUBLE, (self + ranks - 1) % ranks, 1,
                      world, &status),
         MPI_SUCCESS);
  printf("rank %d: %d wrong\n", self, wrong);
  MPI_Type_free(&wide);
  MPI_Type_free(&gaps);
  MPI_Finalize();
  return wrong != 0;
}
