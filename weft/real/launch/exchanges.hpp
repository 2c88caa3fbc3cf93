// SPDX-License-Identifier: Apache-2.0
// Collects the business cards of all ranks that started together, for all of them, round by round.
#pragma once

#include <array>
#include <cstddef>
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
  Exchanges(std::uint32_t first, std::uint32_t ranks) : first_(first), ranks_(ranks) {}

  // Returns all parts of the round once this part completes it. Invalid parts are dropped.
  std::vector<CardPart> add(const CardPart& part);

  // The rank's card in one of the first two rounds of its program, for those that come later; empty
  // before that.
  std::string card(std::uint32_t rank, std::size_t round) const;

  // Gives up a round that can never complete because a rank is gone, and returns that rank.
  std::optional<std::uint32_t> give_up(const std::function<bool(std::uint32_t rank)>& gone);

 private:
  const std::uint32_t first_, ranks_;
  std::array<std::vector<std::string>, 2> kept_;  // Of the last program.
  std::map<std::uint64_t, CardCollector> rounds_;
};

}  // namespace weft::launch
