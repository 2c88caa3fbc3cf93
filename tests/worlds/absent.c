/* SPDX-License-Identifier: Apache-2.0
 * What the library does not have links, and says so by an error. */
#include "check.h"

static int told = 0;
static void remember(MPI_File* file, int* code, ...) {
  CHECK(*file == MPI_FILE_NULL);
  told = *code;
}

int main(int count, char** words) {
  int rank, data = 0;
  char port[MPI_MAX_PORT_NAME];
  MPI_Offset offset = 0;
  MPI_File file = MPI_FILE_NULL;
  MPI_Errhandler handler, got;
  MPI_Comm comm;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* Errors of files return, unless the program says otherwise. */
  const int absent = MPI_ERR_UNSUPPORTED_OPERATION;
  CHECK(MPI_File_open(MPI_COMM_WORLD, "nowhere", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == absent);
  CHECK(file == MPI_FILE_NULL);
  CHECK(MPI_File_write_at_all(file, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE) == absent);
  CHECK(MPI_File_read_ordered_begin_c(file, &data, 1, MPI_INT) == absent);
  CHECK(MPI_File_get_position_shared(file, &offset) == absent);
  CHECK(MPI_File_delete("nowhere", MPI_INFO_NULL) == absent);
  MPI_File_create_errhandler(remember, &handler);
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, handler) == MPI_SUCCESS);
  CHECK(MPI_File_get_errhandler(MPI_FILE_NULL, &got) == MPI_SUCCESS && got == handler);
  CHECK(MPI_File_close(&file) == absent && told == absent);
  MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO);
  CHECK(told == MPI_ERR_IO);
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&got);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_spawn("nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm,
                       MPI_ERRCODES_IGNORE) == absent);
  CHECK(MPI_Open_port(MPI_INFO_NULL, port) == absent);
  CHECK(MPI_Comm_accept("port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm) == absent);
  CHECK(MPI_Lookup_name("service", MPI_INFO_NULL, port) == absent);
  CHECK(MPI_Comm_join(0, &comm) == absent);
  report(rank);
  MPI_Finalize();
  return 0;
}
