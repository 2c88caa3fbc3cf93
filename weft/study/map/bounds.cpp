// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include <weft/study/map/bounds.hpp>
#include <weft/study/map/bounds_parts.hpp>
#include <weft/study/map/judge.hpp>
#include <weft/study/map/power.hpp>

namespace weft::map {

namespace {

constexpr double exact_max = 4503599627370496;  // 2^52

struct Sum {
  double bound = 0;
  Argument by = Argument::none;
};

// `step`: of which the sum is a multiple whatever the map.
Sum sum_bound(const Problem& problem, Reach& reach, Paths& paths, Count count, double step) {
  double near = neighbour_bound(problem, reach, paths, count);
  // Halves of whole multiples: nothing was rounded yet.
  near = near < exact_max && step > 0 ? std::ceil(near / step) * step : round_up(near, step);
  const double rigid = round_up(spectral_bound(problem, count), step);
  const double parted = round_up(component_bound(problem, count), step);
  Sum best;
  for (const Sum& one : {Sum{near, Argument::neighbours}, Sum{rigid, Argument::spectrum},
                         Sum{parted, Argument::components}})
    if (one.bound > best.bound) best = one;
  return best;
}

// A power mean is not below the mean, and of one full link alone it is this.
double norm_bound(const Problem& problem, const Bounds& bounds, bool complete, double p) {
  const Graph& graph = problem.topology().graph;
  std::uint64_t links = 0;
  double slow_min = 0;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    if (!graph.port(LinkId(l)).usable()) continue;
    const double slow = problem.slowness(LinkId(l));
    slow_min = links++ == 0 ? slow : std::min(slow_min, slow);
  }
  if (links == 0) return 0;
  const auto count = static_cast<double>(links);
  const double mean = complete ? slow_min * bounds.hop_bytes / count : 0;
  return std::max(mean, bounds.link_max / power(count, 1 / p)) * below_one;
}

}  // namespace

double round_up(double value, double step) {
  if (step <= 0) return value * below_one;
  return std::ceil(value / step * below_one) * step;
}

double common_part(const Problem& problem) {
  std::uint64_t part = 0;
  for (const Flow& f : problem.traffic().flows())
    if (f.from != f.to) part = std::gcd(part, f.bytes);
  return static_cast<double>(part);
}

std::string_view describe(Argument argument) {
  switch (argument) {
    case Argument::none:
      return "nothing better is proved";
    case Argument::neighbours:
      return "only so many slots are near a rank";
    case Argument::components:
      return "ranks that hang together do not fit one router";
    case Argument::spectrum:
      return "eigenvalues of pattern and network";
    case Argument::pinned:
      return "what fixed ranks say to each other";
    case Argument::mean_link:
      return "hop-bytes over all links";
    case Argument::heaviest_flows:
      return "heaviest flows of a rank";
    case Argument::bytes_of_a_rank:
      return "bytes of a rank over the links of its router";
    case Argument::bytes_of_all:
      return "bytes of all ranks over the links of their routers";
  }
  return "";
}

Bounds find_bounds(const Problem& problem, const Objective& objective, Paths& paths) {
  Bounds made;
  if (problem.pairs() == 0) {
    made.value = combine(objective, 0, 0, 0, 0);
    return made;
  }
  Reach reach(problem);
  const Sum hops = sum_bound(problem, reach, paths, Count::pairs, 1);
  made.hops = static_cast<std::uint64_t>(hops.bound);
  made.hops_by = hops.by;
  const Sum hop_bytes = sum_bound(problem, reach, paths, Count::bytes, common_part(problem));
  made.hop_bytes = hop_bytes.bound;
  made.hop_bytes_by = hop_bytes.by;
  const LinkBound link = link_bound(problem, paths, made.hop_bytes);
  made.link_max = link.bytes;
  made.link_max_by = link.by;
  if (objective.link_norm > 0)
    made.link_norm = norm_bound(problem, made, surely_complete(problem, paths), objective.norm);
  made.value = combine(objective, static_cast<double>(made.hops), made.hop_bytes, made.link_max,
                       made.link_norm);
  return made;
}

}  // namespace weft::map
