// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <weft/network/route/policy.hpp>
#include <weft/study/map/axis_run.hpp>
#include <weft/study/map/line_trial.hpp>

namespace weft::map {

bool LineTrial::fits(const Problem& problem) {
  constexpr int radix_max = 64;
  if (!problem.topology().graph.all_up() || !problem.slowness().empty()) return false;
  if (dimension_order(problem.routing(), problem.topology()) != TieRule::up) return false;
  const Lattice& lattice = *problem.topology().shape->lattice();
  if (lattice.radix.size() > axes_max) return false;
  for (const int radix : lattice.radix)
    if (radix > radix_max) return false;
  return true;
}

LineTrial::LineTrial(const Problem& problem) : problem_(problem) {
  const Lattice& lattice = *problem.topology().shape->lattice();
  for (std::size_t d = 0; d < lattice.radix.size(); ++d) add_axis(lattice, d);
  add_spots(lattice);
  load_.assign(static_cast<std::size_t>(line_at_.back()) + width_of_.back(), 0);
  delta_ = load_;
  line_norm_.assign(line_at_.size(), 0);
  is_touched_.assign(line_at_.size(), 0);
  touched_.resize(line_at_.size() + 1);
}

void LineTrial::add_axis(const Lattice& lattice, std::size_t d) {
  Axis axis;
  const int radix = lattice.radix[d];
  const bool wrap = lattice.wrap[d];
  axis.radix = static_cast<std::size_t>(radix);
  axis.width = (axis.radix + lanes - 1) / lanes * lanes;
  axis.lines = problem_.topology().graph.router_count() / axis.radix;
  axis.first = static_cast<std::uint32_t>(line_at_.size());
  axis.bits = static_cast<int>(std::bit_width(static_cast<unsigned>(radix - 1)));
  for (std::size_t line = 0; line < 2 * axis.lines; ++line) {
    line_at_.push_back(line_at_.empty() ? 0 : line_at_.back() + width_of_.back());
    width_of_.push_back(static_cast<std::uint32_t>(axis.width));
  }
  const std::size_t pairs = axis.radix << axis.bits;
  axis.masks.assign(pairs * axis.width, 0);
  axis.runs.resize(pairs);
  for (int a = 0; a < radix; ++a) {
    for (int b = 0; b < radix; ++b) {
      const std::size_t i =
          (static_cast<std::size_t>(a) << axis.bits) + static_cast<std::size_t>(b);
      const auto [length, down, half] = axis_run(radix, wrap, a, b);
      axis.runs[i] = {axis.first + (down ? static_cast<std::uint32_t>(axis.lines) : 0),
                      static_cast<std::uint32_t>(length)};
      // A link down counts for the coordinate where it ends.
      for (int k = 0; k < length; ++k)
        axis.masks[i * axis.width + static_cast<std::size_t>(((down ? b : a) + k) % radix)] = 1;
    }
  }
  sixteen_ = sixteen_ && axis.width == 16;
  axes_.push_back(std::move(axis));
}

// A way goes along an axis when it has the coordinates of its end in the axes before and of its
// beginning in those after.
void LineTrial::add_spots(const Lattice& lattice) {
  const Graph& graph = problem_.topology().graph;
  const std::size_t n = axes_.size();
  std::vector<Spot> by_router(graph.router_count() * n);
  place_of_.assign(graph.link_count(), 0);
  line_of_.assign(graph.link_count(), 0);
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    std::array<std::uint32_t, axes_max> place{};
    std::uint32_t rest = r;
    for (std::size_t d = 0; d < n; ++d) {
      place[d] = rest % static_cast<std::uint32_t>(lattice.radix[d]);
      rest /= static_cast<std::uint32_t>(lattice.radix[d]);
    }
    for (std::size_t d = 0; d < n; ++d) {
      Spot& spot = by_router[r * n + d];
      spot.place = place[d];
      std::uint32_t stride = 1;
      for (std::size_t e = 0; e < n; ++e) {
        if (e == d) continue;
        (e < d ? spot.ends : spot.begins) += place[e] * stride;
        stride *= static_cast<std::uint32_t>(lattice.radix[e]);
      }
      const std::uint32_t up = axes_[d].first + spot.ends + spot.begins;
      const std::uint32_t down = up + static_cast<std::uint32_t>(axes_[d].lines);
      const auto radix = static_cast<std::uint32_t>(lattice.radix[d]);
      const LinkId up_link = graph.link(RouterId(r), Lattice::up_port(static_cast<int>(d)));
      const LinkId down_link = graph.link(RouterId(r), Lattice::down_port(static_cast<int>(d)));
      line_of_[up_link.index] = up;
      place_of_[up_link.index] = line_at_[up] + place[d];
      line_of_[down_link.index] = down;
      place_of_[down_link.index] = line_at_[down] + (place[d] + radix - 1) % radix;
    }
  }
  for (std::uint32_t node = 0; node < graph.node_count(); ++node)
    for (std::size_t d = 0; d < n; ++d)
      spots_.push_back(by_router[graph.router_of(NodeId(node)).index * n + d]);
}

