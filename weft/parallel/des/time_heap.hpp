// SPDX-License-Identifier: Apache-2.0
// What is due when: numbers with a time each, which may change. The earliest comes first, of
// equally early ones that with the lowest number.
//
// A heap with four children per item, which share a line of the cache, and no branch in the search
// for the least of them: which one that is cannot be guessed. Where much of the heap is due at one
// moment, as ranks in step are, that leaves the heap at once and waits as a set of numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/parallel/des/number_set.hpp>

namespace weft {

class TimeHeap {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  bool empty() const { return count_ == 0 && crowd_.empty(); }
  // Never if nothing is due.
  std::int64_t first_at() const {
    const std::int64_t in_heap = count_ == 0 ? never : time_of(item(0));
    return crowd_.empty() ? in_heap : std::min(in_heap, crowd_at_);
  }
  std::uint32_t first() const { return crowd_is_first() ? crowd_.lowest() : id_of(item(0)); }
  std::int64_t at(std::uint32_t id) const {
    if (id >= places_.size() || places_[id] == absent) return never;
    return places_[id] == in_crowd ? crowd_at_ : time_of(item(places_[id]));
  }

  // Sets a number's time, which is not negative, or takes it out (never).
  void set(std::uint32_t id, std::int64_t at) {
    if (id >= places_.size()) places_.resize(std::size_t{id} + 1, absent);
    const std::uint32_t place = places_[id];
    if (place == in_crowd) {
      if (at == crowd_at_) return;
      leave_crowd(id);
    } else if (place != absent && (at == never || joins_crowd(at))) {
      take(place);
    }
    if (at == never) return;
    if (joins_crowd(at))
      join_crowd(id);
    else
      place_in_heap(id, at);
  }
  std::uint32_t pop() {
    if (crowd_.empty()) gather_crowd();
    const std::uint32_t id = first();
    if (places_[id] == in_crowd)
      leave_crowd(id);
    else
      take(0);
    return id;
  }

 private:
  // The time in the upper half, the number in the lower one.
  using Item = detail::UnsignedWide;
  static std::int64_t time_of(Item item) { return static_cast<std::int64_t>(item >> 64); }
  static std::uint32_t id_of(Item item) { return static_cast<std::uint32_t>(item); }
  static constexpr std::uint32_t absent = 0xffff'ffff, in_crowd = 0xffff'fffe;
  static constexpr std::size_t ways = 4;
  // The first item is the last of its block: so all others stand in blocks with their brothers.
  static constexpr std::size_t before_first = ways - 1;
  struct alignas(ways * sizeof(Item)) Block {
    std::array<Item, ways> items;
  };
  // Where there is no item there is one that is later than all.
  static constexpr Item no_item = ~Item{0};
  static constexpr Block no_items{{no_item, no_item, no_item, no_item}};

