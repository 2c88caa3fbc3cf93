/* SPDX-License-Identifier: Apache-2.0
 * Opens a file that is not there, and handles no errors of files. */
#include <mpi.h>

int main(int count, char** words) {
  MPI_File file;
  MPI_Init(&count, &words);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Finalize();
  return 0;
}
