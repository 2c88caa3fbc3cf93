/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the program completes itself, with functions in Fortran. */
#include "fortran.h"

typedef void Query(MPI_Aint* extra_state, MPI_Status* status, int* ierror);
typedef void Free(MPI_Aint* extra_state, int* ierror);
typedef void Cancel(MPI_Aint* extra_state, int* complete, int* ierror);

/* The program's functions see a copy of its extra state, since the variable may be gone by then.
   What the last of them changes goes back into the variable: other libraries have no copy, and
   programs look at it. */
struct functions {
  Query* query;
  Free* free;
  Cancel* cancel;
  MPI_Aint extra_state;
  MPI_Aint* variable;
};

static int call_query(void* extra_state, MPI_Status* status) {
  struct functions* functions = extra_state;
  int error = MPI_SUCCESS;
  functions->query(&functions->extra_state, status, &error);
  return error;
}

static int call_free(void* extra_state) {
  struct functions* functions = extra_state;
  const MPI_Aint before = functions->extra_state;
  int error = MPI_SUCCESS;
  functions->free(&functions->extra_state, &error);
  if (functions->extra_state != before) *functions->variable = functions->extra_state;
  free(functions);
  return error;
}

static int call_cancel(void* extra_state, int complete) {
  struct functions* functions = extra_state;
  int error = MPI_SUCCESS, flag = complete != 0;
  functions->cancel(&functions->extra_state, &flag, &error);
  return error;
}

WRAPPER(grequest_start, (Query * query, Free* free_function, Cancel* cancel, MPI_Aint* extra_state,
                         int* request, int* ierror)) {
  MPI_Request made = MPI_REQUEST_NULL;
  struct functions* functions = malloc(sizeof *functions);
  *functions = (struct functions){query, free_function, cancel, *extra_state, extra_state};
  *ierror = PMPI_Grequest_start(call_query, call_free, call_cancel, functions, &made);
  if (*ierror == MPI_SUCCESS) {
    *request = request_number(made);
  } else {
    free(functions);
  }
}
