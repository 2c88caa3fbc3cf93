/* SPDX-License-Identifier: Apache-2.0
 * An MPI program as another implementation's compiler leaves it: values and layouts of the standard
 * ABI are built in, and no header of ours is read. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  int source, tag, error, internal[5];
} Status;
extern int MPI_Init(int*, char***), MPI_Finalize(void), MPI_Comm_rank(void*, int*),
    MPI_Comm_size(void*, int*),
    MPI_Sendrecv(const void*, int, void*, int, int, void*, int, void*, int, int, void*, Status*),
    MPI_Get_count(const Status*, void*, int*),
    MPI_Allreduce(const void*, void*, int, void*, void*, void*),
    MPI_Comm_split(void*, int, int, void**), MPI_Comm_free(void**),
    MPI_Irecv(void*, int, void*, int, int, void*, void**),
    MPI_Isend(const void*, int, void*, int, int, void*, void**), MPI_Waitall(int, void**, Status*),
    MPI_Type_contiguous(int, void*, void**), MPI_Type_commit(void**),
    MPI_Type_size_c(void*, int64_t*), MPI_Comm_set_errhandler(void*, void*),
    MPI_Send(const void*, int, void*, int, int, void*), MPI_Error_class(int, int*),
    MPI_Abi_get_version(int*, int*), MPI_Comm_toint(void*), MPI_Get_library_version(char*, int*);
extern double PMPI_Wtime(void);

#define HANDLE(value) ((void*)(uintptr_t)(value))
#define WORLD HANDLE(0x101)
#define INT HANDLE(0x209)
#define INT64 HANDLE(0x258)

static int wrong = 0, rank;
static void check(int right, const char* what) {
  if (!right) printf("rank %d: %s\n", rank, what), ++wrong;
}

int main(int argc, char** argv) {
  int ranks, major, minor, sum, count, error, length;
  int64_t size;
  void *half, *pair, *requests[2];
  Status status, both[2];
  char version[8192];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &ranks);
  check(MPI_Abi_get_version(&major, &minor) == 0 && major == 1 && minor == 0, "version");
  check(MPI_Comm_toint(WORLD) == 0x101, "integers of handles");

  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  int mine = 10 * rank, got[4] = {-1, -1, -1, -1};
  MPI_Sendrecv(&mine, 1, INT, right, 7, got, 4, INT, -1, -2, WORLD,
               &status); /* Any source, any tag. */
  MPI_Get_count(&status, INT, &count);
  check(got[0] == 10 * left && status.source == left && status.tag == 7 && count == 1, "status");
  MPI_Allreduce(HANDLE(1), &mine, 1, INT, HANDLE(0x22), WORLD); /* In place, least. */
  check(mine == 0, "minimum in place");
  MPI_Allreduce(&rank, &sum, 1, INT, HANDLE(0x21), WORLD);
  check(sum == ranks * (ranks - 1) / 2, "sum");
  MPI_Comm_split(WORLD, rank % 2 == 0 ? 0 : -32766, 0, &half); /* Undefined: no communicator. */
  check((half == HANDLE(0x100)) == (rank % 2 == 1), "null handle of a split");
  if (rank % 2 == 0) MPI_Comm_free(&half);

  int64_t out[6] = {rank, 1, 2, 3, 4, 5}, in[6] = {0};
  MPI_Type_contiguous(2, INT64, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_size_c(pair, &size);
  check(size == 16, "size of a type");
  MPI_Irecv(in, 3, pair, left, 9, WORLD, &requests[0]);
  MPI_Isend(out, 3, pair, right, 9, WORLD, &requests[1]);
  MPI_Waitall(2, requests, both);
  check(in[0] == left && in[5] == 5 && both[0].source == left && both[0].tag == 9, "pairs");
  check(requests[0] == HANDLE(0x180) && requests[1] == HANDLE(0x180),
        "requests are null when done");

  MPI_Comm_set_errhandler(WORLD, HANDLE(0x142)); /* Errors return. */
  const int code = MPI_Send(out, 1, INT, ranks, 0, WORLD);
  check(code != 0 && MPI_Error_class(code, &error) == 0 && error == 6, "class of a wrong rank");
  MPI_Get_library_version(version, &length);
  check(PMPI_Wtime() >= 0, "clock");
  if (rank == 0) printf("%.*s\n", (int)strcspn(version, " \n,"), version);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong > 0;
}
