// SPDX-License-Identifier: Apache-2.0
// Cards of all ranks on their way to all ranks: collected round by round.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/real/launch/cards.hpp>

namespace weft::launch {

class Exchanges {
 public:
  explicit Exchanges(std::uint32_t ranks) : ranks_(ranks) {}

  // All parts of all cards of the round, once this one was the last; what makes no sense is
  // dropped.
  std::vector<CardPart> add(const CardPart& part);

  // Gives up a round that can never be complete, since a rank in it is gone; says which.
  std::optional<std::uint32_t> give_up(const std::function<bool(std::uint32_t rank)>& gone);

 private:
  const std::uint32_t ranks_;
  std::map<std::uint64_t, CardBox> rounds_;
};

}  // namespace weft::launch
