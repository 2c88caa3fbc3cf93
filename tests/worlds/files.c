/* SPDX-License-Identifier: Apache-2.0
 * An array of two dimensions, of which each rank has a block, written and read together, and other
 * accesses to the same file. The words: whether aggregators are used, and the name of a file to
 * keep. */
#include "check.h"
#include <stdlib.h>

enum { wide = 10, high = 6, times = 4 };
static int rank, size;

static int value_at(int row, int column) {
  return 1000 * row + column;
}

/* Blocks of columns: each row of the file has a part of every rank. */
static void check_blocks(MPI_File file) {
  int sizes[2] = {high * times, wide * size}, part[2] = {high * times, wide};
  int from[2] = {0, wide * rank};
  int* const mine = malloc(sizeof(int) * high * times * wide);
  int* const back = calloc(high * times * wide, sizeof(int));
  MPI_Datatype block;
  MPI_Status status;
  MPI_Request request;
  int count = 0;
  MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_INT, &block);
  MPI_Type_commit(&block);
  for (int i = 0; i < high * times; ++i) {
    for (int k = 0; k < wide; ++k) mine[i * wide + k] = value_at(i, wide * rank + k);
  }
  CHECK(MPI_File_set_view(file, 0, MPI_INT, block, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  for (int i = 0; i < times; ++i) {
    CHECK(MPI_File_write_all(file, mine + i * high * wide, high * wide, MPI_INT, &status) ==
          MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == high * wide);
  }
  CHECK(MPI_File_read_at_all(file, 0, back, high * times * wide, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(memcmp(mine, back, sizeof(int) * high * times * wide) == 0);
  memset(back, 0, sizeof(int) * high * times * wide);
  CHECK(MPI_File_iread_at(file, wide, back, wide, MPI_INT, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == wide && memcmp(back, mine + wide, sizeof(int) * wide) == 0);
  CHECK(MPI_File_read_at(file, high * times * wide - 3, back, wide, MPI_INT, &status) ==
        MPI_SUCCESS);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(rank < size - 1 ? count >= 3 : count == 3);
  MPI_Type_free(&block);
  free(mine);
  free(back);
}

/* The whole file, by whoever comes first. */
static void check_rows(MPI_File file) {
  int* const row = malloc(sizeof(int) * (size_t)(wide * size));
  int mine = 0, all = 0;
  MPI_Datatype line;
  MPI_Status status;
  MPI_Type_contiguous(wide * size, MPI_INT, &line);
  MPI_Type_commit(&line);
  CHECK(MPI_File_set_view(file, 0, line, line, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  for (;;) {
    int count = 0;
    CHECK(MPI_File_read_shared(file, row, 1, line, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, line, &count);
    if (count == 0) break;
    for (int k = 0; k < wide * size; ++k) CHECK(row[k] - row[0] == k);
    ++mine;
  }
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == high * times);
  MPI_Type_free(&line);
  free(row);
}

static void check_order(MPI_File file) {
  char text[16] = "", back[16] = "";
  MPI_Offset end = 0, now = 0;
  MPI_Status status;
  CHECK(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_END) == MPI_SUCCESS);
  CHECK(MPI_File_get_position_shared(file, &end) == MPI_SUCCESS);
  memset(text, 'a' + rank, sizeof text);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_write_ordered(file, text, rank + 1, MPI_CHAR, &status) == MPI_SUCCESS);
  CHECK(MPI_File_get_position_shared(file, &now) == MPI_SUCCESS);
  CHECK(now == end + size * (size + 1) / 2);
  CHECK(MPI_File_read_at(file, end + rank * (rank + 1) / 2, back, rank + 1, MPI_CHAR, &status) ==
        MPI_SUCCESS);
  CHECK(memcmp(text, back, (size_t)rank + 1) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_set_size(file, end) == MPI_SUCCESS);
  CHECK(MPI_File_get_size(file, &now) == MPI_SUCCESS && now == end);
}

/* Each access is whole: no reader meets a part of it. */
static void check_atomic(MPI_File file) {
  int mine[64], back[64];
  MPI_Datatype gaps;
  MPI_Offset end = 0;
  MPI_File_get_size(file, &end);
  MPI_Type_vector(64, 1, 3, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  MPI_File_set_view(file, end, MPI_INT, gaps, "native", MPI_INFO_NULL);
  CHECK(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
  for (int i = 0; i < 64; ++i) mine[i] = rank;
  for (int i = 0; i < 10; ++i) {
    CHECK(MPI_File_write_at(file, 0, mine, 64, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, 0, back, 64, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int k = 1; k < 64; ++k) CHECK(back[k] == back[0]);
  }
  CHECK(MPI_File_set_atomicity(file, 0) == MPI_SUCCESS);
  MPI_Type_free(&gaps);
  CHECK(MPI_File_set_size(file, end) == MPI_SUCCESS);
}

int main(int count, char** words) {
  const int keep = count > 2;
  const char* const path = keep ? words[2] : "files.data";
  const char* const choice = count > 1 ? words[1] : "automatic";
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | (keep ? 0 : MPI_MODE_DELETE_ON_CLOSE);
  MPI_File file;
  MPI_Info info;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", choice);
  MPI_Info_set(info, "romio_cb_read", choice);
  MPI_Info_set(info, "cb_nodes", "2");
  MPI_Info_set(info, "cb_buffer_size", "300");
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file) == MPI_SUCCESS);
  MPI_Info_free(&info);
  CHECK(MPI_File_set_size(file, 0) == MPI_SUCCESS);
  check_blocks(file);
  check_rows(file);
  check_order(file);
  check_atomic(file);
  CHECK(MPI_File_sync(file) == MPI_SUCCESS);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  report(rank);
  MPI_Finalize();
  return 0;
}
