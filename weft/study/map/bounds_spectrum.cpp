// SPDX-License-Identifier: Apache-2.0
// On a cube, hops are a sum of squares: for each axis, waves along it, and how much each wave, laid
// over the ranks by a map, differs between ranks that talk. A pattern whose eigenvalues are large
// cannot make these small all at once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

#include <weft/study/map/bounds_parts.hpp>

namespace weft::map {

namespace {

// Eigenvalues of the distances along one axis without the constant, signs turned.
std::vector<double> waves(int radix, bool wrap) {
  std::vector<double> made;
  for (int k = 1; k < radix; ++k) {
    double sum = 0;
    if (!wrap) {
      const double s = std::sin(std::numbers::pi * k / (2.0 * radix));
      sum = 1 / (2 * s * s);
    } else if (radix % 2 == 0) {
      const double s = std::sin(std::numbers::pi * k / radix);
      sum = k % 2 == 1 ? 1 / (s * s) : 0;
    } else {
      for (int x = 1; x < radix; ++x) {
        const double angle = 2 * std::numbers::pi * ((k * x) % radix) / radix;
        sum -= std::min(x, radix - x) * std::cos(angle);
      }
    }
    if (sum > 0) made.push_back(sum);
  }
  return made;
}

// All axes', largest first; `slots` gets the number of slots of the cube without holes.
std::vector<double> lattice_waves(const Problem& problem, const Lattice& lattice,
                                  std::uint64_t& slots) {
  const Graph& graph = problem.topology().graph;
  std::size_t nodes_max = 0;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r)
    nodes_max = std::max(nodes_max, graph.nodes_at(RouterId(r)).size());
  slots = std::uint64_t{graph.router_count()} * nodes_max * problem.slots_per_node();
  std::vector<double> made;
  for (std::size_t axis = 0; axis < lattice.radix.size(); ++axis) {
    const double beside = static_cast<double>(slots) / lattice.radix[axis];
    for (const double wave : waves(lattice.radix[axis], lattice.wrap[axis]))
      made.push_back(wave * beside);
  }
  std::sort(made.begin(), made.end(), std::greater<>());
  return made;
}

enum class Step { shift, flip };  // From rank to peer: a sum modulo ranks, or bits that differ.

struct Offset {
  std::uint32_t by = 0;
  double weight = 0;
};

// What all ranks say alike: the offsets that every rank has, with the least weight among them. To
// leave the rest out only takes away from every map's cost.
std::vector<Offset> common_offsets(const Problem& problem, Step step, Count count) {
  const std::uint32_t n = problem.ranks();
  std::vector<std::uint32_t> times(n, 0);
  std::vector<double> least(n, 0);
  for (std::uint32_t r = 0; r < n; ++r) {
    for (const Talk& talk : problem.talks(r)) {
      const std::uint32_t by = step == Step::flip ? r ^ talk.peer
                               : talk.peer > r    ? talk.peer - r
                                                  : talk.peer + (n - r);
      const double w = weight(talk, count);
      least[by] = times[by] == 0 ? w : std::min(least[by], w);
      ++times[by];
    }
  }
  std::vector<Offset> made;
  for (std::uint32_t by = 1; by < n; ++by)
    if (times[by] == n && least[by] > 0) made.push_back({by, least[by]});
  // Time is limited, and so is what the light ones add.
  const std::size_t count_max = std::max<std::size_t>(2, (std::size_t{1} << 25) / n);
  if (made.size() > count_max) {
    std::stable_sort(made.begin(), made.end(),
                     [](const Offset& a, const Offset& b) { return a.weight > b.weight; });
    // An offset and its opposite weigh the same; to cut between them would leave a lopsided sum.
    double last = made[count_max].weight;
    std::erase_if(made, [&](const Offset& o) { return o.weight <= last; });
  }
  return made;
}

// The Laplacian's eigenvalues but the constant's, smallest first, at most `count`.
std::vector<double> spectrum(std::uint32_t n, Step step, const std::vector<Offset>& offsets,
                             std::size_t count) {
  std::vector<double> part(n);  // 1 - cos, without cancellation.
  for (std::uint32_t i = 0; i < n; ++i) {
    const double s = std::sin(std::numbers::pi * i / n);
    part[i] = 2 * s * s;
  }
  std::vector<double> made;
  made.reserve(n);
  for (std::uint32_t k = 1; k < n; ++k) {
    double sum = 0;
    for (const Offset& o : offsets) {
      if (step == Step::flip)
        sum += std::popcount(k & o.by) % 2 == 1 ? 2 * o.weight : 0;
      else
        sum += o.weight * part[std::uint64_t{k} * o.by % n];
    }
    made.push_back(sum);
  }
  count = std::min(count, made.size());
  std::partial_sort(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count), made.end());
  made.resize(count);
  return made;
}

}  // namespace

double spectral_bound(const Problem& problem, Count count) {
  const Lattice* const lattice = problem.topology().shape->lattice();
  const std::uint32_t n = problem.ranks();
  if (lattice == nullptr || n < 2) return 0;
  std::uint64_t far = 0;
  for (const int radix : lattice->radix) far += static_cast<std::uint64_t>(radix);
  if (far >= no_way_hops) return 0;  // A distant rank would count more than one cut off.
  std::uint64_t slots = 0;
  const std::vector<double> wave = lattice_waves(problem, *lattice, slots);
  const std::uint64_t silent = slots - n;  // Each an eigenvalue 0.
  if (silent >= wave.size()) return 0;
  double best = 0;
  for (const Step step : {Step::shift, Step::flip}) {
    if (step == Step::flip && !std::has_single_bit(n)) continue;
    const auto offsets = common_offsets(problem, step, count);
    if (offsets.empty()) continue;
    const auto rigid = spectrum(n, step, offsets, wave.size() - silent);
    double twice = 0;
    for (std::size_t i = 0; i < rigid.size(); ++i) twice += wave[i + silent] * rigid[i];
    best = std::max(best, twice / 2);
  }
  return best;
}

}  // namespace weft::map
