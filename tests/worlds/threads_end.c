/* SPDX-License-Identifier: Apache-2.0 */
/* threads_end HOW: four threads of each rank send round a ring for ever; after a while one thread
   of rank 1 ends the process: by a signal (kill), MPI_Abort (abort) or without a word (exit). */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { threads = 4 };
static int self, ranks;
static const char* how;

static void end(void) {
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  exit(0);
}

static void* work(void* given) {
  const int number = (int)(long)given;
  int token = 0;
  for (int i = 0;; ++i) {
    if (self == 1 && number == 2 && i == 200) end();
    MPI_Sendrecv(&self, 1, MPI_INT, (self + 1) % ranks, number, &token, 1, MPI_INT,
                 (self + ranks - 1) % ranks, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  pthread_t handles[threads];
  how = argv[1];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (long i = 0; i < threads; ++i) pthread_create(&handles[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(handles[i], NULL);
  MPI_Finalize();
  return 0;
}
