// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <weft/study/map/structure.hpp>

namespace weft::map {

namespace {

constexpr std::size_t sides_max = 20;  // Each has two neighbours for a rank.

struct Neighbour {
  std::uint32_t rank, edge;
};

// Undirected and without weights: some of a pattern's talks.
struct Net {
  std::vector<std::uint32_t> member;          // Ranks, ascending.
  std::vector<std::vector<Neighbour>> peers;  // By position in member; sorted by rank.
  std::uint32_t edges = 0;
};

class Classes {  // Union-find.
 public:
  explicit Classes(std::uint32_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::uint32_t find(std::uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

using Wanted = std::function<bool(const Talk&)>;

Net make_net(const Problem& problem, const Wanted& wanted) {
  Net net;
  std::vector<std::uint32_t> place(problem.slots(), anywhere);
  for (std::uint32_t r = 0; r < problem.ranks(); ++r) {
    if (problem.talks(r).empty()) continue;
    place[r] = static_cast<std::uint32_t>(net.member.size());
    net.member.push_back(r);
  }
  net.peers.resize(net.member.size());
  for (const std::uint32_t r : net.member) {
    for (const Talk& talk : problem.talks(r)) {
      if (talk.peer <= r || !wanted(talk)) continue;
      net.peers[place[r]].push_back({place[talk.peer], net.edges});
      net.peers[place[talk.peer]].push_back({place[r], net.edges});
      ++net.edges;
    }
  }
  for (auto& list : net.peers)
    std::sort(list.begin(), list.end(),
              [](const Neighbour& a, const Neighbour& b) { return a.rank < b.rank; });
  return net;
}

bool is_connected(const Net& net) {
  if (net.member.empty()) return false;
  std::vector<bool> seen(net.member.size(), false);
  std::vector<std::uint32_t> open = {0};
  seen[0] = true;
  std::size_t count = 0;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    ++count;
    for (const Neighbour& n : net.peers[at]) {
      if (seen[n.rank]) continue;
      seen[n.rank] = true;
      open.push_back(n.rank);
    }
  }
  return count == net.member.size();
}

const Neighbour* find_peer(const Net& net, std::uint32_t of, std::uint32_t rank) {
  const auto& list = net.peers[of];
  const auto found =
      std::lower_bound(list.begin(), list.end(), rank,
                       [](const Neighbour& n, std::uint32_t r) { return n.rank < r; });
  return found != list.end() && found->rank == rank ? &*found : nullptr;
}

// Edges of one dimension in one class. Each pair of edges that meet at a rank is looked at.
class Dimensions {
 public:
  explicit Dimensions(const Net& net) : net_(net), classes_(net.edges) {
    for (std::uint32_t at = 0; at < net.member.size(); ++at) {
      const auto& list = net.peers[at];
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t k = i + 1; k < list.size(); ++k) compare(at, list[i], list[k]);
    }
  }
  std::uint32_t of(std::uint32_t edge) { return classes_.find(edge); }

 private:
  void compare(std::uint32_t at, const Neighbour& a, const Neighbour& b) {
    int squares = 0;
    const Neighbour* beyond_a = nullptr;
    const Neighbour* beyond_b = nullptr;
    for (const Neighbour& c : net_.peers[a.rank]) {
      if (c.rank == at) continue;
      const Neighbour* const other = find_peer(net_, b.rank, c.rank);
      if (other == nullptr) continue;
      ++squares;
      beyond_a = &c;
      beyond_b = other;
    }
    if (squares == 1 && find_peer(net_, a.rank, b.rank) == nullptr) {
      classes_.join(a.edge, beyond_b->edge);
      classes_.join(b.edge, beyond_a->edge);
    } else {
      classes_.join(a.edge, b.edge);
    }
  }

  const Net& net_;
  Classes classes_;
};

// What is left when a dimension's edges are taken away falls into layers: its coordinates.
std::vector<std::uint32_t> layers(const Net& net, Dimensions& dimensions, std::uint32_t dimension,
                                  std::uint32_t& count) {
  std::vector<std::uint32_t> layer(net.member.size(), anywhere);
  std::vector<std::uint32_t> open;
  count = 0;
  for (std::uint32_t start = 0; start < net.member.size(); ++start) {
    if (layer[start] != anywhere) continue;
    layer[start] = count;
    open.assign(1, start);
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const Neighbour& n : net.peers[at]) {
        if (layer[n.rank] != anywhere || dimensions.of(n.edge) == dimension) continue;
        layer[n.rank] = count;
        open.push_back(n.rank);
      }
    }
    ++count;
  }
  return layer;
}

struct Side {
  std::uint32_t length = 0;
  bool cyclic = false;
  std::vector<std::uint32_t> place;  // By member.
};

// Layers in a row, each beside those that it has edges to; nothing if they are no path or ring.
std::optional<Side> straighten(const Net& net, Dimensions& dimensions, std::uint32_t dimension) {
  Side side;
  side.place = layers(net, dimensions, dimension, side.length);
  std::vector<std::vector<std::uint32_t>> beside(side.length);
  for (std::uint32_t at = 0; at < net.member.size(); ++at) {
    for (const Neighbour& n : net.peers[at]) {
      if (dimensions.of(n.edge) != dimension) continue;
      auto& list = beside[side.place[at]];
      const std::uint32_t other = side.place[n.rank];
      if (other == side.place[at]) return std::nullopt;
      if (std::find(list.begin(), list.end(), other) == list.end()) list.push_back(other);
      if (list.size() > 2) return std::nullopt;
    }
  }
  std::uint32_t first = 0;
  side.cyclic = side.length > 2;
  for (std::uint32_t l = 0; l < side.length; ++l) {
    if (beside[l].size() != 1) continue;
    if (side.cyclic || side.length == 2) first = l;
    side.cyclic = false;
  }
  std::vector<std::uint32_t> number(side.length, anywhere);
  std::uint32_t at = first;
  for (std::uint32_t i = 0; i < side.length; ++i) {
    number[at] = i;
    const auto& list = beside[at];
    const auto next = std::find_if(list.begin(), list.end(),
                                   [&](std::uint32_t l) { return number[l] == anywhere; });
    if (next != list.end()) at = *next;
  }
  if (std::find(number.begin(), number.end(), anywhere) != number.end()) return std::nullopt;
  for (std::uint32_t& place : side.place) place = number[place];
  return side;
}

std::optional<std::vector<Side>> read_sides(const Net& net) {
  Dimensions dimensions(net);
  std::vector<std::uint32_t> distinct;
  for (std::uint32_t e = 0; e < net.edges; ++e) distinct.push_back(dimensions.of(e));
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.empty() || distinct.size() > sides_max) return std::nullopt;
  std::vector<Side> sides;
  std::uint64_t product = 1;
  for (const std::uint32_t dimension : distinct) {
    auto side = straighten(net, dimensions, dimension);
    if (!side) return std::nullopt;
    product *= side->length;
    if (product > net.member.size()) return std::nullopt;
    sides.push_back(*std::move(side));
  }
  if (product != net.member.size()) return std::nullopt;
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.length > b.length; });
  return sides;
}

