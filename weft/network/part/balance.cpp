// SPDX-License-Identifier: Apache-2.0
// Weights of parts, links between them, and the mending of cuts that come out uneven.
#include <algorithm>

#include <weft/base/check.hpp>
#include <weft/network/part/cuts.hpp>

namespace weft::detail {
namespace {

class Evener {
 public:
  Evener(const CutTask& task, Owners& owner)
      : task_(task), owner_(owner), weights_(part_weights(task, owner)), routers_(task.parts) {
    for (const std::uint32_t p : owner) ++routers_[p];
  }

  void fill_empty() {
    for (std::uint32_t p = 0; p < task_.parts; ++p)
      if (routers_[p] == 0) apply(best_move(heaviest(2), p, false));
  }

  // Ends, as every move brings the weights nearer to each other; and a part beyond the limit always
  // has a router that the lightest can take.
  void level() {
    std::uint64_t total = 0;
    for (const std::uint64_t w : weights_) total += w;
    const std::uint64_t mean = total / task_.parts + 1;
    const std::uint64_t router = *std::max_element(task_.weight.begin(), task_.weight.end());
    const std::uint64_t limit = mean + std::max(router, mean / 32);
    for (std::uint32_t from = heaviest(1); weights_[from] > limit; from = heaviest(1))
      apply(best_move(from, lightest(), true));
  }

 private:
  struct Move {
    bool found = false;
    std::uint32_t router = 0, to = 0;
    std::int64_t gain = 0;  // Links that are cut no more, less those cut anew.
  };

  std::uint32_t heaviest(std::uint32_t routers_min) const {
    std::uint32_t best = task_.parts;
    for (std::uint32_t p = 0; p < task_.parts; ++p)
      if (routers_[p] >= routers_min && (best == task_.parts || weights_[p] > weights_[best]))
        best = p;
    WEFT_CHECK(best < task_.parts);
    return best;
  }
  std::uint32_t lightest() const {
    return static_cast<std::uint32_t>(std::min_element(weights_.begin(), weights_.end()) -
                                      weights_.begin());
  }

  // The best router of `from` to give away: to `to` or, if that is only an offer (`anywhere`), to
  // the part of a neighbour.
  Move best_move(std::uint32_t from, std::uint32_t to, bool anywhere) const {
    Move best;
    for (std::uint32_t r = 0; r < owner_.size(); ++r) {
      if (owner_[r] != from) continue;
      consider(r, to, anywhere, best);
      if (!anywhere) continue;
      for (const Port& port : task_.topology.graph.ports(RouterId(r)))
        if (port.usable() && owner_[port.peer.index] != from)
          consider(r, owner_[port.peer.index], true, best);
    }
    return best;
  }

  void consider(std::uint32_t router, std::uint32_t to, bool must_level, Move& best) const {
    const std::uint32_t from = owner_[router];
    const std::uint64_t weight = task_.weight[router];
    if (must_level && (weight == 0 || weights_[to] + weight >= weights_[from])) return;
    Move move{true, router, to, 0};
    for (const Port& port : task_.topology.graph.ports(RouterId(router))) {
      if (!port.usable()) continue;
      move.gain += owner_[port.peer.index] == to;
      move.gain -= owner_[port.peer.index] == from;
    }
    if (!best.found || move.gain > best.gain) best = move;
  }

  void apply(const Move& move) {
    WEFT_CHECK(move.found);
    std::uint32_t& owner = owner_[move.router];
    weights_[owner] -= task_.weight[move.router];
    --routers_[owner];
    owner = move.to;
    weights_[owner] += task_.weight[move.router];
    ++routers_[owner];
  }

  const CutTask& task_;
  Owners& owner_;
  std::vector<std::uint64_t> weights_;
  Numbers routers_;
};

}  // namespace

std::uint64_t links_between(const Graph& graph, const Owners& owner) {
  std::uint64_t links = 0;
  for (std::uint32_t r = 0; r < owner.size(); ++r)
    for (const Port& port : graph.ports(RouterId(r)))
      links += port.usable() && owner[port.peer.index] != owner[r];
  return links;
}

std::vector<std::uint64_t> part_weights(const CutTask& task, const Owners& owner) {
  std::vector<std::uint64_t> weights(task.parts);
  for (std::uint32_t r = 0; r < owner.size(); ++r) weights[owner[r]] += task.weight[r];
  return weights;
}

void even_out(const CutTask& task, Owners& owner) {
  Evener evener(task, owner);
  evener.fill_empty();
  evener.level();
}

}  // namespace weft::detail
