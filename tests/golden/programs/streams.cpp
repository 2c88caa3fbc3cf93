// SPDX-License-Identifier: Apache-2.0
// C++ in every rank: static objects, exceptions that are being handled while others run, streams
// with buffers of their own, clocks.
#include <chrono>
#include <complex>
#include <exception>
#include <iomanip>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <mpi.h>

namespace {

struct Names {
  std::map<int, std::string> by_rank{{-1, "nobody"}};
  ~Names() {
    if (by_rank.size() != 2) std::cerr << "names are lost" << std::endl;
  }
} names;

int unwound = 0;
struct Guard {
  ~Guard() { ++unwound; }
};

int rank_in_world() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

[[noreturn]] void fail_below(int depth) {
  const Guard guard;
  if (depth > 0) fail_below(depth - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  throw std::runtime_error(names.by_rank.at(rank_in_world()));
}

bool handles(const std::string& name) {
  try {
    fail_below(5);
  } catch (const std::exception& first) {
    MPI_Barrier(MPI_COMM_WORLD);
    try {
      throw rank_in_world();
    } catch (int second) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (second != rank_in_world()) return false;
    }
    const std::exception_ptr kept = std::current_exception();
    MPI_Barrier(MPI_COMM_WORLD);
    try {
      std::rethrow_exception(kept);
    } catch (const std::runtime_error& again) {
      return again.what() == name && first.what() == name && unwound == 6;
    }
  }
  return false;
}

bool sleeps() {
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::hours(1));
  const auto passed = std::chrono::steady_clock::now() - start;
  return passed >= std::chrono::hours(1) && passed < std::chrono::minutes(61);
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world();
  const std::string name = "rank " + std::to_string(rank);
  names.by_rank[rank] = name;
  const std::complex<double> mine(rank, 1);
  std::complex<double> sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1) std::cout << std::fixed << std::setprecision(3) << std::setfill('.');
  MPI_Barrier(MPI_COMM_WORLD);
  const bool good = handles(name) && sleeps();
  std::cout << std::setw(8) << name << ' ' << sum << (good ? " good\n" : " bad\n");
  MPI_Finalize();
  return good ? 0 : 1;
}
