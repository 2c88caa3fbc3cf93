/* SPDX-License-Identifier: Apache-2.0
 * Programs that cannot be started, or end before they come to MPI_Init.
 * Usage: refused [CLASS], the class of error where nothing can be started */
#include "check.h"

static void refuse(char* program, char** words, MPI_Info info, int most) {
  int codes[4] = {77, 77, 77, 77};
  MPI_Comm inter = MPI_COMM_WORLD;
  const int code = MPI_Comm_spawn(program, words, most, info, 0, MPI_COMM_WORLD, &inter, codes);
  CHECK(class_of(code) == MPI_ERR_SPAWN);
  CHECK(inter == MPI_COMM_NULL);
  for (int i = 0; i < most; ++i) CHECK(class_of(codes[i]) == MPI_ERR_SPAWN);
}

static void refuse_with(const char* key, const char* value) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  refuse("/bin/true", MPI_ARGV_NULL, info, 2);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm inter = MPI_COMM_NULL;
  if (argc > 1) {
    CHECK(class_of(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                  &inter, MPI_ERRCODES_IGNORE)) == atoi(argv[1]));
  } else {
    char* seven[] = {"-c", "exit 7", NULL};
    refuse("/does/not/exist", MPI_ARGV_NULL, MPI_INFO_NULL, 4);
    refuse("nor-does-this", MPI_ARGV_NULL, MPI_INFO_NULL, 1);
    refuse("/bin/true", MPI_ARGV_NULL, MPI_INFO_NULL, 3);
    refuse("/bin/sh", seven, MPI_INFO_NULL, 2);
    refuse_with("host", "no.such.host");
    refuse_with("arch", "pdp11");
    refuse_with("file", "/dev/null");
    refuse_with("wdir", "/does/not/exist");
    refuse_with("soft", "5:9");
    CHECK(class_of(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                  &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 99, MPI_COMM_WORLD,
                                  &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_ROOT);
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