inline void LineTrial::touch(std::uint32_t line) {
  touched_[count_] = line;
  count_ += is_touched_[line] == 0 ? 1 : 0;
  is_touched_[line] = 1;
}

template <int squarings, int width>
double LineTrial::finish_with() {
  double change = 0;
  const float* const loads = load_.data();
  float* const deltas = delta_.data();
  const Lanes zero = {0, 0, 0, 0};
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint32_t line = touched_[i];
    is_touched_[line] = 0;
    const std::size_t lane_count = width > 0 ? std::size_t{width} : width_of_[line];
    const float* const load = loads + line_at_[line];
    float* const delta = deltas + line_at_[line];
    Lanes total = zero;
    for (std::size_t k = 0; k < lane_count; k += lanes) {
      Lanes x = load_lanes(load + k) + load_lanes(delta + k);
      for (int s = 0; s < squarings; ++s) x *= x;
      total += x;
      std::memcpy(delta + k, &zero, sizeof zero);
    }
    change += static_cast<double>((total[0] + total[1]) + (total[2] + total[3])) -
              static_cast<double>(line_norm_[line]);
  }
  count_ = 0;
  return change;
}

double LineTrial::finish() {
  const auto with = [this]<int squarings>() {
    return sixteen_ ? finish_with<squarings, 16>() : finish_with<squarings, 0>();
  };
  switch (squarings_) {
    case 1:
      return with.template operator()<1>();
    case 2:
      return with.template operator()<2>();
    case 3:
      return with.template operator()<3>();
    case 4:
      return with.template operator()<4>();
    case 5:
      return with.template operator()<5>();
    default:
      return with.template operator()<6>();
  }
}

double LineTrial::line_sum(std::size_t line) const {
  const float* const load = &load_[line_at_[line]];
  Lanes total = {0, 0, 0, 0};
  for (std::size_t k = 0; k < width_of_[line]; k += lanes) {
    Lanes x = load_lanes(load + k);
    for (int s = 0; s < squarings_; ++s) x *= x;
    total += x;
  }
  return static_cast<double>((total[0] + total[1]) + (total[2] + total[3]));
}

void LineTrial::set(const std::vector<double>& loads, double scale, int squarings) {
  scale_ = scale;
  factor_ = static_cast<float>(scale);
  squarings_ = squarings;
  for (std::size_t l = 0; l < loads.size(); ++l)
    if (problem_.topology().graph.port(LinkId(static_cast<std::uint32_t>(l))).connected())
      load_[place_of_[l]] = static_cast<float>(loads[l] * scale);
  norm_ = 0;
  for (std::size_t line = 0; line < line_at_.size(); ++line) {
    line_norm_[line] = static_cast<float>(line_sum(line));
    norm_ += static_cast<double>(line_norm_[line]);
  }
}

void LineTrial::change(std::uint32_t link, double load) {
  load_[place_of_[link]] = static_cast<float>(load * scale_);
  touch(line_of_[link]);
}

void LineTrial::settle() {
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint32_t line = touched_[i];
    is_touched_[line] = 0;
    const auto sum = static_cast<float>(line_sum(line));
    norm_ += static_cast<double>(sum) - static_cast<double>(line_norm_[line]);
    line_norm_[line] = sum;
  }
  count_ = 0;
}

}  // namespace weft::map
