// SPDX-License-Identifier: Apache-2.0
// throws [escape]: std::thread with exceptions that are caught, or one that is not.
#include <chrono>
#include <cstdio>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <mgen.h>
#include <mpi.h>

static int global = 1;
static thread_local std::vector<int> own(3, 4);

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  global += rank;
  std::mutex lock;
  int sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      own[1] += i;
      try {
        MGEN_Advance(1e-3);
        throw i;
      } catch (int caught) {
        MGEN_Advance(1e-3);
        const std::lock_guard<std::mutex> held(lock);
        sum += caught * global + own[1];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (argc > 1) {
    std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
  }
  auto later = std::async(std::launch::async, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return 5;
  });
  const int got = later.get();
  std::printf("rank %d: %d %d at %.6f ms\n", rank, sum - 6 * (rank + 1), got, MPI_Wtime() * 1e3);
  MPI_Finalize();
}
