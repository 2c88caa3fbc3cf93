/* SPDX-License-Identifier: Apache-2.0
 * Buffers for buffered sends: of the process, of a communicator, of a session; splits of a
 * communicator by kinds of hardware; persistent collectives whose arrays are gone. */
#include "check.h"
#include <stdlib.h>

static int rank, size;

static void exchange(MPI_Comm comm, int expected) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int out[64], in[64];
  for (int i = 0; i < 64; ++i) out[i] = rank + i;
  CHECK(MPI_Bsend(out, 64, MPI_INT, next, 1, comm) == expected);
  if (expected != MPI_SUCCESS) return;
  for (int i = 0; i < 64; ++i) out[i] = -1; /* It is copied. */
  CHECK(MPI_Recv(in, 64, MPI_INT, before, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(in[0] == before && in[63] == before + 63);
}

static void buffers(void) {
  char own[4096], of_comm[4096];
  void* memory = NULL;
  int bytes = 0;
  MPI_Count many = 0;
  MPI_Request request;
  MPI_Comm comm, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  exchange(comm, MPI_ERR_BUFFER);
  CHECK(MPI_Comm_attach_buffer(comm, of_comm, sizeof of_comm) == MPI_SUCCESS);
  CHECK(MPI_Comm_attach_buffer(comm, of_comm, sizeof of_comm) == MPI_ERR_BUFFER);
  exchange(comm, MPI_SUCCESS);
  exchange(other, MPI_ERR_BUFFER); /* Only the communicator's own sends use it. */
  CHECK(MPI_Buffer_attach(own, sizeof own) == MPI_SUCCESS);
  exchange(other, MPI_SUCCESS);
  exchange(comm, MPI_SUCCESS);
  CHECK(MPI_Comm_flush_buffer(comm) == MPI_SUCCESS);
  CHECK(MPI_Comm_iflush_buffer(comm, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Comm_detach_buffer(comm, &memory, &bytes) == MPI_SUCCESS);
  CHECK(memory == of_comm && bytes == (int)sizeof of_comm);
  CHECK(MPI_Comm_detach_buffer(comm, &memory, &bytes) == MPI_ERR_BUFFER);
  exchange(comm, MPI_SUCCESS); /* Now in that of the process. */
  CHECK(MPI_Comm_attach_buffer_c(comm, MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
  exchange(comm, MPI_SUCCESS);
  CHECK(MPI_Comm_detach_buffer_c(comm, &memory, &many) == MPI_SUCCESS);
  CHECK(memory == MPI_BUFFER_AUTOMATIC);
  CHECK(MPI_Buffer_detach(&memory, &bytes) == MPI_SUCCESS && memory == own);
  CHECK(MPI_Comm_attach_buffer(comm, of_comm, sizeof of_comm) == MPI_SUCCESS);
  MPI_Comm_free(&comm); /* With its buffer. */
  MPI_Comm_free(&other);
}

static void session_buffers(void) {
  char memory[4096];
  void* back = NULL;
  int bytes = 0;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, copy;
  MPI_Request request;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_dup(comm, &copy);
  CHECK(MPI_Session_attach_buffer(session, memory, sizeof memory) == MPI_SUCCESS);
  exchange(comm, MPI_SUCCESS);
  exchange(copy, MPI_SUCCESS);
  CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
  CHECK(MPI_Session_iflush_buffer(session, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Session_detach_buffer(session, &back, &bytes) == MPI_SUCCESS);
  CHECK(back == memory && bytes == (int)sizeof memory);
  exchange(comm, MPI_ERR_BUFFER);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&copy);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

static int size_of_split(int type, const char* key, const char* value, char* chosen) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm comm;
  int members = 0, flag = 0, room = 64;
  MPI_Info_create(&info);
  if (key) MPI_Info_set(info, key, value);
  CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, type, rank, info, &comm) == MPI_SUCCESS);
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_size(comm, &members);
    MPI_Comm_free(&comm);
  }
  if (chosen) {
    *chosen = 0;
    MPI_Info_get_string(info, "mpi_hw_resource_type", &room, chosen, &flag);
  }
  MPI_Info_free(&info);
  return members;
}

static void splits(void) {
  const int node = size_of_split(MPI_COMM_TYPE_SHARED, NULL, NULL, NULL);
  char chosen[64], type[MPI_MAX_INFO_KEY] = "";
  MPI_Info info;
  int keys = 0;
  CHECK(node >= 1);
  CHECK(size_of_split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory", NULL) ==
        node);
  MPI_Get_hw_resource_info(&info);
  MPI_Info_get_nkeys(info, &keys);
  CHECK(keys > 0);
  MPI_Info_get_nthkey(info, 0, type);
  MPI_Info_free(&info);
  CHECK(size_of_split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", type, NULL) == node);
  CHECK(size_of_split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", type, NULL) == node);
  CHECK(size_of_split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Fridge", NULL) ==
        0);
  CHECK(size_of_split(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL, NULL) == 0);
  CHECK(size_of_split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD", NULL) == size);
  CHECK(size_of_split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF", NULL) == 1);
  CHECK(size_of_split(MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL, chosen) == (node < size ? node : 0));
  CHECK((strcmp(chosen, type) == 0) == (node < size));
}

/* The arrays of counts may go as soon as the collective is made. */
static void kept_arrays(void) {
  int* counts = malloc((size_t)size * sizeof(int));
  int* places = malloc((size_t)size * sizeof(int));
  int* got = malloc((size_t)size * sizeof(int));
  MPI_Request requests[2];
  for (int i = 0; i < size; ++i) {
    counts[i] = 1;
    places[i] = size - 1 - i;
  }
  MPI_Allgatherv_init(&rank, 1, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD,
                      MPI_INFO_NULL, &requests[0]);
  int* all = malloc((size_t)size * sizeof(int));
  int* back = malloc((size_t)size * sizeof(int));
  for (int i = 0; i < size; ++i) all[i] = rank * size + i;
  MPI_Alltoallv_init(all, counts, places, MPI_INT, back, counts, places, MPI_INT, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < size; ++i) counts[i] = places[i] = 1 << 28;
  free(counts);
  free(places);
  for (int round = 0; round < 3; ++round) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int bad = 0;
    for (int i = 0; i < size; ++i) {
      bad += got[size - 1 - i] != i;
      bad += back[size - 1 - i] != i * size + size - 1 - rank;
    }
    CHECK(bad == 0);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(got);
  free(all);
  free(back);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  buffers();
  session_buffers();
  splits();
  kept_arrays();
  report(rank);
  MPI_Finalize();
  return 0;
}
