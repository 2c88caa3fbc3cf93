// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include <weft/base/rng.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/study/map/axis_run.hpp>
#include <weft/study/map/power.hpp>
#include <weft/study/map/quick_judge.hpp>

namespace weft::map {

namespace {

using Vector [[gnu::vector_size(16)]] = std::int32_t;

// to += row * weight. Both are padded to whole vectors; a width of 0 is given at run time.
template <int width>
void add_row(std::int32_t* __restrict to, const std::int32_t* __restrict row, std::size_t given,
             std::int32_t weight) {
  for (std::size_t i = 0; i < (width > 0 ? std::size_t{width} : given); i += 4) {
    Vector sum;
    Vector part;
    std::memcpy(&sum, to + i, sizeof sum);
    std::memcpy(&part, row + i, sizeof part);
    sum += part * weight;
    std::memcpy(to + i, &sum, sizeof sum);
  }
}

}  // namespace

bool QuickJudge::fits(const Problem& problem) {
  if (!problem.topology().graph.all_up() || !problem.slowness().empty()) return false;
  if (!dimension_order(problem.routing(), problem.topology())) return false;
  const Lattice& lattice = *problem.topology().shape->lattice();
  int bits = 0;
  for (const int radix : lattice.radix)
    bits += static_cast<int>(std::bit_width(static_cast<unsigned>(radix - 1)));
  return lattice.radix.size() <= axes_max && bits <= 60;
}

QuickJudge::QuickJudge(const Problem& problem, const Objective& objective)
    : problem_(problem), objective_(objective) {
  const Lattice& lattice = *problem.topology().shape->lattice();
  const bool both = dimension_order(problem.routing(), problem.topology()) == TieRule::coin;
  for (std::size_t d = 0; d < lattice.radix.size(); ++d)
    add_axis(lattice.radix[d], lattice.wrap[d], both);
  number_lines();
  tabulate();
  add_slots();
  std::uint64_t common = 0;
  std::uint64_t total = 0;
  for (const Flow& f : problem.traffic().flows()) {
    if (f.from == f.to) continue;
    common = std::gcd(common, f.bytes);
    total += f.bytes;
  }
  // Loads count half units. Sums of all must fit; beyond that, lesser bytes do not count here.
  unit_ = static_cast<double>(std::max<std::uint64_t>(common, 1));
  unit_ = std::max(unit_, static_cast<double>(total) / (1 << 29)) / 2;
  for (const Flow& f : problem.traffic().flows()) {
    if (f.from != f.to)
      items_.push_back(
          {f.from, f.to,
           static_cast<std::int32_t>(std::ceil(static_cast<double>(f.bytes) / (2 * unit_)))});
  }
  // Equals in no order: neighbours would add to the same lines one right after the other, and each
  // would wait for the one before.
  const auto key = [](const Item& i) { return mix((std::uint64_t{i.from} << 32) | i.to); };
  std::sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
    return a.weight != b.weight ? a.weight > b.weight : key(a) < key(b);
  });
}

void QuickJudge::add_axis(int radix, bool wrap, bool both) {
  Axis axis;
  axis.radix = static_cast<std::size_t>(radix);
  axis.width = (axis.radix + lanes - 1) / lanes * lanes;
  axis.bits = static_cast<int>(std::bit_width(static_cast<unsigned>(radix - 1)));
  axis.shift = axes_.empty() ? 0 : axes_.back().shift + axes_.back().bits + 1;
  guards_ |= std::uint64_t{1} << (axis.shift + axis.bits);
  axis.runs.resize(axis.radix << axis.bits);
  axis.rows.resize(axis.runs.size() * axis.width);
  for (int a = 0; a < radix; ++a) {
    for (int b = 0; b < radix; ++b) {
      const std::size_t i =
          (static_cast<std::size_t>(a) << axis.bits) + static_cast<std::size_t>(b);
      const auto [length, down, half] = axis_run(radix, wrap, a, b);
      Run& run = axis.runs[i];
      run.offset = down ? 1 : 0;  // In lines of one kind, until their number is known.
      run.length = static_cast<std::uint16_t>(length);
      run.both = both && half;
      // A link down counts for the coordinate where it ends.
      for (int k = 0; k < length; ++k) {
        const auto link = static_cast<std::size_t>(((down ? b : a) + k) % radix);
        axis.rows[i * axis.width + link] = run.both ? 1 : 2;
      }
    }
  }
  axes_.push_back(std::move(axis));
}

void QuickJudge::number_lines() {
  std::size_t next = 0;
  const std::size_t routers = problem_.topology().graph.router_count();
  for (Axis& axis : axes_) {
    axis.lines = routers / axis.radix;
    axis.first = next;
    for (Run& run : axis.runs) run.offset *= static_cast<std::uint32_t>(axis.lines * axis.width);
    next += 2 * axis.lines * axis.width;
  }
  load_.resize(next);
  links_ = 2 * std::size_t{problem_.topology().graph.cable_count()};  // Fewer than places for them.
}

void QuickJudge::add_slots() {
  const Graph& graph = problem_.topology().graph;
  for (std::uint32_t s = 0; s < problem_.slots(); ++s) {
    std::uint32_t rest = graph.router_of(problem_.node(s)).index;
    std::array<std::uint64_t, axes_max> place{};
    std::uint64_t word = 0;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      place[d] = rest % axes_[d].radix;
      rest /= static_cast<std::uint32_t>(axes_[d].radix);
      word |= place[d] << axes_[d].shift;
    }
    words_.push_back(word);
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      std::uint64_t stride = axes_[d].width;
      std::uint64_t before = 0;
      std::uint64_t after = 0;
      for (std::size_t e = 0; e < axes_.size(); ++e) {
        if (e == d) continue;
        (e < d ? before : after) += place[e] * stride;
        stride *= axes_[e].radix;
      }
      axes_[d].begins.push_back(static_cast<std::uint32_t>((after << axes_[d].bits) + place[d]));
      axes_[d].ends.push_back(static_cast<std::uint32_t>((before << axes_[d].bits) + place[d]));
    }
  }
  at_.resize(words_.size());
  for (Axis& axis : axes_) {
    axis.from.resize(words_.size());
    axis.to.resize(words_.size());
  }
}

