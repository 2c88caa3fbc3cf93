// SPDX-License-Identifier: Apache-2.0
// Business cards in transit: split into parts, since packets have a size limit, and reassembled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/frame.hpp>

namespace weft::launch {

constexpr std::size_t card_size_max = std::size_t{1} << 20;
constexpr std::size_t card_part_max = std::size_t{32} << 10;

// Programs that hold a seat one after the other each count their exchanges from 0.
constexpr std::uint64_t rounds_of_sitting = std::uint64_t{1} << 32;

struct CardPart {
  std::uint32_t rank = 0;
  std::uint64_t round = 0;  // Number of the exchange() call.
  std::uint64_t total = 0;  // Size of the card.
  std::uint64_t offset = 0;
  std::string bytes;
};

void write(FieldWriter& out, const CardPart& part);
CardPart read_card_part(FieldReader& in);
// Returns at least one part, even for an empty card. REQUIRES: the card is no larger than
// card_size_max.
std::vector<CardPart> split_card(std::uint32_t rank, std::uint64_t round, std::string_view card);

// Collects the cards of all ranks that started together, in one round.
class CardCollector {
 public:
  CardCollector(std::uint32_t first, std::uint32_t ranks)
      : first_(first), cards_(ranks), states_(ranks, State::none) {}

  // Parts of one card must come in order.
  Status add(const CardPart& part);
  bool has(std::uint32_t rank) const { return states_[rank - first_] == State::whole; }
  bool empty() const { return whole_ == 0; }
  bool complete() const { return whole_ == cards_.size(); }
  std::vector<std::string> take() { return std::move(cards_); }

 private:
  enum class State : std::uint8_t { none, begun, whole };
  std::uint32_t first_;
  std::vector<std::string> cards_;
  std::vector<State> states_;
  std::size_t whole_ = 0;
};

}  // namespace weft::launch
