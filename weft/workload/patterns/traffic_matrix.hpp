// SPDX-License-Identifier: Apache-2.0
// How much each rank sends to each other one, in one run or one step of a program.
#pragma once  // Public, for traffic: names and meanings stay within 0.1.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct Flow {
  std::uint32_t from = 0, to = 0;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;

  bool operator==(const Flow&) const = default;
};

class TrafficMatrix {
 public:
  // As many as a network has nodes at most; a rank beyond is a slip of the pen.
  static constexpr std::uint32_t ranks_max = std::uint32_t{1} << 26;

  TrafficMatrix() = default;
  // Flows in any order. Those of one pair are added up; those of nothing are left out. Fails when a
  // rank is not below `ranks`, or when the bytes (or messages) of all add up to more than 2^62.
  static Result<TrafficMatrix> make(std::uint32_t ranks, std::vector<Flow> flows);

  std::uint32_t ranks() const { return ranks_; }
  // By sender, then receiver; a pair stands once. What a rank sends to itself is among them.
  std::span<const Flow> flows() const { return flows_; }
  std::span<const Flow> from(std::uint32_t rank) const {
    return flows().subspan(first_[rank], first_[rank + 1] - first_[rank]);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint32_t ranks_ = 0;
  std::vector<Flow> flows_;
  std::vector<std::size_t> first_{0};
  std::uint64_t bytes_ = 0;
};

}  // namespace weft
