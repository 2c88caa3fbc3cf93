// SPDX-License-Identifier: Apache-2.0
// Records with a number each. Numbers are given again.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

template <typename T>
class Pool {
 public:
  // A record may be as its last user left it. References to others end.
  std::uint32_t make() {
    if (!unused_.empty()) {
      const std::uint32_t id = unused_.back();
      unused_.pop_back();
      return id;
    }
    all_.emplace_back();
    return static_cast<std::uint32_t>(all_.size() - 1);
  }
  void free(std::uint32_t id) { unused_.push_back(id); }
  T& operator[](std::uint32_t id) { return all_[id]; }
  const T& operator[](std::uint32_t id) const { return all_[id]; }

 private:
  std::vector<T> all_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace weft
