// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flows/fair_shares.hpp"

#include <algorithm>
#include <utility>

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

// Most links have one flow; divisions take long.
Speed share(std::int64_t room, std::int64_t weight) {
  return weight == LinkUse::whole ? room / LinkUse::whole : room / weight;
}

}  // namespace

FairShares::FairShares(std::vector<Speed> capacity, int loss_of_1024) : loss_(loss_of_1024) {
  WEFT_CHECK(loss_ > 0 && loss_ <= 1024);
  links_.resize(capacity.size());
  spare_.resize(capacity.size());
  for (std::size_t i = 0; i < capacity.size(); ++i) {
    links_[i].capacity = capacity[i];
    spare_[i] = room(links_[i]);
  }
}

std::size_t FairShares::bytes() const {
  return links_.size() * (sizeof(Link) + sizeof(std::int64_t)) + flows_.size() * sizeof(Flow);
}

// What the link's flows share, times the weight of a whole one.
std::int64_t FairShares::room(const Link& link) const {
  const bool loses = link.turning > 0 && link.entries.size() > 1;
  const Speed capacity = loses ? link.capacity / 1024 * loss_ : link.capacity;
  return capacity * LinkUse::whole;
}

bool FairShares::is_held_by_turning(std::uint32_t id) const {
  const Flow& flow = flows_[id];
  if (flow.least_place == no_place) return false;
  const Link& link = links_[flow.places[flow.least_place].link];
  return link.turning > 0 && link.entries.size() > 1;
}

std::uint32_t FairShares::add(std::span<const LinkUse> uses, Speed limit) {
  WEFT_CHECK(uses.size() < no_place);
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
  for (const LinkUse& use : uses) __builtin_prefetch(&links_[use.link]);
  bool alone = !uses.empty();
  for (const LinkUse& use : uses) {
    Link& link = links_[use.link];
    alone = alone && link.entries.empty() && use.weight == LinkUse::whole;
    const std::int64_t before = room(link);
    const auto weight = static_cast<std::uint16_t>(use.weight);
    link.entries.push_back({id, static_cast<std::uint16_t>(flow.places.size()), weight});
    link.weight += use.weight;
    link.turning += use.turns ? 1 : 0;
    if (link.level == no_speed_limit) spare_[use.link] += room(link) - before;
    flow.places.push_back({link.level, use.link, weight, use.turns});
  }
  if (!flow.noted) {
    flow.noted = true;
    changed_.push_back(id);
  }
  flow.begins_alone = alone;
  if (alone) {
    begun_alone_.push_back(id);
    return id;
  }
  for (const LinkUse& use : uses) touch(use.link);
  find_least(flow);
  set_speed(id, no_link);
  return id;
}

// Most flows of regular programs meet no others. What there is to know of their links takes no
// search.
void FairShares::begin_and_end_alone() {
  for (const std::uint32_t index : left_alone_) {
    Link& link = links_[index];
    if (link.entries.empty()) {
      link.level = no_speed_limit;
      spare_[index] = room(link);
    } else if (link.entries.size() > 1 || !flows_[link.entries.front().flow].begins_alone) {
      touch(index);
    }
  }
  left_alone_.clear();
  for (const std::uint32_t id : begun_alone_) {
    Flow& flow = flows_[id];
    if (!flow.begins_alone) continue;
    flow.begins_alone = false;
    if (is_alone(flow)) {
      go_alone(flow);
    } else {
      for (const Place& place : flow.places) touch(place.link);
      find_least(flow);
      set_speed(id, no_link);
    }
  }
  begun_alone_.clear();
}

// Nobody else is on its way: what work_out() would find for each of its links.
void FairShares::go_alone(Flow& flow) {
  Speed least = flow.limit;
  for (const Place& place : flow.places) least = std::min(least, links_[place.link].capacity);
  flow.speed = std::max<Speed>(least, 1);
  for (Place& place : flow.places) {
    Link& link = links_[place.link];
    place.level = link.level = link.capacity == least ? flow.speed : no_speed_limit;
    spare_[place.link] = room(link) - flow.speed * place.weight;
  }
  find_least(flow);
}

bool FairShares::is_alone(const Flow& flow) const {
  return std::all_of(flow.places.begin(), flow.places.end(),
                     [this](const Place& place) { return links_[place.link].entries.size() == 1; });
}

// Looks through the list, as whoever works out the level must, too. To know the place in it would
// cost a look at another flow for each that moves.
void FairShares::drop(Link& link, std::uint32_t flow) {
  Entries& entries = link.entries;
  std::size_t at = 0;
  while (entries[at].flow != flow) ++at;
  entries[at] = entries.back();
  entries.pop_back();
  if (entries.empty() && entries.capacity() > kept_room) entries = Entries();
}