std::optional<Numbering> read_grid(const Problem& problem, const Net& net) {
  std::uint64_t work = 0;
  for (const auto& list : net.peers) {
    if (list.empty() || list.size() > 2 * sides_max) return std::nullopt;
    work += list.size() * list.size() * list.size();
  }
  constexpr std::uint64_t work_max = 400'000'000;
  if (work > work_max || net.member.size() < 8 || !is_connected(net)) return std::nullopt;
  const auto sides = read_sides(net);
  if (!sides) return std::nullopt;
  Numbering made;
  made.order.assign(net.member.size(), anywhere);
  std::string text;
  for (const Side& side : *sides) {
    made.sides.push_back(side.length);
    made.cyclic.push_back(side.cyclic);
    text += fmt::format("{}{}", text.empty() ? "" : "x", side.length);
  }
  for (std::uint32_t at = 0; at < net.member.size(); ++at) {
    std::uint64_t number = 0;
    std::uint64_t weight = 1;
    for (const Side& side : *sides) {
      number += side.place[at] * weight;
      weight *= side.length;
    }
    if (made.order[number] != anywhere) return std::nullopt;
    made.order[number] = net.member[at];
  }
  made.name = sides->size() > 1 ? "grid " + text : (*sides)[0].cyclic ? "ring" : "row";
  std::vector<bool> stands(problem.slots(), false);
  for (const std::uint32_t r : made.order) stands[r] = true;
  for (std::uint32_t r = 0; r < problem.slots(); ++r)
    if (!stands[r]) made.order.push_back(r);
  return made;
}

// A ring or row in the order of the ranks' own numbers, from wherever and in whichever direction.
bool is_given(const Numbering& numbering) {
  if (numbering.sides.size() > 1) return false;
  const std::uint32_t n = numbering.sides[0];
  const std::uint32_t step = (numbering.order[1] + n - numbering.order[0]) % n;
  if (step != 1 && step != n - 1) return false;
  for (std::uint32_t i = 1; i < n; ++i)
    if (numbering.order[i] >= n || (numbering.order[i - 1] + step) % n != numbering.order[i])
      return false;
  return true;
}

}  // namespace

Numbering as_given(const Problem& problem) {
  Numbering made{.name = "given", .order = {}, .sides = {problem.slots()}, .cyclic = {false}};
  made.order.resize(problem.slots());
  std::iota(made.order.begin(), made.order.end(), 0u);
  return made;
}

std::vector<Numbering> find_grids(const Problem& problem) {
  // How often each weight occurs; a pattern of many different ones has no structure of this kind.
  std::map<double, std::uint64_t, std::greater<>> weights;
  for (std::uint32_t r = 0; r < problem.ranks(); ++r)
    for (const Talk& talk : problem.talks(r)) ++weights[talk.out + talk.in];
  constexpr std::size_t weights_max = 64;
  constexpr std::size_t tries_max = 12;
  std::vector<Numbering> found;
  const auto look = [&](const Wanted& wanted) {
    auto grid = read_grid(problem, make_net(problem, wanted));
    if (!grid || is_given(*grid)) return;
    for (const Numbering& known : found)
      if (known.order == grid->order && known.sides == grid->sides) return;
    found.push_back(*std::move(grid));
  };
  if (weights.size() <= weights_max) {
    std::size_t tries = 0;
    for (const auto& [weight, count] : weights) {
      if (++tries > tries_max) break;
      look([w = weight](const Talk& t) { return t.out + t.in >= w; });
      look([w = weight](const Talk& t) { return t.out + t.in == w; });
    }
  }
  look([](const Talk&) { return true; });
  return found;
}

}  // namespace weft::map
