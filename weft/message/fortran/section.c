/* SPDX-License-Identifier: Apache-2.0 */
/* How a section of an array becomes something that MPI takes: a copy without gaps, or a type with
 * them. */
#include "section.h"

/* A scalar and an array of unknown size (the last extent is -1 then) have no gaps. */
static int has_gaps(const CFI_cdesc_t* a) {
  ptrdiff_t next = (ptrdiff_t)a->elem_len;
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

static void move(const CFI_cdesc_t* a, char* packed, int out) {
  CFI_index_t at[CFI_MAX_RANK] = {0};
  char* place = a->base_addr;
  for (size_t left = elements(a); left > 0; --left) {
    memcpy(out ? packed : place, out ? place : packed, a->elem_len);
    packed += a->elem_len;
    place += step(a, at);
  }
}

static void refuse(int* ierror, int error) {
  *ierror = error;
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, error);
}

void weft_f08_address(struct section* s, const CFI_cdesc_t* buffer, int* ierror) {
  (void)ierror;
  s->address = buffer->base_addr;
}

void weft_f08_whole(struct section* s, const CFI_cdesc_t* buffer, int* ierror) {
  s->address = buffer->base_addr;
  if (*ierror == MPI_SUCCESS && has_gaps(buffer)) refuse(ierror, MPI_ERR_BUFFER);
}

void weft_f08_copy(struct section* s, const CFI_cdesc_t* buffer, int* ierror) {
  s->address = buffer->base_addr;
  if (*ierror != MPI_SUCCESS || !has_gaps(buffer)) return;
  s->copy = malloc(elements(buffer) * buffer->elem_len);
  if (!s->copy) {
    refuse(ierror, MPI_ERR_NO_MEM);
    return;
  }
  s->places = buffer;
  s->address = s->copy;
  move(buffer, s->copy, 1);
}

/* A block for each element of the type. An element of the array holds one or several of them, or
   one of them covers several elements of the array, which must then lie side by side. */
static int make_type(const CFI_cdesc_t* a, MPI_Count count, MPI_Datatype old, MPI_Datatype* made) {
  MPI_Aint lower, extent;
  int error = PMPI_Type_get_extent(old, &lower, &extent);
  if (error != MPI_SUCCESS) return error;
  const MPI_Aint size = (MPI_Aint)a->elem_len;
  if (extent <= 0 || (size % extent != 0 && extent % size != 0)) return MPI_ERR_TYPE;
  const MPI_Count each = size >= extent ? size / extent : 1; /* Types in an element, and ... */
  const MPI_Count over = size >= extent ? 1 : extent / size; /* ... elements in a type. */
  const MPI_Count blocks = (count + each - 1) / each;
  if ((size_t)(blocks * over) > elements(a)) return MPI_ERR_COUNT;
  MPI_Count* lengths = malloc((size_t)blocks * sizeof *lengths + 1);
  MPI_Count* places = malloc((size_t)blocks * sizeof *places + 1);
  CFI_index_t at[CFI_MAX_RANK] = {0};
  MPI_Count place = 0;
  if (!lengths || !places) error = MPI_ERR_NO_MEM;
  for (MPI_Count b = 0; b < blocks && error == MPI_SUCCESS; ++b) {
    places[b] = place;
    lengths[b] = b + 1 < blocks ? each : count - b * each;
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
  if (*ierror != MPI_SUCCESS || count <= 0 || !has_gaps(buffer)) return;
  const int error = make_type(buffer, count, datatype_of(datatype), &made);
  if (error != MPI_SUCCESS) {
    refuse(ierror, error);
    return;
  }
  s->datatype = datatype_number(made);
  s->made = 1;
}

void weft_f08_leave(struct section* s, int changed) {
  if (s->copy) {
    if (changed) move(s->places, s->copy, 0);
    free(s->copy);
  }
  if (s->made) {
    MPI_Datatype made = datatype_of(s->datatype);
    PMPI_Type_free(&made);
  }
}

/* What has no counterpart in mpif.h. */

WRAPPER(buffer_detach_f08ts, (void** buffer_addr, int* size, int* ierror)) {
  const int error = PMPI_Buffer_detach(buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(comm_detach_buffer_f08ts, (int* comm, void** buffer_addr, int* size, int* ierror)) {
  const int error = PMPI_Comm_detach_buffer(comm_of(*comm), buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(session_detach_buffer_f08ts, (int* session, void** buffer_addr, int* size, int* ierror)) {
  const int error = PMPI_Session_detach_buffer(session_of(*session), buffer_addr, size);
  if (ierror) *ierror = error;
}

WRAPPER(status_f2f08_f08ts, (const int* from, int* to, int* ierror)) {
  memcpy(to, from, MPI_F_STATUS_SIZE * sizeof *to);
  if (ierror) *ierror = MPI_SUCCESS;
}

WRAPPER(status_f082f_f08ts, (const int* from, int* to, int* ierror)) {
  memcpy(to, from, MPI_F_STATUS_SIZE * sizeof *to);
  if (ierror) *ierror = MPI_SUCCESS;
}
