// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include <weft/base/groups.hpp>

namespace weft {

Groups::Groups(std::span<const std::uint32_t> group_of_each) : place_(group_of_each.size()) {
  std::unordered_map<std::uint32_t, std::uint32_t> known;
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < total(); ++i) {
    const auto [entry, is_new] =
        known.emplace(group_of_each[i], static_cast<std::uint32_t>(sizes.size()));
    if (is_new) sizes.push_back(0);
    place_[i] = {entry->second, sizes[entry->second]++};
  }
  start_.reserve(sizes.size() + 1);
  start_.push_back(0);
  for (const std::uint32_t size : sizes) start_.push_back(start_.back() + size);
  order_.resize(total());
  for (std::uint32_t i = 0; i < total(); ++i)
    order_[start_[place_[i].group] + place_[i].number] = i;
}

}  // namespace weft
