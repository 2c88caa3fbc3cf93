// SPDX-License-Identifier: Apache-2.0
// A head that waits for a VC gets one when one of those that it may take is released, or empties.
// A packet that has one passes on if the buffer behind it has room for the rest, or empties; so
// does the first packet of a buffer at an output. What remains after all that can move is taken
// away waits in circles; one circle is shown.
//
// Buffers have numbers: those of input VCs, then, if outputs have buffers, those of output VCs.
#include "weft/simulate/flits/deadlock.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace weft::flits {
namespace {

struct Waiter {
  bool can_move = false;
  std::vector<std::uint32_t> waits;  // Buffers; one of them is enough.
};

class Search {
 public:
  explicit Search(const Workers& workers)
      : workers_(workers),
        state_(workers.front()->state()),
        waiters_(state_.inputs.size() + state_.buffers.queues.size()) {}
  std::string find();

 private:
  bool is_queue(std::uint32_t buffer) const { return buffer >= state_.inputs.size(); }
  std::uint32_t output_of(std::uint32_t queue) const { return queue - state_.router_vcs(); }
  bool is_used(std::uint32_t buffer) const {
    return is_queue(buffer) ? state_.buffers.queues[output_of(buffer)].packet != none
                            : state_.inputs[buffer].packet != none;
  }
  std::uint32_t behind_switch(std::uint32_t output) const;
  std::uint32_t behind_link(std::uint32_t output) const;
  void wait_for_room(Waiter& waiter, std::uint32_t next) const;
  void wait_for_vc(Waiter& waiter, const InputVc& in) const;
  Waiter waiter_at(std::uint32_t input) const;
  Waiter waiter_in_queue(std::uint32_t output) const;
  std::vector<char> stuck() const;
  std::uint32_t first_of(const std::vector<char>& stuck) const;
  std::string describe(std::uint32_t buffer) const;

  // Whose packets and choices those of this router are.
  const State& state_of(const InputVc& in) const {
    return workers_[static_cast<std::size_t>(state_.placement.worker_of_router(in.router))]
        ->state();
  }

