/* SPDX-License-Identifier: Apache-2.0
 * Two ranks that have a socket join over it; and one that meets a stranger does not. */
#include "check.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket in the abstract name space: nobody else's, gone with the job. */
static int connect_both(int rank, int number) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "weft-sockets-%d", number);
  const int mine = socket(AF_UNIX, SOCK_STREAM, 0);
  if (rank == 0) {
    CHECK(bind(mine, (struct sockaddr*)&name, sizeof name) == 0);
    CHECK(listen(mine, 1) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    CHECK(connect(mine, (struct sockaddr*)&name, sizeof name) == 0);
    return mine;
  }
  const int theirs = accept(mine, NULL, NULL);
  close(mine);
  return theirs;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD);
  int number = (int)getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const int socket = connect_both(rank, number);
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK(MPI_Comm_join(socket, &inter) == MPI_SUCCESS);
  int others = 0, word = 0;
  MPI_Comm_remote_size(inter, &others);
  CHECK(others == 1 && size_of(inter) == 1);
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &word, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
  CHECK(word == 1 - rank);
  MPI_Comm_disconnect(&inter);
  if (rank == 0) { /* A library of another kind, or of another job. */
    char text[MPI_MAX_PORT_NAME] = "something else";
    CHECK(write(socket, text, sizeof text) == (ssize_t)sizeof text);
    CHECK(read(socket, text, sizeof text) > 0);
  } else {
    CHECK(MPI_Comm_join(socket, &inter) == MPI_SUCCESS);
    CHECK(inter == MPI_COMM_NULL);
  }
  close(socket);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
