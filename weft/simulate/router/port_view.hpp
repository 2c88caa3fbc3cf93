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
Flight flight_of(const State& state, const Slot& packet);

// Where a packet whose head stands at r may go, best first; valid until the worker asks again.
// Empty if no way leads on: the failure is then noted.
const Choices& ask_policy(State& state, int worker, RouterIndex r, const Slot& packet,
                          std::int64_t now);

inline LocalOutput output_of(const State& state, RouterIndex r, const Slot& packet,
                             const Choice& choice) {
  if (choice.port != Choice::eject) return LocalOutput(choice.port);
  return LocalOutput(
      state.routers[r].ports +
      static_cast<std::uint32_t>(state.setup.graph.local_index(NodeId(packet.node))));
}

}  // namespace weft::detail
