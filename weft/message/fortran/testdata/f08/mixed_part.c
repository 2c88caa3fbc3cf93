/* SPDX-License-Identifier: Apache-2.0 */
/* The C side: a handle of Fortran 2008 is a structure with a number in it. */
#include <mpi.h>
#include <stddef.h>

typedef struct {
  MPI_Fint value;
} Handle;

void in_c(const Handle* comm, Handle* made, Handle* type, MPI_F08_status* status) {
  MPI_Comm own;
  MPI_Datatype five;
  MPI_Status copy;
  MPI_Fint old[MPI_F_STATUS_SIZE];
  int rank;
  MPI_Comm_rank(MPI_Comm_f2c(comm->value), &rank);
  MPI_Comm_split(MPI_Comm_f2c(comm->value), rank, 0, &own);
  MPI_Comm_set_name(own, "from C");
  MPI_Type_contiguous(5, MPI_Type_f2c(MPI_Type_c2f(MPI_REAL)), &five);
  MPI_Status_f082c(status, &copy);
  if (copy.MPI_SOURCE == rank && copy.MPI_TAG == 3) copy.MPI_TAG = 4;
  MPI_Status_c2f08(&copy, status);
  MPI_Status_f082f(status, old);
  ++old[MPI_F_TAG];
  MPI_Status_f2f08(old, status);
  made->value = MPI_Comm_c2f(own);
  type->value = MPI_Type_c2f(five);
}

void attributes_in_c(const Handle* comm, const int* key, int* c_key, int* right) {
  MPI_Comm own = MPI_Comm_f2c(comm->value);
  MPI_Aint* value = NULL;
  int found = 0;
  MPI_Comm_get_attr(own, *key, &value, &found);
  *right = found && *value == -7000000000;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, c_key, NULL);
  MPI_Comm_set_attr(own, *c_key, (void*)48);
}