  Item& item(std::size_t place) {
    return blocks_[(place + before_first) / ways].items[(place + before_first) % ways];
  }
  const Item& item(std::size_t place) const {
    return blocks_[(place + before_first) / ways].items[(place + before_first) % ways];
  }
  void put(std::size_t place, Item moved) {
    item(place) = moved;
    places_[id_of(moved)] = static_cast<std::uint32_t>(place);
  }
  bool has_children(std::size_t place) const { return place * ways + 1 < count_; }
  // The place of the least child, of which there is one.
  std::size_t least_child(std::size_t place, Item& least) const {
    const auto& children = blocks_[place + 1].items;
    const bool second = children[1] < children[0], fourth = children[3] < children[2];
    const Item first_two = second ? children[1] : children[0];
    const Item last_two = fourth ? children[3] : children[2];
    const bool late = last_two < first_two;
    least = late ? last_two : first_two;
    return place * ways + 1 + (late ? 2u + fourth : 0u + second);
  }
  void place_in_heap(std::uint32_t id, std::int64_t at) {
    const Item changed = (static_cast<Item>(at) << 64) | id;
    const std::uint32_t place = places_[id];
    if (place >= in_crowd) {
      if (count_ + before_first >= blocks_.size() * ways) blocks_.push_back(no_items);
      rise(count_++, changed);
    } else if (changed < item(place)) {
      rise(place, changed);
    } else {
      sink(place, changed);
    }
  }
  void rise(std::size_t place, const Item moved) {
    while (place > 0) {
      const std::size_t above = (place - 1) / ways;
      if (!(moved < item(above))) break;
      put(place, item(above));
      place = above;
    }
    put(place, moved);
  }
  void sink(std::size_t place, const Item moved) {
    while (has_children(place)) {
      Item least;
      const std::size_t child = least_child(place, least);
      if (!(least < moved)) break;
      put(place, least);
      place = child;
    }
    put(place, moved);
  }
  // The last item belongs far down in most cases: so the hole goes down first, without looking at
  // it.
  void take(std::size_t hole) {
    places_[id_of(item(hole))] = absent;
    const Item last = item(--count_);
    item(count_) = no_item;
    if (hole == count_) return;
    while (has_children(hole)) {
      Item least;
      const std::size_t child = least_child(hole, least);
      put(hole, least);
      hole = child;
    }
    rise(hole, last);
  }

  // While there is a crowd, all that is due at its moment belongs to it.
  bool joins_crowd(std::int64_t at) const { return !crowd_.empty() && at == crowd_at_; }
  bool crowd_is_first() const {
    return !crowd_.empty() && (count_ == 0 || crowd_at_ < time_of(item(0)));
  }
  void join_crowd(std::uint32_t id) {
    crowd_.add(id);
    places_[id] = in_crowd;
  }
  void leave_crowd(std::uint32_t id) {
    crowd_.remove(id);
    places_[id] = absent;
  }
  void gather_crowd() {
    const std::int64_t at = time_of(item(0));
    if (count_ <= ways || at == too_few_at_) return;
    for (const Item child : blocks_[1].items)
      if (time_of(child) != at) return;
    if (!find_crowd(at)) {
      too_few_at_ = at;  // Nor look for it again each time.
      return;
    }
    crowd_at_ = at;
    for (const std::uint32_t place : found_) join_crowd(id_of(item(place)));
    leave_heap();
  }
  // What is due first, from the top down. False: it is only a small part of the heap, or the
  // numbers lie too far from each other.
  bool find_crowd(std::int64_t at) {
    std::uint32_t lowest = absent, highest = 0;
    found_.assign(1, 0);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::size_t place = found_[i];
      lowest = std::min(lowest, id_of(item(place)));
      highest = std::max(highest, id_of(item(place)));
      if (!has_children(place)) continue;
      for (std::size_t child = 0; child < ways; ++child) {
        if (time_of(blocks_[place + 1].items[child]) == at)
          found_.push_back(static_cast<std::uint32_t>(place * ways + 1 + child));
      }
    }
    constexpr std::size_t part = 4, apart_max = 512;
    return found_.size() * part >= count_ && highest - lowest <= found_.size() * apart_max;
  }
  // Those of the crowd; the others are put in order again.
  void leave_heap() {
    std::size_t kept = 0;
    for (std::size_t place = 0; place < count_; ++place) {
      const Item one = item(place);
      if (time_of(one) != crowd_at_) put(kept++, one);
    }
    for (std::size_t place = kept; place < count_; ++place) item(place) = no_item;
    count_ = kept;
    for (std::size_t place = count_ / ways + 1; place-- > 0;)
      if (has_children(place)) sink(place, item(place));
  }

  std::vector<Block> blocks_;
  std::size_t count_ = 0;              // In the heap.
  std::vector<std::uint32_t> places_;  // By number.
  NumberSet crowd_;
  std::int64_t crowd_at_ = 0, too_few_at_ = -1;
  std::vector<std::uint32_t> found_;
};

}  // namespace weft
