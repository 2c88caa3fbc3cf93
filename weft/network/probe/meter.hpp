// SPDX-License-Identifier: Apache-2.0
// What can be measured between hosts. The inference sees a network through this alone, so that it
// runs over real hosts, over simulated ones and over trees of a test alike.
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
  // Least round trip of several for each pair, or no_answer. Pairs that share no host may be
  // measured at the same time.
  virtual std::vector<double> round_trips_ns(std::span<const Pair> pairs) = 0;
  // Rates of flows that run at the same time, all of them; 0 for one that did not come about.
  virtual std::vector<double> flows_bit_per_s(std::span<const Pair> pairs) = 0;
  virtual double elapsed_s() = 0;
  // Somebody wants an end now.
  virtual bool interrupted() = 0;
};

struct Counts {
  std::uint64_t round_trips = 0;  // Pairs.
  std::uint64_t batches = 0;      // That were asked for one after the other.
  std::uint64_t trials = 0;       // Sets of flows at the same time,
  std::uint64_t flows = 0;        // and flows in them.
  double seconds = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// A meter that counts, remembers, and ends when the time is up.
class Instruments {
 public:
  Instruments(Meter& meter, double seconds_max) : meter_(meter), seconds_max_(seconds_max) {}

  // Least of all that was ever measured of each pair, in this direction: noise only adds.
  std::vector<double> round_trips_ns(std::span<const Pair> pairs);
  // The same. Who is not below the limit is asked again, with fewer others at the same time, as
  // long as that helps: it may have been disturbed.
  std::vector<double> round_trips_ns(std::span<const Pair> pairs, double limit_ns);
  // The same, one pair after the other, as long as there is time: nobody disturbs another.
  std::vector<double> one_by_one_ns(std::span<const Pair> pairs);
  std::vector<double> flows_bit_per_s(std::span<const Pair> pairs);
  // Measures each pair so often, at different moments, and takes the least.
  void set_repeats(int repeats) { repeats_ = repeats; }
  // No more measurements: the time is up, or somebody wants an end. Once true, it stays.
  bool over();
  bool out_of_time() const { return out_of_time_; }
  const Counts& counts();

 private:
  Meter& meter_;
  double seconds_max_;  // 0: no limit.
  int repeats_ = 1;
  bool out_of_time_ = false, interrupted_ = false;
  Counts counts_;
  std::unordered_map<std::uint64_t, double> least_ns_;  // By pair.
};

// Who measures whom, one after the other.
struct Errand {
  std::uint32_t from = 0;
  std::vector<std::uint32_t> pairs;  // Indices.
};

// Pairs in rounds of errands that may be done at the same time: in a round a host measures, or is
// measured by one other, not both.
std::vector<std::vector<Errand>> plan_rounds(std::span<const Pair> pairs);

}  // namespace weft::probe
