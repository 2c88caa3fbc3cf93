// SPDX-License-Identifier: Apache-2.0
// Which packets can never move again? A head can move if one of its ways leads to a buffer with
// room, now or once packets that can move have left it. What remains after all that can move is
// taken away waits in circles; one circle is shown.
#include <algorithm>
#include <bit>

#include <weft/simulate/router/engine.hpp>

namespace weft::detail {

std::uint32_t Engine::router_of_input(std::uint32_t input) const {
  const auto after =
      std::upper_bound(routers_.begin(), routers_.end(), input,
                       [](std::uint32_t i, const Router& r) { return i < r.first_input; });
  return static_cast<std::uint32_t>(after - routers_.begin()) - 1;
}

Engine::Place Engine::place_of(std::uint32_t input) const {
  const std::uint32_t r = router_of_input(input);
  return (Place{ids_[r]} << 32) | (input - routers_[r].first_input);
}

std::string Engine::describe(Place place) const {
  const RouterId router(static_cast<std::uint32_t>(place >> 32));
  const auto local = static_cast<std::uint32_t>(place);
  const std::uint32_t port = local / vcs_;
  const auto ports = static_cast<std::uint32_t>(graph_.ports(router).size());
  const auto ends = ports + static_cast<std::uint32_t>(graph_.nodes_at(router).size());
  std::string text = router_name(topology_, router);
  if (port >= ends) {
    text += " output buffer " + std::to_string(port - ends);
  } else if (port >= ports) {
    text += " from its node " + std::to_string(port - ports);
  } else {
    text += " from " + router_name(topology_, graph_.ports(router)[port].peer);
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

// can_move: one of its ways is open, or it is not routed yet.
Engine::Waiter Engine::waiter(std::uint32_t input) const {
  Waiter head{place_of(input), false, {}};
  const std::uint32_t r = router_of_input(input);
  const Input& in = inputs_[input];
  const std::uint32_t bit = input - routers_[r].first_input;
  if (in.port != no_port) {
    if (((fresh(r)[bit / 64] >> (bit % 64)) & 1) != 0) head.can_move = true;
  }
  const std::int64_t size = slot(in, in.head).size();
  for (const Way& way : ways_of(input)) {
    const Output& out = outputs_[routers_[r].first_output + way.output];
    if (out.kind == to_node) head.can_move = true;
    for (std::uint32_t v = 0; v < vcs_; ++v) {
      if (((way.vcs >> v) & 1) == 0) continue;
      const Input& next = inputs_[out.target + v];
      std::int64_t used = size;
      for (std::uint16_t p = next.head; p != next.tail; ++p) used += slot(next, p).size();
      const int packets = out.kind == to_buffer ? output_buffer_packets_ : buffer_packets_;
      const Bytes whole = out.kind == to_buffer ? machine_.output_buffer : machine_.buffer_size();
      if (used <= whole.count && static_cast<std::uint16_t>(next.tail - next.head) < packets) {
        head.can_move = true;
      } else if (abroad_ != nullptr && out.remote) {
        head.waits.push_back((Place{out.router} << 32) | (out.mail + v));
      } else {
        head.waits.push_back(place_of((out.remote ? out.mail : out.target) + v));
      }
    }
  }
  return head;
}

// Of all processes, by place.
std::vector<Engine::Waiter> Engine::all_waiters() const {
  std::vector<Waiter> all;
  for (std::uint32_t i = 0; i < real_inputs_; ++i) {
    if (inputs_[i].head != inputs_[i].tail) all.push_back(waiter(i));
  }
  if (abroad_ != nullptr) {
    Packer mine;
    for (const Waiter& head : all) {
      mine.put(head.place);
      mine.put(head.can_move);
      mine.put_list(head.waits);
    }
    all.clear();
    for (const PeerBytes& bytes : abroad_->peers.all_gather(mine.take())) {
      for (Unpacker theirs(bytes); !theirs.empty();) {
        const auto place = theirs.take<Place>();
        const bool can_move = theirs.take<bool>();
        all.push_back({place, can_move, theirs.take_list<Place>()});
      }
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Waiter& a, const Waiter& b) { return a.place < b.place; });
  return all;
}

std::string Engine::find_deadlock() const {
  const std::vector<Waiter> heads = all_waiters();
  // Who is waited for but has nothing in its buffer will have room.
  const auto find = [&](Place place) {
    const auto at = std::lower_bound(heads.begin(), heads.end(), place,
                                     [](const Waiter& w, Place p) { return w.place < p; });
    return at != heads.end() && at->place == place ? at - heads.begin() : -1;
  };
  std::vector<std::vector<std::size_t>> waited_by(heads.size());
  std::vector<char> stuck(heads.size(), 1);
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    bool free = heads[i].can_move;
    for (const Place place : heads[i].waits) {
      const auto on = find(place);
      if (on < 0) free = true;
      if (on >= 0) waited_by[static_cast<std::size_t>(on)].push_back(i);
    }
    if (free) moving.push_back(i);
  }
  while (!moving.empty()) {
    const std::size_t i = moving.back();
    moving.pop_back();
    if (stuck[i] == 0) continue;
    stuck[i] = 0;
    moving.insert(moving.end(), waited_by[i].begin(), waited_by[i].end());
  }
  const auto first = std::find(stuck.begin(), stuck.end(), 1);
  if (first == stuck.end()) return {};
  // Every stuck head waits only for stuck ones: walking on must come back somewhere.
  std::vector<std::size_t> walk = {static_cast<std::size_t>(first - stuck.begin())};
  std::vector<std::size_t> order(heads.size(), 0);
  for (;;) {
    const std::size_t here = walk.back();
    if (order[here] != 0) {
      walk.erase(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(order[here]) - 1);
      break;
    }
    order[here] = walk.size();
    if (heads[here].waits.empty()) return describe(heads[here].place) + " has no way on";
    walk.push_back(static_cast<std::size_t>(find(heads[here].waits.front())));
  }
  std::string text = std::to_string(std::count(stuck.begin(), stuck.end(), 1)) +
                     " buffers wait for each other: " + describe(heads[walk.front()].place);
  for (std::size_t i = 1; i < walk.size(); ++i) text += " -> " + describe(heads[walk[i]].place);
  return text;
}

}  // namespace weft::detail
