// SPDX-License-Identifier: Apache-2.0
// Messages that are cancelled, or whose memory does not bear them.
//
// messages cancel                 rank 0 cancels large sends while rank 1 is busy elsewhere
// messages unwritable [return]    a page of the receive buffer cannot be written to
// messages unreadable             a page of the send buffer cannot be read
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { size = 8 << 20, page = 65536 };  // Whole pages, however large they are.
static int rank;

static void fail(const char* what) {
  fprintf(stderr, "wrong: %s, rank %d\n", what, rank);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// The receiver sleeps for two seconds, of the clock that the program sees. Before that it has
// posted a receive, which matches the first send if it looks at its messages.
static void cancel(char* data) {
  const double begin = MPI_Wtime();
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  if (rank == 0) {
    for (int i = 0; i < 3; ++i) {
      (i == 1 ? MPI_Issend : MPI_Isend)(data, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &cancelled);
      if (!cancelled) fail("not cancelled");
      memset(data, i, size);
    }
    if (MPI_Wtime() - begin > 1) fail("cancelling took long");
    memset(data, 7, size);
    MPI_Send(data, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (MPI_Wtime() - begin < 1) fail("the receiver was not busy");
    printf("ok\n");
  } else if (rank == 1) {
    MPI_Irecv(data, size, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    sleep(2);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    int count = 0;
    MPI_Get_count(&status, MPI_CHAR, &count);
    if (cancelled || count != size) fail("another message");
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &cancelled, MPI_STATUS_IGNORE);
    if (cancelled) fail("a cancelled message is there");
  }
}

// Rank 1 must get an error, or rank 0, or both; what matters is that none waits for ever.
static void spoil(char* data, int spoiled, int protection) {
  MPI_Request request;
  if (rank == 1) MPI_Irecv(data, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
  if (rank == spoiled) mprotect(data + size / 2, page, protection);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Isend(data, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
  const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d: %s\n", rank, code == MPI_SUCCESS ? "success" : "an error");
  fflush(stdout);
  _exit(0);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(data, rank + 1, size);
  if (count > 2) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const char* what = count > 1 ? words[1] : "";
  if (strcmp(what, "cancel") == 0) cancel(data);
  if (strcmp(what, "unwritable") == 0) spoil(data, 1, PROT_READ);
  if (strcmp(what, "unreadable") == 0) spoil(data, 0, PROT_NONE);
  MPI_Finalize();
  return 0;
}
