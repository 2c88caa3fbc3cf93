// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <weft/study/map/curves.hpp>
#include <weft/study/map/geometry.hpp>

namespace weft::map {

std::vector<std::uint32_t> snake(const Problem& problem) {
  std::vector<std::uint32_t> order(problem.slots());
  std::iota(order.begin(), order.end(), 0u);
  const Lattice* const lattice = problem.topology().shape->lattice();
  if (lattice == nullptr) return order;
  // How far along the snake each router is: an axis is walked backwards whenever the number made of
  // those above it is odd.
  std::vector<std::uint64_t> when(problem.slots());
  for (std::uint32_t s = 0; s < problem.slots(); ++s) {
    std::uint32_t rest = problem.topology().graph.router_of(problem.node(s)).index;
    std::vector<std::uint32_t> place;
    for (const int radix : lattice->radix) {
      place.push_back(rest % static_cast<std::uint32_t>(radix));
      rest /= static_cast<std::uint32_t>(radix);
    }
    std::uint64_t number = 0;
    for (std::size_t d = place.size(); d-- > 0;) {
      const auto radix = static_cast<std::uint64_t>(lattice->radix[d]);
      number = number * radix + (number % 2 == 1 ? radix - 1 - place[d] : place[d]);
    }
    when[s] = number;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return when[a] < when[b]; });
  return order;
}

std::vector<std::uint32_t> blocks(const Problem& problem) {
  const Geometry geometry(problem, 1, true);
  std::vector<std::uint32_t> order;
  std::vector<std::vector<std::uint32_t>> open(1);
  open[0].resize(problem.slots());
  std::iota(open[0].begin(), open[0].end(), 0u);
  while (!open.empty()) {
    std::vector<std::uint32_t> slots = std::move(open.back());
    open.pop_back();
    if (slots.size() < 2) {
      order.insert(order.end(), slots.begin(), slots.end());
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(geometry.divide(slots));
    open.emplace_back(slots.begin() + first, slots.end());
    open.emplace_back(slots.begin(), slots.begin() + first);
  }
  return order;
}

}  // namespace weft::map
