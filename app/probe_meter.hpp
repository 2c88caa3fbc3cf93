// SPDX-License-Identifier: Apache-2.0
// Measurements of the probe program, over MPI. Rank 0 tells the other ranks what to measure and
// collects their answers; the others wait for such requests, and answer pings of any rank.
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
  int pings = 8;               // Per round trip; the minimum counts.
  double flow_s = 0.025;       // Duration of a flow.
  double noise = 0;            // Share to add to measurements of simulated networks.
  std::uint64_t seed = 1;      // Seed of the noise.
  bool messages_only = false;  // Ping by MPI messages, never by ICMP.
};

// The measurements of one rank.
class ProbeRank {
 public:
  explicit ProbeRank(const ProbeSettings& settings);

  // Collective: all ranks use ICMP echoes if these work on every host.
  void choose_echoes();
  // Serves requests until rank 0 dismisses this rank.
  void serve();

 private:
  friend class ProbeMeter;
  void handle(int source, int tag, const std::vector<double>& words);
  // Serves the requests of others until an answer arrives.
  std::vector<double> next_answer(std::size_t& from);
  std::vector<double> measure(const std::vector<double>& targets);
  double ping(int target);
  double ping_by_message(int target);
  void send_flow(int to, double seconds, std::size_t size);
  double receive_flow(int from, std::size_t size);
  double disturbed(double value, bool delay);

  ProbeSettings settings_;
  int self_ = 0, count_ = 0;
  MPI_Comm flows_ = MPI_COMM_NULL;  // A flow may arrive before the request that announces it.
  bool use_icmp_ = false;
  Echo echo_;
  std::vector<EchoAddresses> addresses_;
  Rng rng_;
};

// The meter of rank 0, which sends requests to all ranks.
class ProbeMeter : public probe::Meter {
 public:
  ProbeMeter(ProbeRank& self, const std::atomic<bool>& interrupted);
  std::vector<double> round_trips_ns(std::span<const probe::Pair> pairs) override;
  std::vector<double> flows_bit_per_s(std::span<const probe::Pair> pairs) override;
  double elapsed_s() override;
  bool interrupted() override { return interrupted_; }
  void dismiss();  // Ends serve() on the other ranks.

 private:
  struct Part {
    std::span<const probe::Errand> round;
    std::size_t first, count;
  };
  void run_errands(std::span<const probe::Pair> pairs, const Part& part,
                   std::vector<double>& times);

  ProbeRank& self_;
  const std::atomic<bool>& interrupted_;
  double start_s_ = 0;
  double longest_ns_ = 0;         // Longest round trip so far; a flow lasts several of them.
  double fastest_bit_per_s_ = 0;  // Highest rate so far; it determines the size of messages.
};

}  // namespace weft::app