  const Workers& workers_;
  const State& state_;           // For what is common to all.
  std::vector<Waiter> waiters_;  // By buffer.
};

// What a VC of an output fills; none: a node.
std::uint32_t Search::behind_switch(std::uint32_t output) const {
  if (state_.setup.is_buffered()) return state_.router_vcs() + output;
  const std::uint32_t vcs = state_.setup.vcs;
  const std::uint32_t next = state_.out_ends[output / vcs].target + output % vcs;
  return next < state_.router_vcs() ? next : none;
}

std::uint32_t Search::behind_link(std::uint32_t output) const {
  const std::uint32_t vcs = state_.setup.vcs;
  const std::uint32_t next = state_.buffers.ends[output / vcs].target + output % vcs;
  return next < state_.router_vcs() ? next : none;
}

// Nodes always take what comes, and an empty buffer gives its room back.
void Search::wait_for_room(Waiter& waiter, std::uint32_t next) const {
  if (next == none || !is_used(next))
    waiter.can_move = true;
  else
    waiter.waits.push_back(next);
}

void Search::wait_for_vc(Waiter& waiter, const InputVc& in) const {
  const Setup& setup = state_.setup;
  const Router& router = state_.routers[in.router];
  const State& own = state_of(in);
  const Packet& packet = own.packets[in.packet];
  for (const Choice& choice : own.choices[in.choices].all()) {
    const std::uint32_t port =
        choice.port != Choice::eject
            ? choice.port
            : router.ports + static_cast<std::uint32_t>(setup.graph.local_index(NodeId(packet.to)));
    for (VcMask vcs = setup.vcs_of(choice, in.vc) & setup.all_vcs; vcs != 0; vcs &= vcs - 1) {
      const std::uint32_t output =
          (router.first_end + port) * setup.vcs + static_cast<std::uint32_t>(std::countr_zero(vcs));
      const OutputVc& out = state_.outputs[output];
      if (out.owner != none)
        waiter.waits.push_back(out.owner);
      else if (setup.model.flow_control == FlowControl::wormhole ||
               out.credits >= static_cast<std::int32_t>(packet.flits))
        waiter.can_move = true;
      else
        wait_for_room(waiter, behind_switch(output));
    }
  }
}

Waiter Search::waiter_at(std::uint32_t input) const {
  const InputVc& in = state_.inputs[input];
  Waiter waiter;
  if (in.active) {
    const std::uint32_t rest = state_of(in).packets[in.packet].flits - in.passed;
    waiter.can_move = state_.outputs[in.output].credits >= static_cast<std::int32_t>(rest);
    wait_for_room(waiter, behind_switch(in.output));
  } else if (in.choices == none || state_of(in).choices[in.choices].empty()) {
    waiter.can_move = true;  // Not routed yet.
  } else {
    wait_for_vc(waiter, in);
  }
  return waiter;
}

Waiter Search::waiter_in_queue(std::uint32_t output) const {
  const OutputQueue& queue = state_.buffers.queues[output];
  const std::uint32_t rest =
      state_of(state_.inputs[output]).packets[queue.packet].flits - queue.passed;
  Waiter waiter;
  waiter.can_move = queue.credits >= static_cast<std::int32_t>(rest);
  wait_for_room(waiter, behind_link(output));
  return waiter;
}

// 1 for each buffer whose first packet can never move.
std::vector<char> Search::stuck() const {
  std::vector<std::vector<std::uint32_t>> waited_by(waiters_.size());
  std::vector<char> stuck(waiters_.size(), 0);
  std::vector<std::uint32_t> moving;
  for (std::uint32_t i = 0; i < waiters_.size(); ++i) {
    if (!is_used(i)) continue;
    stuck[i] = 1;
    for (const std::uint32_t on : waiters_[i].waits) waited_by[on].push_back(i);
    if (waiters_[i].can_move) moving.push_back(i);
  }
  while (!moving.empty()) {
    const std::uint32_t i = moving.back();
    moving.pop_back();
    if (stuck[i] == 0) continue;
    stuck[i] = 0;
    moving.insert(moving.end(), waited_by[i].begin(), waited_by[i].end());
  }
  return stuck;
}

// In the order of routers' ids, which does not depend on workers. What is stuck in a buffer at an
// output waits for an input.
std::uint32_t Search::first_of(const std::vector<char>& stuck) const {
  for (const std::uint32_t number : state_.placement.router_number) {
    const Router& router = state_.routers[number];
    const std::uint32_t first = router.first_end * state_.setup.vcs;
    for (std::uint32_t i = first; i < first + router.ends * state_.setup.vcs; ++i)
      if (stuck[i] != 0) return i;
  }
  return none;
}

std::string Search::describe(std::uint32_t buffer) const {
  // An end's output has the same number as its input.
  const InputVc& in = state_.inputs[is_queue(buffer) ? output_of(buffer) : buffer];
  const Setup& setup = state_.setup;
  const RouterId router = state_.id_of(in.router);
  const std::uint32_t ports = state_.routers[in.router].ports;
  std::string text = router_name(setup.topology, router);
  text += is_queue(buffer) ? " to " : " from ";
  if (in.port >= ports)
    text += "its node " + std::to_string(in.port - ports);
  else
    text += router_name(setup.topology, setup.graph.ports(router)[in.port].peer);
  return text + " VC " + std::to_string(in.vc);
}

std::string Search::find() {
  for (std::uint32_t i = 0; i < waiters_.size(); ++i)
    if (is_used(i)) waiters_[i] = is_queue(i) ? waiter_in_queue(output_of(i)) : waiter_at(i);
  const std::vector<char> held = stuck();
  const std::uint32_t first = first_of(held);
  if (first == none) return {};
  // What is stuck waits for stuck ones only, so a walk along them comes back somewhere.
  std::vector<std::uint32_t> walk = {first};
  for (;;) {
    const Waiter& waiter = waiters_[walk.back()];
    if (waiter.waits.empty()) return describe(walk.back()) + " has no way on";
    const std::uint32_t next = waiter.waits.front();
    const auto before = std::find(walk.begin(), walk.end(), next);
    if (before != walk.end()) {
      walk.erase(walk.begin(), before);
      break;
    }
    walk.push_back(next);
  }
  std::string text = std::to_string(std::count(held.begin(), held.end(), 1)) +
                     " buffers wait for each other: " + describe(walk.front());
  for (std::size_t i = 1; i < walk.size(); ++i) text += " -> " + describe(walk[i]);
  return text;
}

}  // namespace

std::string find_deadlock(const Workers& workers) {
  return Search(workers).find();
}

}  // namespace weft::flits
