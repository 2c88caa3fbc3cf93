/* SPDX-License-Identifier: Apache-2.0 */
/* How a section of an array becomes something that MPI takes: a copy without gaps, or a type with
 * them. */
#include "section.h"

int weft_f08_has_gaps(const CFI_cdesc_t* a) {
  ptrdiff_t next = (ptrdiff_t)a->elem_len;
  if (!a->base_addr) return 0;
  for (int d = 0; d < a->rank; ++d) {
    if (a->dim[d].extent == 0) return 0;
  }
  for (int d = 0; d < a->rank; ++d) {
    if (a->dim[d].extent != 1 && a->dim[d].sm != next) return 1;
    next *= a->dim[d].extent;
  }
  return 0;
}

static size_t elements(const CFI_cdesc_t* a) {
  size_t count = 1;
  for (int d = 0; d < a->rank; ++d) count *= (size_t)a->dim[d].extent;
  return count;
}

/* Goes on to the next element in array order, and by how many bytes it is further. */
static ptrdiff_t step(const CFI_cdesc_t* a, CFI_index_t* at) {
  ptrdiff_t moved = 0;
  for (int d = 0; d < a->rank; ++d) {
    moved += a->dim[d].sm;
    if (++at[d] < a->dim[d].extent) break;
    moved -= a->dim[d].sm * a->dim[d].extent;
    at[d] = 0;
  }
  return moved;
}

static void move(const CFI_cdesc_t* a, size_t count, char* packed, int out) {
  CFI_index_t at[CFI_MAX_RANK] = {0};
  char* place = a->base_addr;
  for (size_t left = count; left > 0; --left) {
    memcpy(out ? packed : place, out ? place : packed, a->elem_len);
    packed += a->elem_len;
    place += step(a, at);
  }
}

void weft_f08_address(struct section* s, const CFI_cdesc_t* buffer, int* ierror) {
  (void)ierror;
  s->address = buffer->base_addr;
}

void weft_f08_whole(struct section* s, const CFI_cdesc_t* buffer, int* ierror) {
  s->address = buffer->base_addr;
  if (*ierror == MPI_SUCCESS && weft_f08_has_gaps(buffer)) *ierror = MPI_ERR_BUFFER;
}

/* Whether the data of a type lie within its extent, so that neighbours do not overlap. */
static int within_extent(MPI_Datatype type, MPI_Aint* extent, int* error) {
  MPI_Aint lower, true_lower, true_extent;
  *error = PMPI_Type_get_extent(type, &lower, extent);
  if (*error != MPI_SUCCESS) return 0;
  *error = PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  return *error == MPI_SUCCESS && *extent > 0 && true_lower >= 0 &&
         true_lower + true_extent <= *extent;
}

/* What is wrong with the others is said by the function itself. */
static int counts(MPI_Count count, int datatype) {
  return count > 0 && datatype_of(datatype) != MPI_DATATYPE_NULL;
}

static void copy(struct section* s, const CFI_cdesc_t* buffer, size_t count, int* ierror) {
  s->copy = malloc(count * buffer->elem_len + 1);
  if (!s->copy) {
    *ierror = MPI_ERR_NO_MEM;
    return;
  }
  s->places = buffer;
  s->copied = count;
  s->address = s->copy;
  move(buffer, count, s->copy, 1);
}

void weft_f08_copy(struct section* s, const CFI_cdesc_t* buffer, int* ierror) {
  s->address = buffer->base_addr;
  if (*ierror == MPI_SUCCESS && weft_f08_has_gaps(buffer))
    copy(s, buffer, elements(buffer), ierror);
}

void weft_f08_copy_first(struct section* s, const CFI_cdesc_t* buffer, MPI_Count count,
                         int datatype, int* ierror) {
  s->address = buffer->base_addr;
  if (*ierror != MPI_SUCCESS || !counts(count, datatype) || !weft_f08_has_gaps(buffer)) return;
  int error;
  MPI_Aint extent;
  size_t used = elements(buffer);
  if (within_extent(datatype_of(datatype), &extent, &error)) {
    const size_t bytes = (size_t)count * (size_t)extent;
    const size_t needed = (bytes + buffer->elem_len - 1) / buffer->elem_len;
    if (needed < used) used = needed;
  }
  if (error == MPI_SUCCESS) copy(s, buffer, used, ierror);
}

/* An element of the array holds one or several elements of the type, or one of these covers several
   of the array, which must then lie side by side. What lies side by side is one block. */
static int make_type(const CFI_cdesc_t* a, MPI_Count count, MPI_Datatype old, MPI_Datatype* made) {
  int error;
  MPI_Aint extent;
  if (!within_extent(old, &extent, &error)) return error == MPI_SUCCESS ? MPI_ERR_BUFFER : error;
  const MPI_Aint size = (MPI_Aint)a->elem_len;
  if (size % extent != 0 && extent % size != 0) return MPI_ERR_BUFFER;
  const MPI_Count each = size >= extent ? size / extent : 1; /* Types in an element, and ... */
  const MPI_Count over = size >= extent ? 1 : extent / size; /* ... elements in a type. */
  const MPI_Count places_max = (count + each - 1) / each;
  if ((size_t)(places_max * over) > elements(a)) return MPI_ERR_COUNT;
  MPI_Count* lengths = malloc((size_t)places_max * sizeof *lengths);
  MPI_Count* places = malloc((size_t)places_max * sizeof *places);
  CFI_index_t at[CFI_MAX_RANK] = {0};
  MPI_Count place = 0, blocks = 0;
  if (!lengths || !places) error = MPI_ERR_NO_MEM;
  for (MPI_Count left = count; left > 0 && error == MPI_SUCCESS; left -= each) {
    const MPI_Count here = left < each ? left : each;
    if (blocks > 0 && place == places[blocks - 1] + lengths[blocks - 1] * extent) {
      lengths[blocks - 1] += here;
    } else {
      places[blocks] = place;
      lengths[blocks++] = here;
    }
    for (MPI_Count e = 1; e <= over; ++e) {
      const ptrdiff_t moved = step(a, at);
      if (e < over && moved != size) error = MPI_ERR_BUFFER;
      place += moved;
    }
  }
  if (error == MPI_SUCCESS) error = PMPI_Type_create_hindexed_c(blocks, lengths, places, old, made);
  free(lengths);
  free(places);
  return error == MPI_SUCCESS ? PMPI_Type_commit(made) : error;
}

void weft_f08_describe(struct section* s, const CFI_cdesc_t* buffer, MPI_Count count, int datatype,
                       int* ierror) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  s->address = buffer->base_addr;
  if (*ierror != MPI_SUCCESS || !counts(count, datatype) || !weft_f08_has_gaps(buffer)) return;
  *ierror = make_type(buffer, count, datatype_of(datatype), &made);
  if (*ierror != MPI_SUCCESS) return;
  s->datatype = datatype_number(made);
  s->made = 1;
}

void weft_f08_leave(struct section* s, int changed) {
  if (s->copy) {
    if (changed) move(s->places, s->copied, s->copy, 0);
    free(s->copy);
  }
  if (s->made) {
    MPI_Datatype made = datatype_of(s->datatype);
    PMPI_Type_free(&made);
  }
}