void FairShares::remove(std::uint32_t id) {
  Flow& flow = flows_[id];
  WEFT_CHECK(!flow.gone);
  for (const Place& place : flow.places) __builtin_prefetch(&links_[place.link]);
  for (const Place& place : flow.places) __builtin_prefetch(links_[place.link].entries.data());
  const bool alone = is_alone(flow);
  for (const Place& place : flow.places) {
    Link& link = links_[place.link];
    const std::int64_t before = room(link);
    drop(link, id);
    link.weight -= place.weight;
    link.turning -= place.turns ? 1 : 0;
    if (link.level == no_speed_limit) {
      spare_[place.link] += room(link) - before + flow.speed * place.weight;
    } else if (alone) {
      left_alone_.push_back(place.link);
    } else {
      touch(place.link);
    }
  }
  if (flow.places.capacity() > kept_room) std::vector<Place>().swap(flow.places);
  flow.gone = true;
  flow.begins_alone = false;
  flow.speed = 0;
  if (!flow.noted) unused_.push_back(id);  // Else its number is free when it has left changed_.
}

void FairShares::touch(std::uint32_t index) {
  Link& link = links_[index];
  if (link.waits) return;
  link.waits = true;
  queue_.push({link.weight == 0 ? 0 : share(room(link), link.weight), index});
}

// Those below the level take what they have elsewhere, the others share the rest. The level only
// rises from round to round, as the ones below it leave more than their part.
Speed FairShares::find_level(const Link& link) {
  if (link.weight == 0) return no_speed_limit;
  const std::int64_t all = room(link);
  std::int64_t rest = all, weight = link.weight;
  Speed level = share(all, link.weight);
  wishes_.clear();
  for (const Entry& entry : link.entries) __builtin_prefetch(&flows_[entry.flow]);
  for (const Entry& entry : link.entries) {
    const Flow& flow = flows_[entry.flow];
    const Speed elsewhere = flow.least_place == entry.place ? flow.second : flow.least;
    if (elsewhere < level) {
      rest -= elsewhere * entry.weight;
      weight -= entry.weight;
    } else if (elsewhere != no_speed_limit) {
      wishes_.push_back({elsewhere, entry.weight});
    }
  }
  if (weight == link.weight) return std::max<Speed>(level, 1);  // None is below.
  for (;;) {
    if (weight == 0) return no_speed_limit;
    const Speed next = share(rest, weight);
    if (next <= level) return std::max<Speed>(level, 1);
    level = next;
    std::size_t kept = 0;
    for (const Wish& wish : wishes_) {
      if (wish.elsewhere < level) {
        rest -= wish.elsewhere * wish.weight;
        weight -= wish.weight;
      } else {
        wishes_[kept++] = wish;
      }
    }
    wishes_.resize(kept);
  }
}

void FairShares::work_out(std::uint32_t index) {
  Link& link = links_[index];
  ++updates_;
  if (link.rounds == 0) rounds_of_.push_back(index);
  if (++link.rounds > rounds_max) return;
  const Speed before = link.level, level = find_level(link);
  if (level == before) return;
  if (before != no_speed_limit && level != no_speed_limit &&
      std::abs(level - before) <= (before >> still_bits)) {
    return;
  }
  link.level = level;
  if (level == no_speed_limit) {
    std::int64_t spare = room(link);
    for (const Entry& entry : link.entries) spare -= flows_[entry.flow].speed * entry.weight;
    spare_[index] = spare;
  }
  for (const Entry& entry : link.entries)
    __builtin_prefetch(&flows_[entry.flow].places[entry.place]);
  for (const Entry& entry : link.entries) {
    note_level(flows_[entry.flow], entry.place, level);
    set_speed(entry.flow, index);
  }
}

void FairShares::find_least(Flow& flow) {
  flow.least = flow.limit;
  flow.second = no_speed_limit;
  flow.least_place = no_place;
  for (std::size_t i = 0; i < flow.places.size(); ++i) {
    const Speed level = flow.places[i].level;
    if (level < flow.least) {
      flow.second = flow.least;
      flow.least = level;
      flow.least_place = static_cast<std::uint16_t>(i);
    } else {
      flow.second = std::min(flow.second, level);
    }
  }
}

// The level of a link on its way is another now. What find_least() would find, mostly without
// looking at all places.
void FairShares::note_level(Flow& flow, std::uint16_t place, Speed level) {
  const Speed before = std::exchange(flow.places[place].level, level);
  if (place == flow.least_place) {
    if (level < flow.second)
      flow.least = level;
    else
      find_least(flow);
    return;
  }
  const bool is_first =
      level == flow.least && flow.least_place != no_place && place < flow.least_place;
  if (level < flow.least || is_first) {
    flow.second = flow.least;
    flow.least = level;
    flow.least_place = place;
  } else if (level <= flow.second) {
    flow.second = level;
  } else if (before == flow.second) {
    find_least(flow);
  }
}

// After the least level on its way has become another, by the link `but`.
void FairShares::set_speed(std::uint32_t id, std::uint32_t but) {
  Flow& flow = flows_[id];
  const Speed before = flow.speed, now = flow.least == no_speed_limit ? 0 : flow.least;
  if (now == before) return;
  flow.speed = now;
  if (!flow.noted) {
    flow.noted = true;
    changed_.push_back(id);
  }
  const Speed lower = std::min(before, now);
  for (const Place& place : flow.places) {
    if (place.level != no_speed_limit) {
      if (place.level > lower && place.link != but) touch(place.link);
      continue;
    }
    std::int64_t& spare = spare_[place.link];
    spare -= (now - before) * place.weight;
    if (place.link != but && spare < 0) touch(place.link);
  }
}

std::span<const std::uint32_t> FairShares::settle() {
  begin_and_end_alone();
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