std::uint32_t QuickJudge::apart(std::uint64_t a, std::uint64_t b) const {
  std::uint32_t sum = 0;
  for (const Axis& axis : axes_) sum += axis.runs[axis.pair(a, b)].length;
  return sum;
}

// The guard bits keep one coordinate's difference from borrowing of the next; lengths depend on the
// difference alone.
void QuickJudge::tabulate() {
  constexpr int bits_max = 20;
  const int bits = static_cast<int>(std::bit_width(guards_));
  if (bits > bits_max) return;
  hops_by_difference_.assign(std::size_t{1} << bits, 0);
  for (std::size_t i = 0; i < hops_by_difference_.size(); ++i) {
    std::uint32_t sum = 0;
    for (const Axis& axis : axes_) {
      const std::int64_t guard = std::int64_t{1} << axis.bits;
      const std::int64_t difference =
          ((static_cast<std::int64_t>(i) >> axis.shift) & (2 * guard - 1)) - guard;
      const auto radix = static_cast<std::int64_t>(axis.radix);
      if (difference <= -radix || difference >= radix) continue;
      const std::int64_t a = difference < 0 ? -difference : 0;
      sum += axis.runs[static_cast<std::size_t>(a * guard + a + difference)].length;
    }
    hops_by_difference_[i] = static_cast<std::uint16_t>(sum);
  }
}

void QuickJudge::count(std::uint64_t& hops, double& hop_units) const {
  const bool quick = !hops_by_difference_.empty();
  for (const Item& item : items_) {
    const std::uint64_t a = at_[item.from];
    const std::uint64_t b = at_[item.to];
    const std::uint32_t length = quick ? hops_by_difference_[(b | guards_) - a] : apart(a, b);
    hops += length;
    hop_units += static_cast<double>(item.weight) * length;
  }
}

template <int width>
void QuickJudge::pour(const Axis& axis, std::size_t first, std::size_t last) {
  const std::uint32_t* const begins = axis.from.data();
  const std::uint32_t* const ends = axis.to.data();
  const Item* const items = items_.data();
  const Run* const runs = axis.runs.data();
  const std::int32_t* const rows = axis.rows.data();
  std::int32_t* const loads = &load_[axis.first];
  const std::size_t padded = width > 0 ? std::size_t{width} : axis.width;
  const std::size_t down = axis.lines * axis.width;
  const int bits = axis.bits;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (std::size_t n = first; n < last; ++n) {
    const std::uint64_t from = begins[items[n].from];
    const std::uint64_t to = ends[items[n].to];
    const std::size_t pair = ((from & mask) << bits) + (to & mask);
    const std::size_t line = (from >> bits) + (to >> bits);
    const Run run = runs[pair];
    add_row<width>(loads + run.offset + line, rows + pair * padded, padded, items[n].weight);
    if (run.both) {
      const std::size_t turned = ((to & mask) << bits) + (from & mask);
      add_row<width>(loads + down + line, rows + turned * padded, padded, items[n].weight);
    }
  }
}

std::int32_t QuickJudge::busiest() const {
  std::int32_t most = 0;
  for (const std::int32_t load : load_) most = std::max(most, load);
  return most;
}

double QuickJudge::norm() const {
  const double most = busiest();
  if (most == 0) return 0;
  double sum = 0;
  for (const std::int32_t load : load_)
    if (load > 0) sum += power(load / most, objective_.norm);
  return most * unit_ * power(sum / static_cast<double>(links_), 1 / objective_.norm);
}

double QuickJudge::value(const RankMap& map, double limit) {
  for (std::size_t r = 0; r < map.size(); ++r) at_[r] = words_[map[r]];
  for (Axis& axis : axes_) {
    for (std::size_t r = 0; r < map.size(); ++r) {
      axis.from[r] = axis.begins[map[r]];
      axis.to[r] = axis.ends[map[r]];
    }
  }
  std::uint64_t hops = 0;
  double hop_units = 0;
  count(hops, hop_units);
  const double without = power(static_cast<double>(hops), objective_.hops) *
                         power(hop_units * 2 * unit_, objective_.hop_bytes);
  if (!objective_.needs_links()) return without <= limit ? without : too_much;
  std::fill(load_.begin(), load_.end(), 0);
  constexpr std::size_t stretch = 4096;  // Flows between two looks at the busiest link.
  for (std::size_t i = 0; i < items_.size(); i += stretch) {
    const std::size_t end = std::min(i + stretch, items_.size());
    for (const Axis& axis : axes_)
      axis.width == 16 ? pour<16>(axis, i, end) : pour<0>(axis, i, end);
    if (objective_.link_norm > 0 && end < items_.size()) continue;
    double value = without;
    if (objective_.link_max > 0) value *= power(busiest() * unit_, objective_.link_max);
    if (objective_.link_norm > 0) value *= power(norm(), objective_.link_norm);
    if (value > limit) return too_much;
    if (end == items_.size()) return value;
  }
  return 0;  // No rank communicates.
}

}  // namespace weft::map
