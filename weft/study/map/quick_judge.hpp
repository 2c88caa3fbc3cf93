// SPDX-License-Identifier: Apache-2.0
// Judges whole maps on a cube under dimension order, thousands in a second, and gives up on one as
// soon as it cannot be good enough: heavy flows come first. For searches that change a map as a
// whole; what they find is judged again by judge().
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/study/map/objective.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

class QuickJudge {
 public:
  // Is the problem of the kind that this can judge?
  static bool fits(const Problem& problem);
  // REQUIRES: fits(problem); which outlives the judge.
  QuickJudge(const Problem& problem, const Objective& objective);

  static constexpr double too_much = 1e300;
  // The value of the map, or too_much if it is above `limit`.
  double value(const RankMap& map, double limit);

 private:
  static constexpr std::size_t axes_max = 8;
  static constexpr std::size_t lanes = 4;  // Lines are padded to as many, for vector units.
  struct Run {                             // From one coordinate of an axis to another.
    std::uint32_t offset = 0;              // From a line that leads up to the one this run is in.
    std::uint16_t length = 0;
    bool both = false;  // Half of it goes round the other way.
  };
  struct Axis {
    std::size_t radix = 1, lines = 1;
    std::size_t width = 0;  // Width of a line in load_: the radix, padded.
    std::size_t first = 0;  // In load_: lines that lead up, then lines that lead down.
    int bits = 0;           // Bits of a coordinate.
    int shift = 0;          // Where it stands in a packed word.
    std::vector<Run> runs;  // By both coordinates, the first shifted up by `bits`.
    // For each of them a line: 2 for each link crossed, 1 where half goes the other way round.
    // Adding all of it times a weight costs less than guessing its ends wrong.
    std::vector<std::int32_t> rows;
    // By slot, and by rank: its coordinate, and above that what it adds to the place of a line in
    // load_ when a way begins or ends there. For a way goes along an axis when it has the
    // coordinates of its end in the axes before and of its beginning in those after.
    std::vector<std::uint32_t> begins, ends, from, to;

    std::size_t pair(std::uint64_t a, std::uint64_t b) const {
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      return static_cast<std::size_t>((((a >> shift) & mask) << bits) + ((b >> shift) & mask));
    }
  };
  struct Item {
    std::uint32_t from, to;
    std::int32_t weight;
  };
  void add_axis(int radix, bool wrap, bool both);
  void number_lines();
  void add_slots();
  // One axis after the other: its loads stay in the nearest cache. Compiled for lines of 16, too,
  // as loops of known length cost half.
  template <int width>
  void pour(const Axis& axis, std::size_t first, std::size_t end);
  void count(std::uint64_t& hops, double& hop_units) const;
  std::uint32_t apart(std::uint64_t a, std::uint64_t b) const;
  void tabulate();
  std::int32_t busiest() const;
  double norm() const;

  const Problem& problem_;
  Objective objective_;
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> words_;               // Packed coordinates by slot.
  std::vector<std::uint64_t> at_;                  // And by rank.
  std::uint64_t guards_ = 0;                       // A bit above each coordinate.
  std::vector<std::uint16_t> hops_by_difference_;  // By packed difference; empty: too many.
  std::vector<Item> items_;                        // Heaviest first.
  std::vector<std::int32_t> load_;
  double unit_ = 1;  // Bytes in a unit of load.
  std::size_t links_ = 0;
};

}  // namespace weft::map
