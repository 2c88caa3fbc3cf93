// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flows/fair_shares.hpp"

#include <algorithm>

#include <weft/base/check.hpp>

namespace weft {
namespace {

constexpr std::uint32_t no_link = 0xffff'ffff;
// Longer lists give their memory back: few moments of a program need them.
constexpr std::size_t kept_room = 16;
// Levels that move by less than 2^-16 of themselves are no news: whole numbers need not settle
// exactly.
constexpr int still_bits = 16;
// Nor need they settle at all, so there is an end.
constexpr std::uint16_t rounds_max = 200;

}  // namespace

FairShares::FairShares(std::vector<Speed> capacity, int loss_of_1024) : loss_(loss_of_1024) {
  WEFT_CHECK(loss_ > 0 && loss_ <= 1024);
  links_.resize(capacity.size());
  for (std::size_t i = 0; i < capacity.size(); ++i) links_[i].capacity = capacity[i];
}

std::size_t FairShares::bytes() const {
  return links_.size() * sizeof(Link) + flows_.size() * sizeof(Flow);
}

// What the link's flows share, times the weight of a whole one.
std::int64_t FairShares::room(const Link& link) const {
  const bool loses = link.turning > 0 && link.entries.size() > 1;
  const Speed capacity = loses ? link.capacity / 1024 * loss_ : link.capacity;
  return capacity * LinkUse::whole;
}

bool FairShares::is_held_by_turning(std::uint32_t flow) const {
  const std::uint32_t index = flows_[flow].least_link;
  return index != no_link && links_[index].turning > 0 && links_[index].entries.size() > 1;
}

std::uint32_t FairShares::add(std::span<const LinkUse> uses, Speed limit) {
  std::uint32_t id = 0;
  if (unused_.empty()) {
    id = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  Flow& flow = flows_[id];
  flow.gone = false;
  flow.limit = limit;
  flow.speed = 0;
  flow.places.clear();
  flow.places.reserve(uses.size());
  for (const LinkUse& use : uses) {
    Link& link = links_[use.link];
    const auto position = static_cast<std::uint32_t>(link.entries.size());
    link.entries.push_back({id, static_cast<std::uint32_t>(flow.places.size())});
    link.weight += use.weight;
    link.turning += use.turns ? 1 : 0;
    flow.places.push_back({use.link, position, use.weight, use.turns});
  }
  for (const LinkUse& use : uses) touch(use.link);
  set_speed(id, no_link);
  if (!flow.noted) {
    flow.noted = true;
    changed_.push_back(id);
  }
  return id;
}

void FairShares::remove(std::uint32_t id) {
  Flow& flow = flows_[id];
  WEFT_CHECK(!flow.gone);
  for (const Place& place : flow.places) {
    Link& link = links_[place.link];
    const Entry last = link.entries.back();
    link.entries[place.position] = last;
    flows_[last.flow].places[last.place].position = place.position;
    link.entries.pop_back();
    if (link.entries.empty() && link.entries.capacity() > kept_room)
      std::vector<Entry>().swap(link.entries);
    link.weight -= place.weight;
    link.turning -= place.turns ? 1 : 0;
    link.used -= flow.speed * place.weight;
    if (link.level != no_speed_limit) touch(place.link);
  }
  if (flow.places.capacity() > kept_room) std::vector<Place>().swap(flow.places);
  flow.gone = true;
  flow.speed = 0;
  if (!flow.noted) unused_.push_back(id);  // Else its number is free when it has left changed_.
}

void FairShares::touch(std::uint32_t index) {
  Link& link = links_[index];
  if (link.waits) return;
  link.waits = true;
  queue_.push({link.weight == 0 ? 0 : room(link) / link.weight, index});
}

// Those below the level take what they have elsewhere, the others share the rest. The level only
// rises from round to round, as the ones below it leave more than their part.
Speed FairShares::find_level(std::uint32_t index) const {
  const Link& link = links_[index];
  if (link.weight == 0) return no_speed_limit;
  const std::int64_t all = room(link);
  for (Speed level = all / link.weight;;) {
    std::int64_t rest = all, weight = link.weight;
    for (const Entry& entry : link.entries) {
      const Flow& flow = flows_[entry.flow];
      const Speed elsewhere = level_without(flow, index);
      if (elsewhere >= level) continue;
      const std::int64_t part = flow.places[entry.place].weight;
      rest -= elsewhere * part;
      weight -= part;
    }
    if (weight == 0) return no_speed_limit;
    const Speed next = rest / weight;
    if (next <= level) return std::max<Speed>(level, 1);
    level = next;
  }
}

void FairShares::work_out(std::uint32_t index) {
  Link& link = links_[index];
  ++updates_;
  if (link.rounds == 0) rounds_of_.push_back(index);
  if (++link.rounds > rounds_max) return;
  const Speed before = link.level, level = find_level(index);
  if (level == before) return;
  if (before != no_speed_limit && level != no_speed_limit &&
      std::abs(level - before) <= (before >> still_bits)) {
    return;
  }
  link.level = level;
  for (std::size_t i = 0; i < link.entries.size(); ++i) set_speed(link.entries[i].flow, index);
}

void FairShares::find_least(Flow& flow) const {
  flow.least = flow.limit;
  flow.second = no_speed_limit;
  flow.least_link = no_link;
  for (const Place& place : flow.places) {
    const Speed level = links_[place.link].level;
    if (level < flow.least) {
      flow.second = flow.least;
      flow.least = level;
      flow.least_link = place.link;
    } else {
      flow.second = std::min(flow.second, level);
    }
  }
}

// After the level of a link on its way, `but`, is another.
void FairShares::set_speed(std::uint32_t id, std::uint32_t but) {
  Flow& flow = flows_[id];
  find_least(flow);
  const Speed before = flow.speed, now = flow.least == no_speed_limit ? 0 : flow.least;
  if (now == before) return;
  flow.speed = now;
  if (!flow.noted) {
    flow.noted = true;
    changed_.push_back(id);
  }
  const Speed lower = std::min(before, now);
  for (const Place& place : flow.places) {
    Link& link = links_[place.link];
    link.used += (now - before) * place.weight;
    if (place.link == but || link.waits) continue;
    if (link.level == no_speed_limit ? link.used > room(link) : link.level > lower)
      touch(place.link);
  }
}

std::span<const std::uint32_t> FairShares::settle() {
  while (!queue_.empty()) {
    const std::uint32_t link = queue_.top().link;
    queue_.pop();
    links_[link].waits = false;
    work_out(link);
  }
  for (const std::uint32_t link : rounds_of_) links_[link].rounds = 0;
  rounds_of_.clear();
  seen_.clear();
  for (const std::uint32_t id : changed_) {
    flows_[id].noted = false;
    (flows_[id].gone ? unused_ : seen_).push_back(id);
  }
  changed_.clear();
  return seen_;
}

}  // namespace weft
