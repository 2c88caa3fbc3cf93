// SPDX-License-Identifier: Apache-2.0
// A router's outputs as its routing policy sees them, and the question to the policy.
#pragma once

#include <cstdint>
#include <span>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

class RouterView final : public PortView {
 public:
  RouterView(State& state, RouterIndex router, std::int64_t now)
      : state_(state), router_(router), now_(now) {}
  bool up(int port) const override;
  Bytes free(int port, int vc) const override;
  Bytes queued(int port) const override;
  Bytes flowing(int port) const override;
  LineNews line(int port, int line) const override;
  void queues(int first, std::span<std::int64_t> bytes) const override;
  // As queued(). REQUIRES: QueueTables::kept.
  std::int64_t kept_queue(std::uint32_t port) const {
    return kept_queue(state_.output_at(router_, LocalOutput(port)));
  }

 private:
  Bytes free_at(OutputIndex output, Vc vc) const;
  Bytes taken_from(OutputIndex output, Bytes whole) const;
  std::int64_t kept_queue(OutputIndex output) const {
    if (state_.queues.fewer_at[output] <= now_) count_queue(output);
    return state_.queues.ahead[output];
  }
  void count_queue(OutputIndex output) const;

  State& state_;
  RouterIndex router_;
  std::int64_t now_;
};

// What the policy knows of the packet.
inline Flight flight_of(const State& state, const Slot& packet) {
  const Setup& setup = state.setup;
  Flight flight;
  flight.destination = setup.graph.router_of(NodeId(packet.node));
  flight.destination_node = NodeId(packet.node);
  flight.hops = static_cast<std::uint8_t>(packet.hops());
  flight.state = packet.route;
  if (setup.facts.asks_source) flight.source_node = NodeId(state.messages[packet.message].from);
  return flight;
}

// No way leads on. The packet stays where it is.
void note_no_way(State& state, int worker, RouterIndex r, const Slot& packet);

// Where a packet whose head stands at r may go, best first; valid until the worker asks again.
// Empty if no way leads on: the failure is then noted.
inline const Choices& ask_policy(State& state, int worker, RouterIndex r, const Slot& packet,
                                 std::int64_t now) {
  const Setup& setup = state.setup;
  Choices& choices = state.worker(worker).choices;
  choices.clear();
  setup.policy.next(state.placement.ids[r], flight_of(state, packet), RouterView(state, r, now),
                    choices);
  if (choices.empty()) note_no_way(state, worker, r, packet);
  WEFT_DCHECK(choices.count() <= setup.facts.choices_max);
  return choices;
}

inline LocalOutput output_of(const State& state, RouterIndex r, const Slot& packet,
                             const Choice& choice) {
  if (choice.port != Choice::eject) return LocalOutput(choice.port);
  return LocalOutput(
      state.routers[r].ports +
      static_cast<std::uint32_t>(state.setup.graph.local_index(NodeId(packet.node))));
}

}  // namespace weft::detail
