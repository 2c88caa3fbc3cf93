// SPDX-License-Identifier: Apache-2.0
// Inside the probe program, over MPI: rank 0 tells the others what to measure and has their
// answers; the others wait in a receive, and answer whoever sends them a small message.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "probe_echo.hpp"
#include <mpi.h>

#include <weft/base/rng.hpp>
#include <weft/network/probe/meter.hpp>

namespace weft::app {

struct ProbeSettings {
  int pings = 8;               // Of which the least counts.
  double flow_s = 0.025;       // Of one trial.
  double noise = 0;            // Added to measurements, as a share: for simulated networks.
  std::uint64_t seed = 1;      // Of that noise.
  bool messages_only = false;  // Echoes by MPI messages, never by the system's.
};

// What a rank does when it is told. Every rank has one.
class ProbeStation {
 public:
  explicit ProbeStation(const ProbeSettings& settings);

  // Together with all others: whether the system's echoes reach everybody.
  void agree();
  // Until told to end.
  void serve();

 private:
  friend class ProbeMeter;
  void handle(int source, int tag, const std::vector<double>& words);
  // Serves others until an answer has come.
  std::vector<double> next_answer(std::size_t& from);
  std::vector<double> measure(const std::vector<double>& targets);
  double ping(int target);
  double ping_by_message(int target);
  void send_flow(int to, double seconds, std::size_t size);
  double receive_flow(int from, std::size_t size);
  double disturbed(double value, bool delay);

  ProbeSettings settings_;
  int self_ = 0, count_ = 0;
  MPI_Comm flows_ = MPI_COMM_NULL;  // Flows may come before a rank is told of them.
  bool by_system_ = false;
  Echo echo_;
  std::vector<EchoAddresses> addresses_;
  Rng rng_;
};

// Rank 0's.
class ProbeMeter : public probe::Meter {
 public:
  ProbeMeter(ProbeStation& station, const std::atomic<bool>& interrupted);
  std::vector<double> round_trips_ns(std::span<const probe::Pair> pairs) override;
  std::vector<double> flows_bit_per_s(std::span<const probe::Pair> pairs) override;
  double elapsed_s() override;
  bool interrupted() override { return interrupted_; }
  void dismiss();  // The others.

 private:
  struct Part {
    std::span<const probe::Errand> round;
    std::size_t first, count;
  };
  void run_errands(std::span<const probe::Pair> pairs, const Part& part,
                   std::vector<double>& times);

  ProbeStation& station_;
  const std::atomic<bool>& interrupted_;
  double start_s_ = 0;
  double longest_ns_ = 0;         // Round trip so far: a flow lasts some of them.
  double fastest_bit_per_s_ = 0;  // So far: sizes of messages follow.
};

}  // namespace weft::app
