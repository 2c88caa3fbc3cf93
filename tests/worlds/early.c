/* SPDX-License-Identifier: Apache-2.0
 * What a program makes before MPI_Init stays valid after it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int handled;

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
}

int main(int argc, char** argv) {
  int wrong = 0, keys = -1, flag = 0, length = 16, class = -1, code = -1, rank = -1, size = 0;
  char value[16] = "";
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Info info, copy;
  MPI_Errhandler handler;
  MPI_Info_create(&info);
  MPI_Info_set(info, "colour", "blue");
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "an early error");

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info_get_nkeys(info, &keys);
  wrong += keys != 1;
  MPI_Info_get_string(info, "colour", &length, value, &flag);
  wrong += !flag || strcmp(value, "blue") != 0;
  MPI_Info_dup(info, &copy);
  MPI_Info_free(&info);
  wrong += info != MPI_INFO_NULL;
  MPI_Info_free(&copy);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  wrong += handled != 1;
  MPI_Errhandler_free(&handler);
  MPI_Error_string(code, text, &size);
  wrong += strcmp(text, "an early error") != 0;
  MPI_Error_class(code, &flag);
  wrong += flag != class;
  MPI_Add_error_class(&flag);
  wrong += flag <= code;
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  MPI_Info_create(&info);
  MPI_Info_free(&info);
  return 0;
}
