/* SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stddef.h>

void in_c_(const int* comm, int* made, int* type, int* status) {
  MPI_Comm own;
  MPI_Datatype five;
  MPI_Status copy;
  int rank;
  MPI_Comm_rank(MPI_Comm_f2c(*comm), &rank);
  MPI_Comm_split(MPI_Comm_f2c(*comm), rank, 0, &own);
  MPI_Comm_set_name(own, "from C");
  MPI_Type_contiguous(5, MPI_Type_f2c(MPI_Type_c2f(MPI_REAL)), &five);
  MPI_Status_f2c(status, &copy);
  if (copy.MPI_SOURCE == rank && copy.MPI_TAG == 3) copy.MPI_TAG = 4;
  MPI_Status_c2f(&copy, status);
  *made = MPI_Comm_c2f(own);
  *type = MPI_Type_c2f(five);
}

void attributes_in_c_(const int* comm, const int* key, const int* old_key, int* c_key, int* right) {
  MPI_Comm own = MPI_Comm_f2c(*comm);
  MPI_Aint* value = NULL;
  int *number = NULL, found = 0, found_old = 0;
  MPI_Comm_get_attr(own, *key, &value, &found);
  MPI_Comm_get_attr(own, *old_key, &number, &found_old);
  *right = found && *value == -7000000000 && found_old && *number == -7;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, c_key, NULL);
  MPI_Comm_set_attr(own, *c_key, (void*)48);
}
