// SPDX-License-Identifier: Apache-2.0
// Recursive sections by coordinates. A set of routers is put in order of one coordinate (then of
// their numbers) and cut by weight, so pieces end within one router of what is wanted: whole
// planes, then rows, then routers. The axis is the one that cuts the fewest links, counted on the
// graph: a ring that was cut before is a line now, and broken cables cost nothing.
#include <algorithm>
#include <array>
#include <numeric>

#include <weft/network/part/cuts.hpp>

namespace weft::detail {
namespace {

constexpr std::uint32_t outside = 0xffffffffu;

// Into how many pieces a set is cut in one step.
enum class Steps {
  halves,
  small_factors,  // 12 parts: in 2, in 2, in 3.
  large_factors,  // In 3, in 2, in 2.
  slabs,          // All at once.
};

std::uint32_t factor(std::uint32_t parts, bool large) {
  std::uint32_t found = 1;
  std::uint32_t rest = parts;
  for (std::uint32_t f = 2; f * f <= rest; ++f)
    while (rest % f == 0) {
      if (!large) return f;
      found = f;
      rest /= f;
    }
  return rest > 1 ? rest : found;
}

// For each piece, how many parts it is for.
Numbers shares(Steps steps, std::uint32_t parts) {
  switch (steps) {
    case Steps::halves:
      return {parts / 2, parts - parts / 2};
    case Steps::small_factors:
    case Steps::large_factors: {
      const std::uint32_t f = factor(parts, steps == Steps::large_factors);
      return Numbers(f, parts / f);
    }
    case Steps::slabs:
      break;
  }
  return Numbers(parts, 1);
}

std::vector<int> sizes(const Shape& shape) {
  std::vector<int> made;
  for (const GridAxis& axis : shape.axes()) made.push_back(axis.size);
  return made;
}

class Blocks {
 public:
  explicit Blocks(const CutTask& task)
      : task_(task),
        radix_(sizes(*task.topology.shape)),
        owner_(task.topology.graph.router_count()),
        piece_(owner_.size(), outside) {}

  Owners cut(Steps steps) {
    steps_ = steps;
    Numbers all(owner_.size());
    std::iota(all.begin(), all.end(), 0u);
    divide(all, task_.parts, 0);
    return owner_;
  }

 private:
  struct Section {
    Numbers row, first;
    std::uint64_t links = 0;
    int extent = 0;
  };

  // `set` is ascending.
  void divide(const Numbers& set, std::uint32_t parts, std::uint32_t first_part) {
    if (parts == 1) {
      for (const std::uint32_t r : set) owner_[r] = first_part;
      return;
    }
    const Numbers wanted = shares(steps_, parts);
    Section best;
    for (std::size_t axis = 0; axis < radix_.size(); ++axis) {
      Section section = cut_along(axis, set, wanted);
      if (best.row.empty() || section.links < best.links ||
          (section.links == best.links && section.extent > best.extent))
        best = std::move(section);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Numbers piece(best.row.begin() + best.first[i], best.row.begin() + best.first[i + 1]);
      std::sort(piece.begin(), piece.end());
      divide(piece, wanted[i], first_part);
      first_part += wanted[i];
    }
  }

  Section cut_along(std::size_t axis, const Numbers& set, const Numbers& wanted) {
    std::uint32_t stride = 1;
    for (std::size_t a = 0; a < axis; ++a) stride *= static_cast<std::uint32_t>(radix_[a]);
    const auto radix = static_cast<std::uint32_t>(radix_[axis]);
    const auto coordinate = [&](std::uint32_t r) { return r / stride % radix; };
    Numbers begin(radix + 1);
    for (const std::uint32_t r : set) ++begin[coordinate(r) + 1];
    Section section;
    section.extent = static_cast<int>(radix - std::count(begin.begin() + 1, begin.end(), 0u));
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    section.row.resize(set.size());
    for (const std::uint32_t r : set) section.row[begin[coordinate(r)]++] = r;
    section.first = cut_row(section.row, task_.weight, wanted);
    section.links = count_links(section);
    return section;
  }

  std::uint64_t count_links(const Section& section) {
    for (std::uint32_t i = 0; i + 1 < section.first.size(); ++i)
      for (std::uint32_t k = section.first[i]; k < section.first[i + 1]; ++k)
        piece_[section.row[k]] = i;
    std::uint64_t links = 0;
    for (const std::uint32_t r : section.row)
      for (const Port& port : task_.topology.graph.ports(RouterId(r)))
        if (port.usable() && piece_[port.peer.index] != outside)
          links += piece_[port.peer.index] != piece_[r];
    for (const std::uint32_t r : section.row) piece_[r] = outside;
    return links;
  }

  const CutTask& task_;
  std::vector<int> radix_;
  Steps steps_ = Steps::halves;
  Owners owner_;
  Numbers piece_;  // Pieces of the set being cut; the rest is outside.
};

}  // namespace

// No way of stepping is best for all numbers of parts: 9 parts of a square are 3 by 3, of a long
// box slabs. The fewest links win, then the lightest heaviest part.
Owners cut_blocks(const CutTask& task) {
  Blocks blocks(task);
  Owners best;
  std::pair<std::uint64_t, std::uint64_t> least;
  for (const Steps steps :
       {Steps::halves, Steps::small_factors, Steps::large_factors, Steps::slabs}) {
    if (steps != Steps::halves && task.parts == 2) break;
    Owners owner = blocks.cut(steps);
    const auto weights = part_weights(task, owner);
    const std::pair cost{links_between(task.topology.graph, owner),
                         *std::max_element(weights.begin(), weights.end())};
    if (best.empty() || cost < least) {
      best = std::move(owner);
      least = cost;
    }
  }
  return best;
}

}  // namespace weft::detail
