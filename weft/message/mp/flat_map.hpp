// SPDX-License-Identifier: Apache-2.0
// A small hash table in one block: up to a million ranks each have a few, mostly tiny. Pointers to
// values are good until the next insertion or removal. The greatest key of all stands for none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace weft::mp {

template <typename Key, typename Value>
class FlatMap {
 public:
  Value* find(Key key) {
    if (size_ == 0) return nullptr;
    if (cells_[recent_].key == key) return &cells_[recent_].value;
    for (std::uint32_t at = home(key); !cells_[at].free(); at = next(at)) {
      if (cells_[at].key != key) continue;
      recent_ = at;
      return &cells_[at].value;
    }
    return nullptr;
  }
  Value& operator[](Key key) {
    if (Value* const found = find(key)) return *found;
    // Full to 13/16: searches stay short, and a table of 32 holds what a rank of a million has
    // talked to after a halo exchange and collectives.
    if ((count_ + 1) * 16 > size_ * 13) grow();
    ++count_;
    return place(key, Value{});
  }
  void erase(Key key) {
    if (size_ == 0) return;
    std::uint32_t hole = home(key);
    while (!cells_[hole].free() && cells_[hole].key != key) hole = next(hole);
    if (cells_[hole].free()) return;
    --count_;
    // A cell that a search would miss because of the hole moves into it.
    for (std::uint32_t at = next(hole); !cells_[at].free(); at = next(at)) {
      const std::uint32_t from_home = (at - home(cells_[at].key)) & (size_ - 1);
      const std::uint32_t from_hole = (at - hole) & (size_ - 1);
      if (from_home < from_hole) continue;
      cells_[hole] = std::move(cells_[at]);
      hole = at;
    }
    cells_[hole] = Cell{};
  }
  std::size_t size() const { return count_; }
  template <typename Visit>
  void each(Visit&& visit) {
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (!cells_[i].free()) visit(cells_[i].key, cells_[i].value);
    }
  }

 private:
  static constexpr Key no_key = ~Key{0};
  struct Cell {
    Key key = no_key;
    Value value = {};
    bool free() const { return key == no_key; }
  };
  std::uint32_t home(Key key) const {
    return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15u) >> 32) & (size_ - 1);
  }
  std::uint32_t next(std::uint32_t at) const { return (at + 1) & (size_ - 1); }
  Value& place(Key key, Value&& value) {
    std::uint32_t at = home(key);
    while (!cells_[at].free()) at = next(at);
    cells_[at] = {key, std::move(value)};
    return cells_[at].value;
  }
  void grow() {
    const std::uint32_t before = size_;
    size_ = before == 0 ? 4 : before * 2;
    const std::unique_ptr<Cell[]> old = std::exchange(cells_, std::make_unique<Cell[]>(size_));
    recent_ = 0;
    for (std::uint32_t i = 0; i < before; ++i) {
      if (!old[i].free()) place(old[i].key, std::move(old[i].value));
    }
  }
  std::unique_ptr<Cell[]> cells_;
  std::uint32_t size_ = 0, count_ = 0;  // Cells, a power of two; those in use.
  std::uint32_t recent_ = 0;  // Where the last one was found: mostly it is asked for again.
};

}  // namespace weft::mp
