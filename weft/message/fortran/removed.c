/* SPDX-License-Identifier: Apache-2.0 */
/* What MPI 3.0 removed and old programs call: addresses as default integers. An address that needs
   more bits loses the upper ones, so that differences of near addresses are right. */
#include "fortran.h"

WRAPPER(address, (void* location, int* address, int* ierror)) {
  MPI_Aint whole = 0;
  *ierror = PMPI_Get_address(buffer_of(location), &whole);
  *address = (int)(uint32_t)whole;
}

static int extent_of(int datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return PMPI_Type_get_extent(datatype_of(datatype), lb, extent);
}

WRAPPER(type_extent, (const int* datatype, int* extent, int* ierror)) {
  MPI_Aint lb = 0, bytes = 0;
  *ierror = extent_of(*datatype, &lb, &bytes);
  *extent = (int)bytes;
}

WRAPPER(type_lb, (const int* datatype, int* displacement, int* ierror)) {
  MPI_Aint lb = 0, bytes = 0;
  *ierror = extent_of(*datatype, &lb, &bytes);
  *displacement = (int)lb;
}

WRAPPER(type_ub, (const int* datatype, int* displacement, int* ierror)) {
  MPI_Aint lb = 0, bytes = 0;
  *ierror = extent_of(*datatype, &lb, &bytes);
  *displacement = (int)(lb + bytes);
}

WRAPPER(type_hvector, (const int* count, const int* blocklength, const int* stride,
                       const int* oldtype, int* newtype, int* ierror)) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  *ierror = PMPI_Type_create_hvector(*count, *blocklength, *stride, datatype_of(*oldtype), &made);
  if (*ierror == MPI_SUCCESS) *newtype = datatype_number(made);
}

static MPI_Aint* widened(int count, const int* displacements) {
  MPI_Aint* wide = malloc((count > 0 ? (size_t)count : 1) * sizeof *wide);
  for (int i = 0; i < count; ++i) wide[i] = displacements[i];
  return wide;
}

WRAPPER(type_hindexed, (const int* count, const int* blocklengths, const int* displacements,
                        const int* oldtype, int* newtype, int* ierror)) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Aint* wide = widened(*count, displacements);
  *ierror = PMPI_Type_create_hindexed(*count, blocklengths, wide, datatype_of(*oldtype), &made);
  if (*ierror == MPI_SUCCESS) *newtype = datatype_number(made);
  free(wide);
}

WRAPPER(type_struct, (const int* count, const int* blocklengths, const int* displacements,
                      const int* types, int* newtype, int* ierror)) {
  MPI_Datatype made = MPI_DATATYPE_NULL, few[few_handles] = {0};
  MPI_Datatype* old = room_for(*count, few);
  MPI_Aint* wide = widened(*count, displacements);
  for (int i = 0; i < *count; ++i) old[i] = datatype_of(types[i]);
  *ierror = PMPI_Type_create_struct(*count, blocklengths, wide, old, &made);
  if (*ierror == MPI_SUCCESS) *newtype = datatype_number(made);
  free(wide);
  leave_room(old, few);
}
