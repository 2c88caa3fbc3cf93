// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <weft/message/conn/neighbours.hpp>

namespace weft::conn {

Neighbours::Neighbours(State& state) : state_(state) {
  if (state.options.mode == Mode::managed) {
    neighbours_ = state.layout.neighbours_of(state.self);
  } else if (state.options.mode == Mode::full) {
    for (std::uint32_t r = 0; r < state.below.ranks; ++r) {
      if (RankId(r) != state.self) neighbours_.emplace_back(r);
    }
  }
  for (const RankId peer : neighbours_) state.link(peer).neighbour = true;
}

void Neighbours::add(RankId peer) {
  state_.link(peer).neighbour = true;
  neighbours_.push_back(peer);
}

void Neighbours::remove(RankId peer) {
  state_.link(peer).neighbour = false;
  std::erase(neighbours_, peer);
}

void Neighbours::inform(RankId peer) {
  Head news;
  news.verb = Verb::gone;
  for (const std::uint32_t rank : state_.gone) {
    news.source = rank;
    state_.post(peer, news);
  }
  news.verb = Verb::apart;
  for (const auto& [a, b] : separated_) {
    news.source = a;
    news.target = b;
    state_.post(peer, news);
  }
}

bool Neighbours::separate(RankId a, RankId b) {
  if (!separated_.insert(std::minmax(a.index, b.index)).second) return false;
  Head news;
  news.verb = Verb::apart;
  news.source = a.index;
  news.target = b.index;
  state_.spread(news, state_.self);
  return true;
}

bool Neighbours::usable(RankId peer) const {
  const Link* const to = state_.find(peer);
  if (to == nullptr || state_.is_gone(peer)) return false;
  return to->up() || to->state == Link::State::forcing ||
         (to->state == Link::State::opening && to->neighbour);
}

// Whether two other ranks are connected, as far as we have heard.
bool Neighbours::joined(RankId a, RankId b) const {
  return state_.layout.neighbours(a, b) && !state_.is_gone(a) && !state_.is_gone(b) &&
         !separated_.contains(std::minmax(a.index, b.index));
}

Route Neighbours::find_route(RankId target, std::uint8_t most) {
  if (state_.is_gone(target)) return {};
  if (usable(target)) return {target, 0, true};
  auto known = routes_.find(target.index);
  if (known == routes_.end()) known = routes_.emplace(target.index, search(target)).first;
  const Route& route = known->second;
  return route.found && route.left <= most ? route : Route{};
}

// Among several equal routes, ranks begin at different ones, to spread the load.
Route Neighbours::search(RankId target) const {
  const std::size_t count = neighbours_.size();
  const std::uint32_t group = state_.layout.group(target);
  const auto nth = [&](std::size_t i) {
    return neighbours_[(i + state_.self.index + target.index) % count];
  };
  for (const bool in_group : {true, false}) {
    for (std::size_t i = 0; i < count; ++i) {
      const RankId next = nth(i);
      if ((state_.layout.group(next) == group) != in_group) continue;
      if (usable(next) && joined(next, target)) return {next, 1, true};
    }
  }
  return search_far(target);
}

// Over more than one relay: breadth first.
Route Neighbours::search_far(RankId target) const {
  struct Seen {
    RankId at, next;
  };
  std::vector<bool> known(state_.below.ranks);
  known[state_.self.index] = true;
  std::vector<Seen> edge;
  for (const RankId next : neighbours_) {
    if (!usable(next)) continue;
    known[next.index] = true;
    edge.push_back({next, next});
  }
  for (std::uint8_t left = 2; left <= relays_most; ++left) {
    std::vector<Seen> further;
    for (const Seen& seen : edge) {
      for (const RankId at : state_.layout.neighbours_of(seen.at)) {
        if (known[at.index] || !joined(seen.at, at)) continue;
        known[at.index] = true;
        if (joined(at, target)) return {seen.next, left, true};
        further.push_back({at, seen.next});
      }
    }
    edge = std::move(further);
  }
  return {};
}

}  // namespace weft::conn
