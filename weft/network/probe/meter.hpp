// SPDX-License-Identifier: Apache-2.0
// What can be measured between hosts. The inference sees a network only through this interface, so
// it runs on real hosts, on simulated ones and on test trees alike.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace weft::probe {

struct Pair {
  std::uint32_t from = 0, to = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};

inline constexpr double no_answer = -1;

class Meter {
 public:
  virtual ~Meter() = default;
  // The minimum of several round trips for each pair, or no_answer. Pairs without a common host may
  // be measured concurrently.
  virtual std::vector<double> round_trips_ns(std::span<const Pair> pairs) = 0;
  // The rates of concurrent flows; 0 for a flow that failed.
  virtual std::vector<double> flows_bit_per_s(std::span<const Pair> pairs) = 0;
  virtual double elapsed_s() = 0;
  // The user asked to stop.
  virtual bool interrupted() = 0;
};

struct Counts {
  std::uint64_t round_trips = 0;  // Pairs.
  std::uint64_t batches = 0;      // Issued one after the other.
  std::uint64_t trials = 0;       // Sets of concurrent flows,
  std::uint64_t flows = 0;        // and the flows in them.
  double seconds = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// A meter that counts and caches measurements and stops at the time limit.
class Instruments {
 public:
  Instruments(Meter& meter, double seconds_max) : meter_(meter), seconds_max_(seconds_max) {}

  // The minimum of all measurements of each pair so far, in this direction: noise only adds.
  std::vector<double> round_trips_ns(std::span<const Pair> pairs);
  // The same. Pairs above the limit are measured again with fewer others at the same time, as long
  // as that helps: they may have been disturbed.
  std::vector<double> round_trips_ns(std::span<const Pair> pairs, double limit_ns);
  // The same, one pair after the other while time permits, so that pairs do not disturb each other.
  std::vector<double> one_by_one_ns(std::span<const Pair> pairs);
  std::vector<double> flows_bit_per_s(std::span<const Pair> pairs);
  // Measures each pair this often, at different times, and takes the minimum.
  void set_repeats(int repeats) { repeats_ = repeats; }
  // Whether measuring must stop: the time is up or the user asked for it. Stays true.
  bool over();
  bool out_of_time() const { return out_of_time_; }
  const Counts& counts();

 private:
  Meter& meter_;
  double seconds_max_;  // 0: no limit.
  int repeats_ = 1;
  bool out_of_time_ = false, interrupted_ = false;
  Counts counts_;
  std::unordered_map<std::uint64_t, double> min_ns_;  // By pair.
};

// One host's measurements of others, one after the other.
struct Errand {
  std::uint32_t from = 0;
  std::vector<std::uint32_t> pairs;  // Indices.
};

// Arranges pairs in rounds of errands that may run concurrently: in a round a host either measures
// or is measured by one other.
std::vector<std::vector<Errand>> plan_rounds(std::span<const Pair> pairs);

}  // namespace weft::probe
