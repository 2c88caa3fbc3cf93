// SPDX-License-Identifier: Apache-2.0
// Which packets can never move again? A head can move if one of its ways leads to a buffer with
// room, now or once packets that can move have left it. What remains after all that can move is
// taken away waits in circles; one circle is shown.
#include <algorithm>
#include <bit>

#include <weft/sim/engine.hpp>

namespace weft::detail {

std::uint32_t Engine::router_of_input(std::uint32_t input) const {
  const auto after =
      std::upper_bound(routers_.begin(), routers_.end(), input,
                       [](std::uint32_t i, const Router& r) { return i < r.first_input; });
  return static_cast<std::uint32_t>(after - routers_.begin()) - 1;
}

std::string Engine::describe_input(std::uint32_t input) const {
  const std::uint32_t r = router_of_input(input);
  const std::uint32_t local = input - routers_[r].first_input;
  const std::uint32_t port = local / vcs_;
  const auto ends = static_cast<std::uint32_t>(cable_count(r));
  std::string text = router_name(topology_, RouterId(r));
  if (port >= ends) {
    text += " output buffer " + std::to_string(port - ends);
  } else if (port >= routers_[r].ports) {
    text += " from its node " + std::to_string(port - routers_[r].ports);
  } else {
    text += " from " + router_name(topology_, graph_.ports(RouterId(r))[port].peer);
  }
  return text + " VC " + std::to_string(local % vcs_);
}

// Where a routed head may go. With a single way only the waiting masks know the output.
std::vector<Way> Engine::ways_of(std::uint32_t input) const {
  const Input& in = inputs_[input];
  if (ways_ > 1 && in.port != no_port) {
    const Way* const first = &way_list_[std::size_t{input} * ways_];
    return {first, first + way_count_[input]};
  }
  std::vector<Way> ways;
  const std::uint32_t r = router_of_input(input);
  for (int o = 0; o < routers_[r].outputs - routers_[r].nodes; ++o) {
    const std::uint32_t bit = input - first_candidate(r, o);
    if (bit >= words_ * 64) continue;
    const std::uint32_t global = routers_[r].first_output + static_cast<std::uint32_t>(o);
    if (((waiting(global)[bit / 64] >> (bit % 64)) & 1) == 0) continue;
    ways.push_back({.output = static_cast<std::uint16_t>(o), .vcs = in.vcs, .route = 0});
  }
  return ways;
}

// Buffers whose lack of room holds this head back. can_move: one of its ways is open, or it is not
// routed yet.
std::vector<std::uint32_t> Engine::blockers(std::uint32_t input, bool& can_move) const {
  std::vector<std::uint32_t> full;
  can_move = false;
  const std::uint32_t r = router_of_input(input);
  const Input& in = inputs_[input];
  const std::uint32_t bit = input - routers_[r].first_input;
  if (in.port != no_port) {
    if (((fresh(r)[bit / 64] >> (bit % 64)) & 1) != 0) can_move = true;
  }
  const std::int64_t size = slot(in, in.head).size();
  for (const Way& way : ways_of(input)) {
    const Output& out = outputs_[routers_[r].first_output + way.output];
    if (out.kind == to_node) can_move = true;
    for (std::uint32_t v = 0; v < vcs_; ++v) {
      if (((way.vcs >> v) & 1) == 0) continue;
      const Input& next = inputs_[out.target + v];
      std::int64_t used = size;
      for (std::uint16_t p = next.head; p != next.tail; ++p) used += slot(next, p).size();
      const int packets = out.kind == to_buffer ? output_buffer_packets_ : buffer_packets_;
      const Bytes whole = out.kind == to_buffer ? machine_.output_buffer : machine_.buffer_size();
      if (used <= whole.count && static_cast<std::uint16_t>(next.tail - next.head) < packets) {
        can_move = true;
      } else {
        full.push_back((out.remote ? out.mail : out.target) + v);
      }
    }
  }
  return full;
}

std::string Engine::find_deadlock() const {
  const std::uint32_t real = real_inputs_;
  std::vector<std::vector<std::uint32_t>> waits(real);
  std::vector<std::vector<std::uint32_t>> waited_by(real);
  std::vector<char> stuck(real, 0);
  std::vector<std::uint32_t> moving;
  for (std::uint32_t i = 0; i < real; ++i) {
    if (inputs_[i].head == inputs_[i].tail) continue;
    bool can_move = false;
    waits[i] = blockers(i, can_move);
    stuck[i] = 1;
    for (const std::uint32_t b : waits[i]) waited_by[b].push_back(i);
    if (can_move) moving.push_back(i);
  }
  while (!moving.empty()) {
    const std::uint32_t i = moving.back();
    moving.pop_back();
    if (stuck[i] == 0) continue;
    stuck[i] = 0;
    moving.insert(moving.end(), waited_by[i].begin(), waited_by[i].end());
  }
  const auto first = std::find(stuck.begin(), stuck.end(), 1);
  if (first == stuck.end()) return {};
  // Every stuck head waits only for stuck ones: walking on must come back somewhere.
  std::vector<std::uint32_t> walk = {static_cast<std::uint32_t>(first - stuck.begin())};
  std::vector<std::uint32_t> order(real, 0);
  for (;;) {
    const std::uint32_t here = walk.back();
    if (order[here] != 0) {
      walk.erase(walk.begin(), walk.begin() + order[here] - 1);
      break;
    }
    order[here] = static_cast<std::uint32_t>(walk.size());
    if (waits[here].empty()) return describe_input(here) + " has no way on";
    walk.push_back(waits[here].front());
  }
  std::string text = std::to_string(std::count(stuck.begin(), stuck.end(), 1)) +
                     " buffers wait for each other: " + describe_input(walk.front());
  for (std::size_t i = 1; i < walk.size(); ++i) text += " -> " + describe_input(walk[i]);
  return text;
}

}  // namespace weft::detail
