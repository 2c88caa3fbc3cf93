// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/business_cards.hpp"

#include <algorithm>
#include <limits>

#include <weft/base/check.hpp>

namespace weft::launch {

void write(FieldWriter& out, const CardPart& part) {
  out.number(part.rank);
  out.number(part.round);
  out.number(part.total);
  out.number(part.offset);
  out.text(part.bytes);
}

CardPart read_card_part(FieldReader& in) {
  CardPart part;
  part.rank = in.number_up_to(std::numeric_limits<std::uint32_t>::max());
  part.round = in.number();
  part.total = in.number();
  part.offset = in.number();
  part.bytes = in.text();
  return part;
}

std::vector<CardPart> split_card(std::uint32_t rank, std::uint64_t round, std::string_view card) {
  WEFT_CHECK(card.size() <= card_size_max);
  std::vector<CardPart> parts;
  std::size_t at = 0;
  do {
    const std::string_view bytes = card.substr(at, card_part_max);
    parts.push_back({rank, round, card.size(), at, std::string(bytes)});
    at += bytes.size();
  } while (at < card.size());
  return parts;
}

Status CardCollector::add(const CardPart& part) {
  const std::uint32_t place = part.rank - first_;
  if (place >= cards_.size())
    return Error(Broken::peer,
                 "a card of rank " + std::to_string(part.rank) + ", which does not exist");
  std::string& card = cards_[place];
  State& state = states_[place];
  const bool fits = state != State::whole && part.offset == card.size() &&
                    part.total <= card_size_max && part.bytes.size() <= part.total - part.offset &&
                    (!part.bytes.empty() || part.total == 0);
  if (part.offset > part.total || !fits)
    return Error(Broken::peer, "a card of rank " + std::to_string(part.rank) + " is malformed");
  card += part.bytes;
  state = State::begun;
  if (card.size() == part.total) {
    state = State::whole;
    ++whole_;
  }
  return {};
}

}  // namespace weft::launch
