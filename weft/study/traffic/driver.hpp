// SPDX-License-Identifier: Apache-2.0
// The nodes of an open-loop experiment: they make packets whatever the network does, and note what
// arrives. Notes are whole numbers kept per worker and per node; their sums do not depend on the
// worker that made them, so the result is the same for any number of workers. Each process drives
// its own nodes.
#pragma once  // Public only for experiment.hpp: no promise beyond what that one needs.

#include <cstdint>
#include <vector>

#include <weft/base/histogram.hpp>
#include <weft/base/pack.hpp>
#include <weft/base/rng.hpp>
#include <weft/base/statistics.hpp>
#include <weft/simulate/router/network.hpp>
#include <weft/study/traffic/scenario.hpp>
#include <weft/workload/patterns/injection.hpp>

namespace weft {

// Statistics of the packets born in the measured window.
struct Measured {
  std::uint64_t born = 0, born_flits = 0;
  std::uint64_t accepted_flits = 0;  // Packets that arrived in the window, whenever born.
  Running latency_ps;                // Birth to last flit.
  Running network_ps;                // From entering the network.
  Running hops;
  Histogram latencies_ps;

  void merge(const Measured& other);
  void pack(Packer& letter) const;
  static Measured unpack(Unpacker& letter);
};

// What the course of an experiment hangs on.
struct Totals {
  std::uint64_t born = 0, arrived = 0;
  // In the measured window.
  std::uint64_t window_born = 0, accepted_flits = 0;
  Running latency_ps;
  Running recent_ps;  // Latency of what arrived since forget_recent().

  void merge(const Totals& other);
  std::uint64_t backlog() const { return born - arrived; }
  std::uint64_t window_arrived() const { return static_cast<std::uint64_t>(latency_ps.count()); }
};

// The node that received least in the window; of equals the first.
struct Worst {
  std::uint64_t flits = UINT64_MAX;
  std::uint32_t node = UINT32_MAX;
  auto operator<=>(const Worst&) const = default;
};

class Driver final : public Host {
 public:
  Driver(const Scenario& scenario, const Injection& injection, int workers);

  // REQUIRES: called once, before the first run.
  void attach(Network& network);

  // Between runs. What happens until `end` belongs to the measured window or not; the window is one
  // stretch of slices.
  void begin_slice(Time end, bool measuring);

  Time alarm(int worker, NodeId node, Time now) override;
  void delivered(int worker, const Delivery& d) override;

  // Sums over the nodes of this process.
  Totals totals() const;
  Measured measured() const;
  Worst worst() const;
  void forget_recent();

 private:
  struct Late {  // Certain to arrive, but after the slice in which that became certain.
    NodeId to;
    std::uint64_t flits;
    Time at;
  };
  struct alignas(128) Tally {
    std::uint64_t born = 0, arrived = 0;
    Running recent_ps;
    Measured measured;
    std::vector<Late> late;
  };
  struct Node {
    Injection::Source source;
    Rng destinations{0}, sizes{0};
  };
  void accept(Tally& tally, NodeId to, std::uint64_t flits);

  const Scenario& scenario_;
  const Injection& injection_;
  Duration cycle_;
  Network* network_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> received_;
  std::vector<Tally> tallies_;
  Time slice_end_;
  bool measuring_ = false;
  Time window_begin_ = Time::never(), window_end_ = Time::never();
};

}  // namespace weft
