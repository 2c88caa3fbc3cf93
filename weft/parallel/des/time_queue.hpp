// SPDX-License-Identifier: Apache-2.0
// What is due when: numbers with a time each, which may change. The earliest comes first, of
// equally early ones that with the lowest number.
//
// Time only goes on: nothing may become due before what has been taken out. So a number need not be
// put in order among all that comes later (a radix heap): it lies in a row with those whose time
// first differs from the present in the same bit, and is looked at again when the present reaches
// that bit. What is due at the present moment is a set of numbers, as ranks in step are.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/base/units.hpp>
#include <weft/parallel/des/number_set.hpp>

namespace weft {

class TimeQueue {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  TimeQueue() { least_.fill(never); }

  bool empty() const { return count_ == 0; }
  // Never if nothing is due.
  std::int64_t first_at() { return now_.empty() ? find_first() : moment_; }
  std::int64_t at(std::uint32_t number) const { return number < at_.size() ? at_[number] : never; }

  // Sets a number's time, which is not before that of one that was taken out, or takes it out
  // (never).
  void set(std::uint32_t number, std::int64_t at) {
    WEFT_CHECK(at >= moment_);
    if (number >= at_.size()) at_.resize(std::size_t{number} + 1, never);
    const std::int64_t before = std::exchange(at_[number], at);
    if (before == at) return;
    count_ += before == never;
    count_ -= at == never;
    if (before == moment_)
      now_.remove(number);
    else if (before != never)
      forget_least(before);  // Its entry stays where it is, and is found to be void there.
    if (at == moment_) {
      now_.add(number);
    } else if (at != never) {
      put({at, number});
      if (++entries_ > swept_at_) sweep();
    }
  }
  // One that comes soon, mostly the next; nothing may depend on which. None: nothing is due.
  static constexpr std::uint32_t none = NumberSet::none;
  std::uint32_t soon() const {
    if (!now_.empty()) return now_.lowest();
    if (filled_ == 0) return none;
    const std::vector<Entry>& row = rows_[first_row()];
    const Entry* first = row.data();
    for (std::size_t i = 1; i < std::min<std::size_t>(row.size(), looked_at); ++i)
      if (row[i].at < first->at) first = &row[i];
    return first->number;
  }
  // Of those that are due at the present: the lowest number that is greater, or none.
  std::uint32_t after(std::uint32_t number) const { return now_.after(number); }
  // The present is `at` now. REQUIRES: nothing is due before. A caller with several queues calls
  // this on all of them: later searches are then shorter.
  void go_on_to(std::int64_t at) {
    if (at == moment_) return;
    WEFT_CHECK(at > moment_ && now_.empty());
    const std::size_t row = row_of(at);
    moment_ = at;
    // Rows below hold only void entries.
    while (filled_ != 0 && first_row() < row) clear_first_row();
    if (((filled_ >> row) & 1) != 0) spread(row);
  }
  // REQUIRES: not empty.
  std::uint32_t pop() {
    if (now_.empty()) go_on_to(first_at());
    const std::uint32_t number = now_.lowest();
    now_.remove(number);
    at_[number] = never;
    --count_;
    return number;
  }

 private:
  struct Entry {
    std::int64_t at;
    std::uint32_t number;
  };
  bool holds(const Entry& entry) const { return at_[entry.number] == entry.at; }
  // REQUIRES: another time than the present.
  std::size_t row_of(std::int64_t at) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(at ^ moment_))) - 1;
  }
  void put(const Entry& entry) {
    const std::size_t row = row_of(entry.at);
    if (rows_[row].size() == rows_[row].capacity() && !spare_.empty()) use_spare(rows_[row]);
    rows_[row].push_back(entry);
    least_[row] = std::min(least_[row], entry.at);
    filled_ |= std::uint64_t{1} << row;
  }
  // Reuses the memory of a large row, as a crowd of numbers passes from row to row.
  void use_spare(std::vector<Entry>& row) {
    if (row.size() < large / 2 || spare_.back().capacity() <= row.size()) return;
    std::vector<Entry>& larger = spare_.back();
    larger.assign(row.begin(), row.end());
    row.swap(larger);
    spare_.pop_back();
  }
  void clear(std::vector<Entry>& row) {
    row.clear();
    if (row.capacity() <= large) return;
    std::vector<Entry> memory = std::exchange(row, {});
    if (spare_.size() < spares_max) spare_.push_back(std::move(memory));
  }
  std::size_t first_row() const { return static_cast<std::size_t>(std::countr_zero(filled_)); }

  void note_empty(std::size_t row) {
    const std::uint64_t bit = std::uint64_t{1} << row;
    filled_ &= ~bit;
    least_[row] = never;
    least_known_ |= bit;
  }
  void forget_least(std::int64_t at) {
    const std::size_t row = row_of(at);
    if (at == least_[row]) least_known_ &= ~(std::uint64_t{1} << row);
  }
  // The rows above the first one hold nothing earlier.
  std::int64_t find_first() {
    for (; filled_ != 0; clear_first_row()) {
      const std::size_t row = first_row();
      const std::uint64_t bit = std::uint64_t{1} << row;
      if ((least_known_ & bit) != 0) return least_[row];
      std::int64_t least = never;
      for (const Entry& entry : rows_[row])
        if (entry.at < least && holds(entry)) least = entry.at;
      if (least == never) continue;
      least_[row] = least;
      least_known_ |= bit;
      return least;
    }
    return never;
  }
  void clear_first_row() {
    std::vector<Entry>& row = rows_[first_row()];
    entries_ -= row.size();
    note_empty(first_row());
    clear(row);
  }
  // After the present has reached the row's bit: its entries belong to rows below, or to the
  // present.
  void spread(std::size_t row) {
    note_empty(row);
    rows_[row].swap(moved_);
    for (const Entry& entry : moved_) {
      if (holds(entry) && entry.at != moment_) {
        put(entry);
        continue;
      }
      --entries_;
      if (holds(entry)) now_.add(entry.number);
    }
    clear(moved_);
  }
  // Takes out what is void, so that there is never much more of it than there is of the rest.
  void sweep() {
    entries_ = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      // Mark entries that are seen, so that a time that was set twice is kept once.
      std::erase_if(rows_[r], [&](const Entry& entry) {
        if (!holds(entry)) return true;
        at_[entry.number] = ~entry.at;
        return false;
      });
      for (const Entry& entry : rows_[r]) at_[entry.number] = entry.at;
      entries_ += rows_[r].size();
      if (rows_[r].empty()) note_empty(r);
    }
    swept_at_ = 2 * entries_ + swept_least;
  }

  static constexpr std::size_t swept_least = 1024, large = 256, looked_at = 4;  // Entries.
  static constexpr std::size_t spares_max = 1;  // There may be millions of entries.

  std::vector<std::int64_t> at_;  // By number.
  std::size_t count_ = 0;         // That are due some time.
  std::int64_t moment_ = -1;      // The present.
  NumberSet now_;                 // Due at the present.
  // Due later: by the highest bit of the time that differs from the present.
  std::array<std::vector<Entry>, 64> rows_;
  std::uint64_t filled_ = 0;  // Rows that are not empty.
  std::size_t entries_ = 0, swept_at_ = swept_least;
  std::vector<Entry> moved_;
  std::vector<std::vector<Entry>> spare_;  // Memory of large rows, empty.
  // By row: its earliest time, or an earlier one where that is not known.
  std::array<std::int64_t, 64> least_;
  std::uint64_t least_known_ = ~std::uint64_t{0};  // Of these rows.
};

}  // namespace weft
