// SPDX-License-Identifier: Apache-2.0
// A small hash table in one block: thousands of ranks each have a few, mostly tiny. Pointers to
// values are good until the next insertion or removal. The greatest key of all stands for none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::mp {

template <typename Value>
class FlatMap {
 public:
  Value* find(std::uint64_t key) {
    if (cells_.empty()) return nullptr;
    if (cells_[recent_].key == key) return &cells_[recent_].value;
    for (std::size_t at = home(key); !cells_[at].free(); at = next(at)) {
      if (cells_[at].key != key) continue;
      recent_ = at;
      return &cells_[at].value;
    }
    return nullptr;
  }
  Value& operator[](std::uint64_t key) {
    if (Value* const found = find(key)) return *found;
    if ((count_ + 1) * 4 > cells_.size() * 3) grow();
    ++count_;
    return place(key, Value{});
  }
  void erase(std::uint64_t key) {
    if (cells_.empty()) return;
    std::size_t hole = home(key);
    while (!cells_[hole].free() && cells_[hole].key != key) hole = next(hole);
    if (cells_[hole].free()) return;
    --count_;
    // A cell that a search would miss because of the hole moves into it.
    for (std::size_t at = next(hole); !cells_[at].free(); at = next(at)) {
      const std::size_t from_home = (at - home(cells_[at].key)) & (cells_.size() - 1);
      const std::size_t from_hole = (at - hole) & (cells_.size() - 1);
      if (from_home < from_hole) continue;
      cells_[hole] = std::move(cells_[at]);
      hole = at;
    }
    cells_[hole] = Cell{};
  }
  std::size_t size() const { return count_; }
  template <typename Visit>
  void each(Visit&& visit) {
    for (Cell& cell : cells_) {
      if (!cell.free()) visit(cell.key, cell.value);
    }
  }

 private:
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};
  struct Cell {
    std::uint64_t key = no_key;
    Value value = {};
    bool free() const { return key == no_key; }
  };
  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & (cells_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (cells_.size() - 1); }
  Value& place(std::uint64_t key, Value&& value) {
    std::size_t at = home(key);
    while (!cells_[at].free()) at = next(at);
    cells_[at] = {key, std::move(value)};
    return cells_[at].value;
  }
  void grow() {
    std::vector<Cell> old(cells_.empty() ? 4 : cells_.size() * 2);
    old.swap(cells_);
    recent_ = 0;
    for (Cell& cell : old) {
      if (!cell.free()) place(cell.key, std::move(cell.value));
    }
  }
  std::vector<Cell> cells_;
  std::size_t count_ = 0;
  std::size_t recent_ = 0;  // Where the last one was found: mostly it is asked for again.
};

}  // namespace weft::mp
