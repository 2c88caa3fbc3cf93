// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/study/map/overflow.hpp>

namespace weft::map {

namespace {

class Seats {
 public:
  explicit Seats(const Problem& problem)
      : problem_(problem), free_(problem.topology().graph.router_count()) {
    // Taken from the end, so the lowest comes first.
    for (std::uint32_t s = problem.slots(); s-- > 0;) free_[router(s).index].push_back(s);
  }

  RouterId router(std::uint32_t slot) const {
    return problem_.topology().graph.router_of(problem_.node(slot));
  }
  void take(std::uint32_t slot) {
    auto& list = free_[router(slot).index];
    list.erase(std::find(list.begin(), list.end(), slot));
  }
  std::uint32_t pop(RouterId r) {
    auto& list = free_[r.index];
    if (list.empty()) return anywhere;
    const std::uint32_t slot = list.back();
    list.pop_back();
    return slot;
  }
  std::uint32_t pop_nearest(RouterId from) {
    const Graph& graph = problem_.topology().graph;
    std::vector<bool> seen(graph.router_count(), false);
    std::vector<std::uint32_t> front = {from.index};
    seen[from.index] = true;
    for (std::size_t i = 0; i < front.size(); ++i) {
      const std::uint32_t slot = pop(RouterId(front[i]));
      if (slot != anywhere) return slot;
      for (const Port& port : graph.ports(RouterId(front[i]))) {
        if (!port.usable() || seen[port.peer.index]) continue;
        seen[port.peer.index] = true;
        front.push_back(port.peer.index);
      }
    }
    return pop_any();
  }
  std::uint32_t pop_any() {
    while (free_[next_].empty()) ++next_;
    return pop(RouterId(next_));
  }

 private:
  const Problem& problem_;
  std::vector<std::vector<std::uint32_t>> free_;  // By router.
  std::uint32_t next_ = 0;
};

}  // namespace

RankMap seat(const Problem& problem, const std::vector<RouterId>& wanted) {
  Seats seats(problem);
  RankMap map(problem.slots(), anywhere);
  if (problem.any_fixed()) {
    const RankMap order = problem.in_order();
    for (std::uint32_t r = 0; r < problem.ranks(); ++r) {
      if (!problem.is_fixed(r)) continue;
      map[r] = order[r];
      seats.take(order[r]);
    }
  }
  std::vector<std::uint32_t> homeless;
  for (std::uint32_t r = 0; r < wanted.size(); ++r) {
    if (map[r] == anywhere) map[r] = seats.pop(wanted[r]);
    if (map[r] == anywhere) homeless.push_back(r);
  }
  for (const std::uint32_t r : homeless) map[r] = seats.pop_nearest(wanted[r]);
  for (std::uint32_t& slot : map)
    if (slot == anywhere) slot = seats.pop_any();
  return map;
}

}  // namespace weft::map
