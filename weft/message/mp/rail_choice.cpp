// SPDX-License-Identifier: Apache-2.0
// The rules by which frames and parts of messages are given to rails.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include <weft/message/mp/rail_choice.hpp>

namespace weft::mp {

namespace {

// What a rail may have in flight: enough to keep it busy until we look again, and not so much that
// it would hold up a message when it slows down.
constexpr Duration ahead = Duration::ms(3);
constexpr std::size_t window_min = std::size_t{128} << 10;
constexpr Duration part_time = Duration::ms(1);
constexpr std::size_t part_min = std::size_t{64} << 10;
constexpr std::size_t part_max = std::size_t{1} << 20;
constexpr std::size_t line_bytes = 64;  // Parts begin at whole lines of memory.

std::size_t bytes_in(Duration time, double rate) {
  return static_cast<std::size_t>(time.in_seconds() * rate);
}

}  // namespace

int rails_for(int rails, const Tuning* tuning) {
  return tuning != nullptr && tuning->rails > 0 ? std::min(tuning->rails, rails) : rails;
}

// If all rails are down the network finds a way, or reports the peer as lost.
RailId RailChoice::for_control(RankId peer) const {
  const auto count = static_cast<std::uint32_t>(rails_.rail_count(peer));
  RailId best(0);
  if (count < 2) return best;
  RailFacts facts = rails_.rail_facts(peer, best);
  for (std::uint32_t i = 1; i < count; ++i) {
    const RailFacts other = rails_.rail_facts(peer, RailId(i));
    if (!other.up || (facts.up && facts.latency <= other.latency)) continue;
    best = RailId(i);
    facts = other;
  }
  return best;
}

// Spreads peers over equal rails, so that a rank with many peers uses all of them.
RailId RailChoice::spread(RankId peer) const {
  const auto count = static_cast<std::uint32_t>(rails_.rail_count(peer));
  const RailId best = for_control(peer);
  const Duration least = rails_.rail_facts(peer, best).latency;
  const std::uint32_t turn = self_.index + peer.index;
  for (std::uint32_t i = 0; i < count; ++i) {
    const RailId rail((turn + i) % count);
    const RailFacts facts = rails_.rail_facts(peer, rail);
    if (facts.up && facts.frames && facts.latency <= least + least / 2) return rail;
  }
  return best;
}

// The fastest of the first `among` rails that are up; among equal ones those of the peer's turn, so
// that messages that use fewer than all rails spread peers over all. None is up: all of them, and
// the network finds a way or reports the peer as lost.
std::vector<RailPart> RailChoice::fastest(RankId peer, std::uint32_t among,
                                          std::size_t most) const {
  const std::uint32_t turn = self_.index + peer.index;
  std::vector<RailPart> up, down;
  for (std::uint32_t i = 0; i < among; ++i) {
    const RailId rail((turn + i) % among);
    const RailFacts facts = rails_.rail_facts(peer, rail);
    const auto megabits = static_cast<std::uint64_t>(facts.rate.in_bit_per_s()) / 1'000'000;
    (facts.up ? up : down).push_back({rail, 0, std::max<std::size_t>(megabits, 1)});
  }
  std::vector<RailPart>& chosen = up.empty() ? down : up;
  if (chosen.size() > most) {
    std::ranges::stable_sort(chosen, std::ranges::greater{}, &RailPart::size);
    chosen.resize(most);
  }
  std::ranges::sort(chosen, std::ranges::less{},
                    [](const RailPart& part) { return part.rail.index; });
  return std::move(chosen);
}

bool RailChoice::takes_one(RankId peer, const Tuning* tuning) const {
  return rails_for(rails_.rail_count(peer), tuning) < 2;
}

// Equal parts, or proportional to the rates of the rails. A message that is tuned to some rails
// takes the first of them, in their order; tuned to one, the quickest.
std::vector<RailPart> RailChoice::cut(RankId peer, std::size_t size, const Tuning* tuning) const {
  if (takes_one(peer, tuning)) return {{for_control(peer), 0, size}};
  const auto among = static_cast<std::uint32_t>(rails_for(rails_.rail_count(peer), tuning));
  const auto least = static_cast<std::size_t>(options_.stripe_min.count);
  std::vector<RailPart> parts =
      fastest(peer, among, std::clamp<std::size_t>(size / least, 1, among));
  std::uint64_t total = 0, sum = 0;
  for (RailPart& part : parts) {
    if (options_.split != Split::proportional) part.size = 1;
    total += part.size;
  }
  std::size_t start = 0;
  for (RailPart& part : parts) {
    sum += part.size;
    const auto end =
        static_cast<std::size_t>(static_cast<detail::UnsignedWide>(size) * sum / total);
    part.offset = start;
    part.size = end - start;
    start = end;
  }
  std::erase_if(parts, [](const RailPart& part) { return part.size == 0; });
  return parts;
}

std::optional<RailPart> next_part(std::span<const RailOffer> offers, std::size_t left,
                                  std::size_t stripe_min) {
  double sum = 0, before = 0, least = 0;
  const RailOffer* chosen = nullptr;
  for (const RailOffer& offer : offers) {
    sum += offer.bytes_per_s;
    before += offer.before;
    const double wait = offer.wait_s();
    if (chosen != nullptr && wait >= least) continue;
    chosen = &offer;
    least = wait;
  }
  if (chosen == nullptr) return std::nullopt;
  const double rate = chosen->bytes_per_s;
  const std::size_t window =
      std::max(bytes_in(std::max(ahead, chosen->latency * 2), rate), window_min);
  if (chosen->queued >= window) return std::nullopt;
  const double together = (static_cast<double>(left) + before) / sum * rate;
  const double share = together - chosen->before;
  const std::size_t largest = std::clamp(bytes_in(part_time, rate), part_min, part_max);
  std::size_t size = share > 0 ? static_cast<std::size_t>(share) : 0;
  size = std::min(std::max(size, stripe_min), std::max(largest, stripe_min));
  size += (line_bytes - size % line_bytes) % line_bytes;
  return RailPart{chosen->rail, 0, left < size + stripe_min ? left : size};
}

std::optional<RailRelief> find_relief(std::span<const RailOffer> offers) {
  RailRelief relief;
  bool waits = false;
  for (const RailOffer& offer : offers) {
    if (offer.idle) {
      if (offer.bytes_per_s > relief.bytes_per_s) relief.to = offer.rail;
      relief.bytes_per_s = std::max(relief.bytes_per_s, offer.bytes_per_s);
      continue;
    }
    const double wait = offer.wait_s();
    if (wait <= relief.wait_s) continue;
    relief.wait_s = wait;
    relief.from = offer.rail;
    waits = true;
  }
  if (!waits || relief.bytes_per_s <= 0) return std::nullopt;
  return relief;
}

}  // namespace weft::mp
