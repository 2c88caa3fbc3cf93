/* SPDX-License-Identifier: Apache-2.0 */
/* How many ranks a collective operation has on the other side: the length of arrays. */
#include "fortran.h"

int weft_fortran_peers(MPI_Comm comm) {
  int inter = 0, count = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  if (inter) {
    PMPI_Comm_remote_size(comm, &count);
  } else {
    PMPI_Comm_size(comm, &count);
  }
  return count;
}
