// SPDX-License-Identifier: Apache-2.0
// How long does a communication pattern take as one step? All ranks post all their messages at time
// zero; the step ends when the last byte has arrived. A card works on them in the order that its
// hardware has (SendOrder); messages to near ranks come first, counted upwards and round from the
// sender, of several ranks on a node the lower first: so no receiver is everybody's first. Same
// inputs and seed: the same result, for any number of threads.
#pragma once  // Public, for experiments: stays within 0.1; results may get fields.

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/network/part/part.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/models/network_model.hpp>
#include <weft/simulate/router/hardware.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft {

// What the step is played on. Nothing here is changed: many steps may share it, at the same time
// too.
struct Arena {
  const Topology& topology;
  const NetworkHardware& hardware;
  const Policy& policy;
};

struct StepOptions {
  std::uint64_t seed = 1;  // For routing that draws lots.
  int threads = 1;
  NetworkModel model;
  std::uint32_t burst = 1;  // Packets for a destination in one turn, where they take turns.
  // Simulates 1/shrink of the traffic, to judge faster: fewer messages per pair, or fewer bytes if
  // a pair has one, never less than a byte. A step bound by bandwidth takes that part of the time.
  std::uint64_t shrink = 1;
  Duration limit;  // A step that takes longer is not played to its end; zero: no limit.
  Cut cut = Cut::automatic;
  const std::atomic<bool>* stop = nullptr;     // Set: end soon, with what there is.
  std::function<void(double share)> progress;  // May be empty. Called by the calling thread.
};

enum class StepState {
  complete,
  late,     // Over the limit, which is the time given.
  stopped,  // Asked to end: what was seen until then.
};
const char* to_text(StepState state);

struct StepResult {
  StepState state = StepState::complete;
  Duration time;          // Until the last byte arrived.
  Duration mean_arrival;  // When the last byte of a pair arrived; pairs that are complete.
  // Pairs of ranks on different nodes; what stays on a node arrives at once and is not counted.
  std::uint64_t pairs = 0, pairs_arrived = 0;
  std::uint32_t last_from = 0,
                last_to = 0;  // The ranks whose bytes came last; of equals the first.
  Bytes carried;              // In whole pieces that arrived, without headers.
  std::uint64_t packets = 0;
  std::uint64_t hops = 0;                 // Packets times links between routers.
  std::vector<std::uint64_t> link_bytes;  // By LinkId, headers included.
  // Part of the step's time that links carried something: the fullest, and the mean of the usable.
  LinkId busiest;
  double busiest_share = 0, mean_share = 0;

  bool operator==(const StepResult&) const = default;
};

// Rank r lives on node (network card) node_of_rank[r]; several may share one. An error: a map that
// does not fit, hardware that cannot be, a packet that no route leads on, a deadlock.
Result<StepResult> play_step(const Arena& arena, const TrafficMatrix& traffic,
                             std::span<const std::uint32_t> node_of_rank,
                             const StepOptions& options);

}  // namespace weft
