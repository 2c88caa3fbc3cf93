/* SPDX-License-Identifier: Apache-2.0 */
/* What MPI_Init_thread promises holds. Another thread asks whether it is the main one, and calls
   the library where that is allowed; with an argument also where it is not. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int self, ranks, level, forced;

static void* work(void* unused) {
  (void)unused;
  int main_thread = -1;
  MPI_Is_thread_main(&main_thread);
  int got = -1;
  if (level >= MPI_THREAD_SERIALIZED || forced)
    MPI_Sendrecv(&self, 1, MPI_INT, (self + 1) % ranks, 7, &got, 1, MPI_INT,
                 (self + ranks - 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    got = (self + ranks - 1) % ranks;
  if (main_thread != 0 || got != (self + ranks - 1) % ranks)
    printf("rank %d: wrong in its thread\n", self);
  return NULL;
}

int main(int argc, char** argv) {
  static const int wanted[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                               MPI_THREAD_MULTIPLE};
  int main_thread = 0, again = -1;
  forced = argc > 2;
  MPI_Init_thread(&argc, &argv, wanted[argc > 1 ? argv[1][0] - '0' : 3], &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Is_thread_main(&main_thread);
  MPI_Query_thread(&again);
  if (main_thread != 1 || again != level) printf("rank %d: wrong in its main thread\n", self);
  if (level >= MPI_THREAD_FUNNELED) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int *global, found;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &found);
  const double tick = MPI_Wtick();
  if (self == 0)
    printf("level %s, one clock %d, tick %s\n",
           level == MPI_THREAD_SINGLE       ? "single"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
                                            : "multiple",
           *global,
           tick < 1e-11  ? "ps"
           : tick < 1e-5 ? "ns"
                         : "coarse");
  MPI_Finalize();
  return 0;
}
