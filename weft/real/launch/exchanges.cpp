// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/exchanges.hpp"

namespace weft::launch {
namespace {

// Ranks cannot be more than one round apart; more open rounds mean a broken sender.
constexpr std::size_t rounds_max = 16;

}  // namespace

std::vector<CardPart> Exchanges::add(const CardPart& part) {
  if (rounds_.size() >= rounds_max && !rounds_.contains(part.round)) return {};
  CardCollector& box = rounds_.try_emplace(part.round, first_, ranks_).first->second;
  if (!box.add(part) || !box.complete()) return {};
  const std::vector<std::string> cards = box.take();
  rounds_.erase(part.round);
  std::vector<CardPart> all;
  for (std::uint32_t i = 0; i < ranks_; ++i)
    for (CardPart& each : split_card(first_ + i, part.round, cards[i]))
      all.push_back(std::move(each));
  const std::uint64_t round = part.round % rounds_of_sitting;
  if (round < kept_.size()) kept_[round] = cards;
  return all;
}

std::string Exchanges::card(std::uint32_t rank, std::size_t round) const {
  return kept_[round].empty() ? std::string() : kept_[round][rank - first_];
}

std::optional<std::uint32_t> Exchanges::give_up(
    const std::function<bool(std::uint32_t rank)>& gone) {
  for (auto it = rounds_.begin(); it != rounds_.end(); ++it) {
    if (it->second.empty()) continue;
    for (std::uint32_t rank = first_; rank < first_ + ranks_; ++rank) {
      if (it->second.has(rank) || !gone(rank)) continue;
      rounds_.erase(it);
      return rank;
    }
  }
  return std::nullopt;
}

}  // namespace weft::launch
