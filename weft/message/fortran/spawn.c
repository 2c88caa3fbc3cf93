/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that start later: arrays of texts of one length, the last one blank. */
#include "fortran.h"

static int* errcodes_of(int* argument) {
  return argument == mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : argument;
}

static int is_blank(const char* text, size_t length) {
  while (length > 0 && *text == ' ') ++text, --length;
  return length == 0;
}

/* The texts at first, first + stride, ... up to a blank one, and a null pointer. */
static char** texts_of(const char* first, size_t length, size_t stride) {
  size_t count = 0;
  while (!is_blank(first + count * stride, length)) ++count;
  char** texts = malloc((count + 1) * sizeof *texts);
  for (size_t i = 0; i < count; ++i) texts[i] = text_of(first + i * stride, length, 1);
  texts[count] = NULL;
  return texts;
}

/* Elsewhere the programs and their arguments mean nothing, and need not be there. */
static int is_root(int comm, int root) {
  int rank = -1;
  return PMPI_Comm_rank(comm_of(comm), &rank) == MPI_SUCCESS && rank == root;
}

static void free_texts(char** texts) {
  for (char** text = texts; text && *text; ++text) free(*text);
  free(texts);
}

WRAPPER(comm_spawn, (const char* command, char* argv, int* maxprocs, int* info, int* root,
                     int* comm, int* intercomm, int* array_of_errcodes, int* ierror,
                     size_t command_length, size_t argv_length)) {
  MPI_Comm made = MPI_COMM_NULL;
  const int here = is_root(*comm, *root);
  char* c_command = here ? text_of(command, command_length, 1) : NULL;
  char** c_argv = !here || argv == mpi_fortran_argv_null_
                      ? MPI_ARGV_NULL
                      : texts_of(argv, argv_length, argv_length);
  *ierror = PMPI_Comm_spawn(c_command, c_argv, *maxprocs, here ? info_of(*info) : MPI_INFO_NULL,
                            *root, comm_of(*comm), &made, errcodes_of(array_of_errcodes));
  if (*ierror == MPI_SUCCESS) *intercomm = comm_number(made);
  free(c_command);
  free_texts(c_argv);
}

/* The arguments of command i are the elements (i, 1), (i, 2), ... of a matrix. */
WRAPPER(comm_spawn_multiple, (int* count, char* commands, char* argvs, int* maxprocs, int* infos,
                              int* root, int* comm, int* intercomm, int* array_of_errcodes,
                              int* ierror, size_t command_length, size_t argv_length)) {
  MPI_Comm made = MPI_COMM_NULL;
  const size_t number = *count > 0 && is_root(*comm, *root) ? (size_t)*count : 0;
  char** c_commands = calloc(number + 1, sizeof *c_commands);
  char*** c_argvs =
      argvs == mpi_fortran_argvs_null_ ? MPI_ARGVS_NULL : calloc(number + 1, sizeof *c_argvs);
  MPI_Info* c_infos = calloc(number + 1, sizeof *c_infos);
  for (size_t i = 0; i < number; ++i) {
    c_commands[i] = text_of(commands + i * command_length, command_length, 1);
    if (c_argvs) {
      c_argvs[i] = texts_of(argvs + i * argv_length, argv_length, number * argv_length);
    }
    c_infos[i] = info_of(infos[i]);
  }
  *ierror = PMPI_Comm_spawn_multiple(*count, c_commands, c_argvs, maxprocs, c_infos, *root,
                                     comm_of(*comm), &made, errcodes_of(array_of_errcodes));
  if (*ierror == MPI_SUCCESS) *intercomm = comm_number(made);
  for (size_t i = 0; c_argvs && i < number; ++i) free_texts(c_argvs[i]);
  free_texts(c_commands);
  free(c_argvs);
  free(c_infos);
}
