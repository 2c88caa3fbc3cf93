/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes are pointers in C and integers in Fortran. One that was set in Fortran is the address
   of its value, which is what C expects to find; Fortran gets the value itself. One that was set in
   C is an address, and Fortran gets that as an integer. */
#include "fortran.h"

struct box {
  MPI_Aint value; /* First: where C reads. A default integer is found there too. */
  struct box* next;
};
static struct box* all;

void* weft_fortran_box(MPI_Aint value) {
  struct box* box = malloc(sizeof *box);
  *box = (struct box){value, all};
  all = box;
  return box;
}

static struct box** find(const void* pointer) {
  struct box** link = &all;
  while (*link && *link != pointer) link = &(*link)->next;
  return link;
}

MPI_Aint weft_fortran_unboxed(const void* pointer) {
  const struct box* box = *find(pointer);
  return box ? box->value : (MPI_Aint)pointer;
}

void weft_fortran_free_box(void* pointer) {
  struct box **link = find(pointer), *box = *link;
  if (!box) return;
  *link = box->next;
  free(box);
}
