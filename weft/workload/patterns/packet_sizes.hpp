// SPDX-License-Identifier: Apache-2.0
// How many flits a packet has: one number, or a mix with weights.
#pragma once  // Public, for traffic: names and meanings stay within 0.1.

#include <cstdint>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/rng.hpp>

namespace weft {

class PacketSizes {
 public:
  struct Kind {
    int flits = 1;
    std::uint64_t weight = 1;
  };

  // "32", or "1:0.5,32:0.5": sizes in flits with weights, which need not add up to one.
  static Result<PacketSizes> parse(std::string_view text);
  static PacketSizes fixed(int flits) { return PacketSizes({{flits, 1}}); }

  int draw(Rng& rng) const;  // One size: nothing is drawn.
  double mean() const;
  int smallest() const;
  int largest() const;
  const std::vector<Kind>& kinds() const { return kinds_; }

 private:
  explicit PacketSizes(std::vector<Kind> kinds);
  std::vector<Kind> kinds_;
  std::uint64_t weight_ = 0;  // Sum of all weights.
};

}  // namespace weft
