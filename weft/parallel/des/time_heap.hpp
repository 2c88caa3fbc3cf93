// SPDX-License-Identifier: Apache-2.0
// What is due when: numbers with a time each, which may change. The earliest comes first, of
// equally early ones that with the lowest number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class TimeHeap {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  bool empty() const { return items_.empty(); }
  // Never if nothing is due.
  std::int64_t first_at() const { return items_.empty() ? never : items_.front().at; }
  std::uint32_t first() const { return items_.front().id; }
  std::int64_t at(std::uint32_t id) const {
    return id < places_.size() && places_[id] != absent ? items_[places_[id]].at : never;
  }

  // Sets a number's time, or takes it out (never).
  void set(std::uint32_t id, std::int64_t at) {
    if (id >= places_.size()) places_.resize(std::size_t{id} + 1, absent);
    const std::uint32_t place = places_[id];
    if (at == never) {
      if (place != absent) take(place);
      return;
    }
    if (place == absent) {
      items_.push_back({at, id});
      rise(items_.size() - 1, {at, id});
      return;
    }
    const Item item{at, id};
    if (item < items_[place])
      rise(place, item);
    else
      sink(place, item);
  }
  std::uint32_t pop() {
    const std::uint32_t id = first();
    take(0);
    return id;
  }

 private:
  struct Item {
    std::int64_t at;
    std::uint32_t id;
    bool operator<(const Item& other) const {
      return at != other.at ? at < other.at : id < other.id;
    }
  };
  static constexpr std::uint32_t absent = 0xffff'ffff;
  static constexpr std::size_t ways = 4;

  void put(std::size_t place, const Item& item) {
    items_[place] = item;
    places_[item.id] = static_cast<std::uint32_t>(place);
  }
  void rise(std::size_t place, const Item item) {
    while (place > 0) {
      const std::size_t above = (place - 1) / ways;
      if (!(item < items_[above])) break;
      put(place, items_[above]);
      place = above;
    }
    put(place, item);
  }
  void sink(std::size_t place, const Item item) {
    for (;;) {
      const std::size_t begin = place * ways + 1;
      if (begin >= items_.size()) break;
      const std::size_t end = std::min(begin + ways, items_.size());
      std::size_t least = begin;
      for (std::size_t i = begin + 1; i < end; ++i)
        if (items_[i] < items_[least]) least = i;
      if (!(items_[least] < item)) break;
      put(place, items_[least]);
      place = least;
    }
    put(place, item);
  }
  void take(std::size_t place) {
    places_[items_[place].id] = absent;
    const Item last = items_.back();
    items_.pop_back();
    if (place == items_.size()) return;
    if (place > 0 && last < items_[(place - 1) / ways])
      rise(place, last);
    else
      sink(place, last);
  }

  std::vector<Item> items_;
  std::vector<std::uint32_t> places_;  // By number.
};

}  // namespace weft
