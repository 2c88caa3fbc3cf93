/* SPDX-License-Identifier: Apache-2.0
 * Generations of processes that start each other and talk in every way.
 * Usage: family CHILDREN GENERATIONS [multiple] */
#include "check.h"

enum { small = 100, large = 300000 };

static unsigned char* filled(size_t size, int seed) {
  unsigned char* data = malloc(size);
  for (size_t i = 0; i < size; ++i) data[i] = (unsigned char)(seed + (int)(i % 251));
  return data;
}

/* Each rank of one side sends to each of the other, both ways, messages of this size. */
static void talk(MPI_Comm inter, size_t size) {
  const int me = rank_in(inter);
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  unsigned char* mine = filled(size, me);
  unsigned char** theirs = malloc((size_t)others * sizeof *theirs);
  MPI_Request* requests = malloc(2 * (size_t)others * sizeof *requests);
  for (int i = 0; i < others; ++i) {
    theirs[i] = calloc(size, 1);
    MPI_Irecv(theirs[i], (int)size, MPI_BYTE, i, 5, inter, &requests[2 * i]);
    MPI_Isend(mine, (int)size, MPI_BYTE, i, 5, inter, &requests[2 * i + 1]);
  }
  CHECK(MPI_Waitall(2 * others, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < others; ++i) {
    unsigned char* expected = filled(size, i);
    CHECK(memcmp(theirs[i], expected, size) == 0);
    free(expected);
    free(theirs[i]);
  }
  free(mine);
  free(theirs);
  free(requests);
}

static void together(MPI_Comm all) {
  const int me = rank_in(all), size = size_of(all);
  int sum = 0, word = me == size - 1 ? 4711 : 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Bcast(&word, 1, MPI_INT, size - 1, all);
  CHECK(word == 4711);
  enum { block = 2000 };
  int* out = malloc((size_t)size * block * sizeof *out);
  int* in = malloc((size_t)size * block * sizeof *in);
  for (int i = 0; i < size * block; ++i) out[i] = me * 1000 + i / block;
  MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, all);
  for (int i = 0; i < size * block; ++i) {
    if (in[i] != i / block * 1000 + me) {
      CHECK(!"alltoall");
      break;
    }
  }
  free(out);
  free(in);
}

static void meet(MPI_Comm inter, int high) {
  talk(inter, small);
  talk(inter, large);
  MPI_Comm all = MPI_COMM_NULL, part = MPI_COMM_NULL, copy = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, high, &all);
  together(all);
  MPI_Comm_split(all, rank_in(all) % 2, -rank_in(all), &part);
  together(part);
  MPI_Comm_dup(all, &copy);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&part);
  int sum = 0, ours = 1, others = 0;
  MPI_Allreduce(&ours, &sum, 1, MPI_INT, MPI_SUM, inter);
  MPI_Comm_remote_size(inter, &others);
  CHECK(sum == others);
  MPI_Comm_disconnect(&all);
}

static void have_children(char* program, int children, int generations, int multiple) {
  char below[16], number[16];
  snprintf(number, sizeof number, "%d", children);
  snprintf(below, sizeof below, "%d", generations - 1);
  char* words[] = {number, below, multiple ? "multiple" : NULL, NULL};
  int codes[64];
  for (int i = 0; i < 64; ++i) codes[i] = 77;
  MPI_Comm inter = MPI_COMM_NULL;
  const int root = size_of(MPI_COMM_WORLD) - 1;
  if (multiple) {
    char* programs[] = {program, program};
    char** all_words[] = {words, words};
    int counts[] = {children, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    const int mine = rank_in(MPI_COMM_WORLD) == root;
    CHECK(MPI_Comm_spawn_multiple(2, mine ? programs : NULL, mine ? all_words : NULL, counts, infos,
                                  root, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS);
  } else {
    CHECK(MPI_Comm_spawn(rank_in(MPI_COMM_WORLD) == root ? program : NULL, words, children,
                         MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS);
  }
  const int all = children + multiple;
  for (int i = 0; i < all; ++i) CHECK(codes[i] == MPI_SUCCESS);
  CHECK(codes[all] == 77);
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  CHECK(others == all);
  meet(inter, 0);
  int theirs = 0;
  MPI_Reduce(&wrong, &theirs, 1, MPI_INT, MPI_SUM, rank_in(inter) == 0 ? MPI_ROOT : MPI_PROC_NULL,
             inter);
  wrong += theirs;
  CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int children = atoi(argv[1]), generations = atoi(argv[2]);
  const int multiple = argc > 3;
  if (generations > 0) have_children(argv[0], children, generations, multiple);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    int *number = NULL, found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
    CHECK(found && *number == (multiple && rank_in(MPI_COMM_WORLD) == children ? 1 : 0));
    meet(parent, 1);
    MPI_Reduce(&wrong, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) abort();
  } else {
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) == 0) printf("%d wrong\n", all);
  }
  MPI_Finalize();
  return 0;
}
