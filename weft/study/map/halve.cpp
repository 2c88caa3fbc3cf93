// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <queue>

#include <weft/network/part/halve.hpp>
#include <weft/study/map/halve.hpp>

namespace weft::map {

namespace {

using Sides = std::vector<std::uint8_t>;

// Two more vertices stand for what is outside, as METIS knows no pull. Weights become whole
// numbers.
detail::HalvingTask with_anchors(const Group& group, std::uint32_t wanted, std::uint32_t seed) {
  const auto n = static_cast<std::uint32_t>(group.pull.size());
  double total = 0;
  for (const double w : group.weight) total += w;
  for (const double p : group.pull) total += 2 * std::abs(p);
  const double scale = total > 0 ? 1e9 / total : 1;
  const auto whole = [&](double w) {
    return static_cast<std::uint32_t>(std::max(1.0, std::floor(w * scale)));
  };
  detail::HalvingTask task;
  task.seed = seed;
  task.share = (wanted + 1.0) / (n + 2.0);
  task.first.push_back(0);
  std::vector<std::uint32_t> drawn[2];
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t e = group.first[v]; e < group.first[v + 1]; ++e) {
      task.peer.push_back(group.peer[e]);
      task.weight.push_back(whole(group.weight[e]));
    }
    if (group.pull[v] != 0) {
      const int anchor = group.pull[v] > 0 ? 0 : 1;
      drawn[anchor].push_back(v);
      task.peer.push_back(n + static_cast<std::uint32_t>(anchor));
      task.weight.push_back(whole(std::abs(group.pull[v])));
    }
    task.first.push_back(static_cast<std::uint32_t>(task.peer.size()));
  }
  for (const auto& list : drawn) {
    for (const std::uint32_t v : list) {
      task.peer.push_back(v);
      task.weight.push_back(whole(std::abs(group.pull[v])));
    }
    task.first.push_back(static_cast<std::uint32_t>(task.peer.size()));
  }
  return task;
}

// Moves of single ranks, best first, each at most once; then back to the best moment at which the
// sizes were right.
class Pass {
 public:
  Pass(const Group& group, Sides& side, std::uint32_t wanted)
      : group_(group),
        side_(side),
        wanted_(wanted),
        gain_(side.size()),
        moved_(side.size(), false) {
    for (const std::uint8_t s : side) first_ += s == 0 ? 1 : 0;
    for (std::uint32_t v = 0; v < side.size(); ++v) {
      gain_[v] = find_gain(v);
      queues_[side[v]].push({gain_[v], v});
    }
  }

  // True if anything became better.
  bool run() {
    const std::int64_t begun_off = off();
    double sum = 0;
    double best = 0;
    std::size_t best_length = 0;
    bool best_fits = begun_off == 0;
    std::size_t fruitless = 0;
    const std::size_t patience = std::max<std::size_t>(50, side_.size() / 8);
    while (!best_fits || fruitless < patience) {
      const int from = choose();
      if (from < 0) break;
      const Entry top = queues_[from].top();
      queues_[from].pop();
      sum += top.gain;
      move(top.vertex);
      const bool fits = off() == 0;
      ++fruitless;
      if (!fits || (best_fits && sum <= best + 1e-12)) continue;
      best = sum;
      best_length = trail_.size();
      best_fits = true;
      fruitless = 0;
    }
    while (trail_.size() > best_length) {
      side_[trail_.back()] ^= 1;
      trail_.pop_back();
    }
    return best_fits && (best > 1e-12 || begun_off != 0);
  }

 private:
  struct Entry {
    double gain;
    std::uint32_t vertex;
    bool operator<(const Entry& other) const {
      return gain != other.gain ? gain < other.gain : vertex > other.vertex;
    }
  };
  std::int64_t off() const {
    return static_cast<std::int64_t>(first_) - static_cast<std::int64_t>(wanted_);
  }
  double find_gain(std::uint32_t v) const {
    double gain = side_[v] == 0 ? -group_.pull[v] : group_.pull[v];
    for (std::uint32_t e = group_.first[v]; e < group_.first[v + 1]; ++e)
      gain += side_[group_.peer[e]] != side_[v] ? group_.weight[e] : -group_.weight[e];
    return gain;
  }
  bool drop_stale(int from) {
    auto& queue = queues_[from];
    while (!queue.empty() && (moved_[queue.top().vertex] || side_[queue.top().vertex] != from ||
                              queue.top().gain != gain_[queue.top().vertex]))
      queue.pop();
    return !queue.empty();
  }
  // From the half that has too many; if none has, whichever gains more.
  int choose() {
    const bool first = drop_stale(0);
    const bool second = drop_stale(1);
    if (off() > 0) return first ? 0 : -1;
    if (off() < 0) return second ? 1 : -1;
    if (!first || !second) return -1;
    return queues_[0].top().gain >= queues_[1].top().gain ? 0 : 1;
  }
  void move(std::uint32_t v) {
    moved_[v] = true;
    first_ += side_[v] == 0 ? -1 : 1;
    side_[v] ^= 1;
    trail_.push_back(v);
    for (std::uint32_t e = group_.first[v]; e < group_.first[v + 1]; ++e) {
      const std::uint32_t u = group_.peer[e];
      if (moved_[u]) continue;
      gain_[u] += side_[u] != side_[v] ? 2 * group_.weight[e] : -2 * group_.weight[e];
      queues_[side_[u]].push({gain_[u], u});
    }
  }

  const Group& group_;
  Sides& side_;
  std::uint32_t wanted_;
  std::int32_t first_ = 0;  // How many are in the first half.
  std::vector<double> gain_;
  std::vector<bool> moved_;
  std::priority_queue<Entry> queues_[2];
  std::vector<std::uint32_t> trail_;
};

void mend(const Group& group, Sides& side, std::uint32_t wanted) {
  constexpr int passes_max = 12;
  for (int i = 0; i < passes_max; ++i)
    if (!Pass(group, side, wanted).run()) break;
}

Sides by_number(std::size_t n, std::uint32_t wanted) {
  Sides side(n, 1);
  std::fill_n(side.begin(), wanted, std::uint8_t{0});
  return side;
}

}  // namespace

double cost(const Group& group, const Sides& side) {
  double sum = 0;
  for (std::uint32_t v = 0; v < side.size(); ++v) {
    if (group.pull[v] > 0 ? side[v] == 1 : side[v] == 0) sum += std::abs(group.pull[v]);
    for (std::uint32_t e = group.first[v]; e < group.first[v + 1]; ++e)
      if (side[group.peer[e]] != side[v]) sum += group.weight[e] / 2;
  }
  return sum;
}

Sides halve(const Group& group, std::uint32_t wanted, std::uint32_t seed) {
  constexpr std::size_t few = 8;
  const std::size_t n = group.pull.size();
  Sides best = by_number(n, wanted);
  mend(group, best, wanted);
  if (n < few) return best;
  const auto cut = detail::halve_graph(with_anchors(group, wanted, seed));
  if (!cut) return best;
  // Either half may be the first one.
  for (const int turned : {0, 1}) {
    Sides side(cut->begin(), cut->begin() + static_cast<std::ptrdiff_t>(n));
    if (turned == 1)
      for (std::uint8_t& s : side) s ^= 1;
    mend(group, side, wanted);
    if (cost(group, side) < cost(group, best)) best = std::move(side);
  }
  return best;
}

}  // namespace weft::map
