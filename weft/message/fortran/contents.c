/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Type_get_contents in Fortran: it returns an array of handles. */
#include "fortran.h"

/* Only as many datatypes come back as there are. */
WRAPPER(type_get_contents, (const int* datatype, const int* max_integers, const int* max_addresses,
                            const int* max_datatypes, int* integers, MPI_Aint* addresses,
                            int* datatypes, int* ierror)) {
  int integer_count, address_count, count = 0, combiner;
  MPI_Datatype few[few_handles];
  *ierror = PMPI_Type_get_envelope(datatype_of(*datatype), &integer_count, &address_count, &count,
                                   &combiner);
  if (*ierror != MPI_SUCCESS) return;
  MPI_Datatype* found = room_for(*max_datatypes, few);
  *ierror = PMPI_Type_get_contents(datatype_of(*datatype), *max_integers, *max_addresses,
                                   *max_datatypes, integers, addresses, found);
  for (int i = 0; *ierror == MPI_SUCCESS && i < count; ++i) {
    datatypes[i] = datatype_number(found[i]);
  }
  leave_room(found, few);
}

WRAPPER(type_get_contents_c,
        (const int* datatype, const MPI_Count* max_integers, const MPI_Count* max_addresses,
         const MPI_Count* max_large_counts, const MPI_Count* max_datatypes, int* integers,
         MPI_Aint* addresses, MPI_Count* large_counts, int* datatypes, int* ierror)) {
  MPI_Count integer_count, address_count, large_count, count = 0;
  int combiner;
  MPI_Datatype few[few_handles];
  *ierror = PMPI_Type_get_envelope_c(datatype_of(*datatype), &integer_count, &address_count,
                                     &large_count, &count, &combiner);
  if (*ierror != MPI_SUCCESS) return;
  MPI_Datatype* found = room_for((int)*max_datatypes, few);
  *ierror = PMPI_Type_get_contents_c(datatype_of(*datatype), *max_integers, *max_addresses,
                                     *max_large_counts, *max_datatypes, integers, addresses,
                                     large_counts, found);
  for (MPI_Count i = 0; *ierror == MPI_SUCCESS && i < count; ++i) {
    datatypes[i] = datatype_number(found[i]);
  }
  leave_room(found, few);
}
