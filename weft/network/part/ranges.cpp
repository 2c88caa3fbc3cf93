// SPDX-License-Identifier: Apache-2.0
// Cuts a row of items with weights into consecutive ranges.
#include <numeric>

#include <weft/base/check.hpp>
#include <weft/base/units.hpp>
#include <weft/network/part/cuts.hpp>

namespace weft::detail {

Numbers cut_row(std::span<const std::uint32_t> row, std::span<const std::uint32_t> weight,
                std::span<const std::uint32_t> shares) {
  UnsignedWide total = 0;
  for (const std::uint32_t r : row) total += weight[r];
  const auto all = std::accumulate(shares.begin(), shares.end(), std::size_t{0});
  WEFT_CHECK(all > 0 && all <= row.size());
  Numbers first{0};
  std::size_t position = 0;
  std::size_t wanted = 0;   // Shares before the next boundary.
  UnsignedWide before = 0;  // Weight before it.
  for (const std::uint32_t share : shares) {
    const std::size_t least = position + share;
    wanted += share;
    const std::size_t most = row.size() - (all - wanted);
    // A router is taken when its middle lies before the boundary.
    while (position < most &&
           (position < least || (2 * before + weight[row[position]]) * all <= 2 * total * wanted))
      before += weight[row[position++]];
    first.push_back(static_cast<std::uint32_t>(position));
  }
  // Routers without weight at the end.
  first.back() = static_cast<std::uint32_t>(row.size());
  return first;
}

Owners cut_row(std::span<const std::uint32_t> row, const CutTask& task) {
  const Numbers shares(task.parts, 1);
  const Numbers first = cut_row(row, task.weight, shares);
  Owners owner(row.size());
  for (std::uint32_t p = 0; p < task.parts; ++p)
    for (std::uint32_t i = first[p]; i < first[p + 1]; ++i) owner[row[i]] = p;
  return owner;
}

Owners cut_ranges(const CutTask& task) {
  Numbers row(task.weight.size());
  std::iota(row.begin(), row.end(), 0u);
  return cut_row(row, task);
}

}  // namespace weft::detail
