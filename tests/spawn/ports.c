/* SPDX-License-Identifier: Apache-2.0
 * Two halves of a job find each other by a published port, again and again.
 * Usage: ports [ROUNDS] */
#include "check.h"

static void find_nothing(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm none = MPI_COMM_WORLD;
  CHECK(class_of(MPI_Lookup_name("nobody", MPI_INFO_NULL, port)) == MPI_ERR_NAME);
  CHECK(class_of(MPI_Unpublish_name("nobody", MPI_INFO_NULL, "x")) == MPI_ERR_SERVICE);
  CHECK(class_of(MPI_Close_port("nobody")) == MPI_ERR_PORT);
  CHECK(class_of(MPI_Comm_connect("nobody", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &none)) ==
        MPI_ERR_PORT);
  CHECK(none == MPI_COMM_NULL);
}

static void serve(MPI_Comm half, int rounds) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank_in(half) == 0) {
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Publish_name("a service", MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(class_of(MPI_Publish_name("a service", MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter) == MPI_SUCCESS);
    int sum = 0;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum % 7 == 0);
    MPI_Comm_disconnect(&inter);
    CHECK(inter == MPI_COMM_NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(half) == 0) {
    CHECK(MPI_Unpublish_name("a service", MPI_INFO_NULL, port) == MPI_SUCCESS);
    CHECK(MPI_Close_port(port) == MPI_SUCCESS);
  }
}

static void use(MPI_Comm half, int rounds) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Barrier(MPI_COMM_WORLD);
  const int root = size_of(half) - 1;
  if (rank_in(half) == root)
    CHECK(MPI_Lookup_name("a service", MPI_INFO_NULL, port) == MPI_SUCCESS);
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, root, half, &inter) == MPI_SUCCESS);
    int others = 0, sum = 0;
    const int seven = 7;
    MPI_Comm_remote_size(inter, &others);
    MPI_Allreduce(&seven, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == i * others);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int rank = rank_in(MPI_COMM_WORLD), rounds = argc > 1 ? atoi(argv[1]) : 3;
  find_nothing();
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (rank % 2 == 0) {
    serve(half, rounds);
  } else {
    use(half, rounds);
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
