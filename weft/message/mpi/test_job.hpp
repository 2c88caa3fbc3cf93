// SPDX-License-Identifier: Apache-2.0
// For tests only: programs as functions, run by several ranks on the test network.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/runtime.hpp>
#include <weft/message/testnet/testnet.hpp>

namespace weft::mpi {

class TestRuntime final : public Runtime {
 public:
  explicit TestRuntime(std::uint32_t ranks_per_node) : ranks_per_node_(ranks_per_node) {}
  // Ends the process: only death tests get here.
  [[noreturn]] void abort(RankId, int code, const std::string& message) override {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::_Exit(code == 0 ? 1 : code);
  }
  std::string processor_name(RankId rank) const override {
    return "node" + std::to_string(node_of(rank));
  }
  std::uint32_t node_of(RankId rank) const override { return rank.index / ranks_per_node_; }

 private:
  std::uint32_t ranks_per_node_;
};

struct Job {
  std::uint32_t ranks = 2;
  std::uint64_t seed = 1;
  bool ordered = true;
  bool carries_data = true;
  std::int64_t eager_limit = 64;  // Small, so that tests see both protocols.
  std::uint32_t ranks_per_node = 2;
  std::vector<TestnetOptions::Loss> losses = {};  // In the order of steps.

  std::string text() const {
    return std::to_string(ranks) + " ranks, seed " + std::to_string(seed) +
           (ordered ? "" : ", unordered") + (carries_data ? "" : ", no data");
  }
};

// Runs the body without MPI_Init and MPI_Finalize.
inline Status run_bare(const Job& job, const std::function<void(int rank)>& body) {
  TestnetOptions network;
  network.seed = job.seed;
  network.ordered = job.ordered;
  network.carries_data = job.carries_data;
  network.losses = job.losses;
  mp::Options options;
  options.eager_limit = Bytes{job.eager_limit};
  TestRuntime runtime(job.ranks_per_node);
  return run_on_testnet(job.ranks, network, [&](const Fabric& fabric) {
    Process process(fabric, options, runtime);
    Current::set(&fabric, &process);
    body(static_cast<int>(fabric.self.index));
    Current::set(&fabric, nullptr);
  });
}

inline void run_job(const Job& job, const std::function<void(int rank)>& body) {
  const Status status = run_bare(job, [&](int rank) {
    ASSERT_EQ(MPI_Init(nullptr, nullptr), MPI_SUCCESS);
    body(rank);
    ASSERT_EQ(MPI_Finalize(), MPI_SUCCESS);
  });
  EXPECT_TRUE(status.has_value()) << job.text() << ": " << status.error().text();
}

// On several networks.
inline void run_jobs(std::uint32_t ranks, const std::function<void(int rank)>& body) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const bool ordered : {true, false}) {
      Job job;
      job.ranks = ranks;
      job.seed = seed;
      job.ordered = ordered;
      SCOPED_TRACE(job.text());
      run_job(job, body);
    }
  }
}

inline int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of_comm(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}
inline void return_errors(MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

}  // namespace weft::mpi
