// SPDX-License-Identifier: Apache-2.0
// What a swap does to the p-norm of link loads on a cube under dimension order, fast: loads lie in
// memory line by line, and a way adds to whole lines, times a mask, without a branch. In single
// precision, as this only guides; what is kept is counted exactly by the board.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <weft/study/map/problem.hpp>

namespace weft::map {

class LineTrial {
 public:
  using Lanes [[gnu::vector_size(16)]] = float;

  // Goes half-way round a ring up. Is the problem of that kind, and are its lines short enough?
  static bool fits(const Problem& problem);
  explicit LineTrial(const Problem& problem);

  // Loads by link, times `scale`; the p of the norm is 2^squarings.
  void set(const std::vector<double>& loads, double scale, int squarings);
  double norm() const { return norm_; }

  // Adds to what goes between two nodes, for the moment; answers the hops.
  std::uint32_t add(NodeId from, NodeId to, float bytes) {
    return sixteen_ ? add_with<16>(from, to, bytes) : add_with<0>(from, to, bytes);
  }
  // What the additions since the last call change in the norm. Forgets them.
  double finish();
  // A link has this load from now on; then the norm must be brought up to date.
  void change(std::uint32_t link, double load);
  void settle();

 private:
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t axes_max = 6;
  struct Run {
    std::uint32_t line = 0;  // The first of those that lead up or down.
    std::uint32_t length = 0;
  };
  struct Axis {
    std::size_t radix = 1, width = 0, lines = 0;
    std::uint32_t first = 0;  // Its first line.
    int bits = 0;
    std::vector<float> masks;  // By both coordinates,
    std::vector<Run> runs;     // as these.
  };
  struct Spot {                          // Where a node stands on one axis.
    std::uint32_t begins = 0, ends = 0;  // What it adds to a line's number.
    std::uint32_t place = 0;
  };
  static Lanes load_lanes(const float* from) {
    Lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  void add_axis(const Lattice& lattice, std::size_t axis);
  void add_spots(const Lattice& lattice);
  void touch(std::uint32_t line);
  // Compiled for lines of 16, too, as loops of known length cost half.
  template <int width>
  std::uint32_t add_with(NodeId from, NodeId to, float bytes);
  template <int squarings, int width>
  double finish_with();
  double line_sum(std::size_t line) const;

  const Problem& problem_;
  std::vector<Axis> axes_;
  std::vector<Spot> spots_;              // Node by node, axis by axis.
  std::vector<std::uint32_t> line_at_;   // Where a line begins in load_, by line.
  std::vector<std::uint32_t> width_of_;  // By line.
  std::vector<std::uint32_t> place_of_;  // Position in load_, by link.
  std::vector<std::uint32_t> line_of_;   // By link.
  std::vector<float> load_, delta_;      // Padded with zeros.
  std::vector<float> line_norm_;
  std::vector<std::uint32_t> touched_;  // Lines, the first `count_`.
  std::vector<std::uint8_t> is_touched_;
  std::size_t count_ = 0;
  bool sixteen_ = true;  // All lines are of that width.
  double norm_ = 0, scale_ = 1;
  float factor_ = 1;
  int squarings_ = 4;
};

// Members are copied first: after a store through a pointer the compiler would read them again.
template <int width>
inline std::uint32_t LineTrial::add_with(NodeId from, NodeId to, float bytes) {
  const std::size_t n = axes_.size();
  const Spot* const a = &spots_[from.index * n];
  const Spot* const b = &spots_[to.index * n];
  const Axis* const axes = axes_.data();
  const float weight = bytes * factor_;
  float* const deltas = delta_.data();
  std::uint32_t* const touched = touched_.data();
  std::uint8_t* const is_touched = is_touched_.data();
  const std::uint32_t* const starts = line_at_.data();
  std::size_t count = count_;
  std::uint32_t hops = 0;
  for (std::size_t d = 0; d < n; ++d) {
    const Axis& axis = axes[d];
    const std::size_t pair = (static_cast<std::size_t>(a[d].place) << axis.bits) + b[d].place;
    const Run way = axis.runs[pair];
    const std::uint32_t line = way.line + a[d].begins + b[d].ends;
    hops += way.length;
    touched[count] = line;
    count += is_touched[line] == 0 ? 1 : 0;
    is_touched[line] = 1;
    const std::size_t lane_count = width > 0 ? std::size_t{width} : axis.width;
    const float* const mask = axis.masks.data() + pair * lane_count;
    float* const delta = deltas + (width > 0 ? std::size_t{line} * lane_count : starts[line]);
    for (std::size_t i = 0; i < lane_count; i += lanes) {
      const Lanes v = load_lanes(delta + i) + load_lanes(mask + i) * weight;
      std::memcpy(delta + i, &v, sizeof v);
    }
  }
  count_ = count;
  return hops;
}

}  // namespace weft::map
