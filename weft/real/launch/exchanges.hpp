// SPDX-License-Identifier: Apache-2.0
// Collects the business cards of all ranks for all ranks, round by round.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/real/launch/business_cards.hpp>

namespace weft::launch {

class Exchanges {
 public:
  explicit Exchanges(std::uint32_t ranks) : ranks_(ranks) {}

  // Returns all parts of the round once this part completes it. Invalid parts are dropped.
  std::vector<CardPart> add(const CardPart& part);

  // Gives up a round that can never complete because a rank is gone, and returns that rank.
  std::optional<std::uint32_t> give_up(const std::function<bool(std::uint32_t rank)>& gone);

 private:
  const std::uint32_t ranks_;
  std::map<std::uint64_t, CardCollector> rounds_;
};

}  // namespace weft::launch
