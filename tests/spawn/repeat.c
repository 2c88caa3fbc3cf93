/* SPDX-License-Identifier: Apache-2.0
 * Starts children again and again: no descriptors and mappings are left behind.
 * Usage: repeat TIMES */
#include "check.h"
#include <dirent.h>
#include <unistd.h>

static int entries_of(const char* folder) {
  int count = 0;
  DIR* open = opendir(folder);
  while (open && readdir(open)) ++count;
  if (open) closedir(open);
  return count;
}

static int lines_of(const char* file) {
  int count = 0;
  FILE* open = fopen(file, "r");
  for (int c = 0; open && (c = fgetc(open)) != EOF;) count += c == '\n';
  if (open) fclose(open);
  return count;
}

static void once(char* program) {
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                 MPI_ERRCODES_IGNORE);
  int number = rank_in(inter), sum = 0;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK(sum == 1);
  MPI_Comm_disconnect(&inter);
}

/* The end of children is noticed by and by: for at most ten seconds, until there are this many
   open files. */
static void settle(int files) {
  for (int i = 0; i < 500 && (i < 20 || entries_of("/proc/self/fd") > files); ++i) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    usleep(20000);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    int number = rank_in(parent), sum = 0;
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  const int times = atoi(argv[1]);
  once(argv[0]);
  once(argv[0]);
  settle(0x7fffffff);
  const int files = entries_of("/proc/self/fd"), maps = lines_of("/proc/self/maps");
  for (int i = 0; i < times; ++i) once(argv[0]);
  settle(files);
  /* A connection that the ranks make meanwhile for themselves is none that children left: those
     would be `times`. */
  CHECK(entries_of("/proc/self/fd") < files + times / 2);
  CHECK(lines_of("/proc/self/maps") <= maps + 8);
  if (wrong)
    fprintf(stderr, "%d files, now %d; %d mappings, now %d\n", files, entries_of("/proc/self/fd"),
            maps, lines_of("/proc/self/maps"));
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
