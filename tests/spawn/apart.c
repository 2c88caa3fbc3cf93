/* SPDX-License-Identifier: Apache-2.0
 * A child that ends early: it takes those with it that are connected to it, and nobody else.
 * Usage: apart connected|disconnected|handled|parent|abort|exit */
#include "check.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

static void work(double seconds) {
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end; usleep(1000)) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  const char* how = argv[1];
  if (parent != MPI_COMM_NULL) {
    MPI_Barrier(parent);
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(how, "exit") == 0) exit(6);
    if (strcmp(how, "disconnected") == 0 || strcmp(how, "parent") == 0)
      MPI_Comm_disconnect(&parent);
    if (strcmp(how, "parent") == 0) {
      work(1.0);
      printf("the child is there\n");
      MPI_Finalize();
      return 0;
    }
    raise(SIGKILL);
  }
  if (strcmp(how, "handled") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_spawn(argv[0], &argv[1], 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                 MPI_ERRCODES_IGNORE);
  MPI_Barrier(inter);
  if (strcmp(how, "handled") == 0) {
    int word = 0, lost = 0;
    const int code = MPI_Recv(&word, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == MPI_ERR_PROC_FAILED);
    MPI_Group failed = MPI_GROUP_NULL;
    MPI_Comm_get_failed(inter, &failed);
    MPI_Group_size(failed, &lost);
    CHECK(lost == 1);
    MPI_Group_free(&failed);
    MPI_Comm_disconnect(&inter);
  } else if (strcmp(how, "disconnected") == 0 || strcmp(how, "parent") == 0) {
    MPI_Comm_disconnect(&inter);
    if (strcmp(how, "parent") == 0) raise(SIGKILL);
  }
  work(1.5);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
