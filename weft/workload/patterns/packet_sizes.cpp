// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/packet_sizes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/workload/patterns/decimal.hpp>

namespace weft {
namespace {

constexpr int flits_max = 1'000'000;
constexpr std::size_t kinds_max = 64;

Result<int> parse_flits(std::string_view text) {
  const auto flits = parse_int(trim(text));
  if (!flits || *flits < 1 || *flits > flits_max)
    return Error::input(
        fmt::format("'{}' is not a packet size; give flits from 1 to {}", trim(text), flits_max));
  return static_cast<int>(*flits);
}

}  // namespace

PacketSizes::PacketSizes(std::vector<Kind> kinds) : kinds_(std::move(kinds)) {
  for (const Kind& kind : kinds_) weight_ += kind.weight;
}

Result<PacketSizes> PacketSizes::parse(std::string_view text) {
  std::vector<Kind> kinds;
  std::vector<Decimal> weights;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t colon = item.find(':');
    auto flits = parse_flits(item.substr(0, colon));
    if (!flits) return std::move(flits).error();
    Decimal weight{1, 0};
    if (colon != std::string_view::npos) {
      auto given = parse_decimal(item.substr(colon + 1));
      if (!given) return std::move(given).error().during("weight in '" + std::string(item) + "'");
      weight = *given;
    } else if (text.find(',') != std::string_view::npos) {
      return Error::input(
          fmt::format("a mix of packet sizes needs weights, as in '1:0.5,32:0.5', not '{}'", text));
    }
    if (weight.digits == 0)
      return Error::input(fmt::format("weight in '{}' must be above zero", item));
    kinds.push_back({*flits, 1});
    weights.push_back(weight);
  }
  if (kinds.size() > kinds_max)
    return Error::input(fmt::format("at most {} packet sizes can be mixed", kinds_max));
  int places = 0;
  const std::vector<std::int64_t> scaled = to_common_places(weights, places);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    // 64 weights below 2^50 still fit in one word, times flits in a wide one.
    if (scaled[i] > (std::int64_t{1} << 50)) return Error::input("weights differ too much");
    kinds[i].weight = static_cast<std::uint64_t>(scaled[i]);
  }
  return PacketSizes(std::move(kinds));
}

int PacketSizes::draw(Rng& rng) const {
  if (kinds_.size() == 1) return kinds_.front().flits;
  std::uint64_t place = rng.below(weight_);
  for (const Kind& kind : kinds_) {
    if (place < kind.weight) return kind.flits;
    place -= kind.weight;
  }
  return kinds_.back().flits;
}

double PacketSizes::mean() const {
  detail::UnsignedWide flits = 0;
  for (const Kind& kind : kinds_)
    flits += static_cast<detail::UnsignedWide>(kind.weight) * static_cast<unsigned>(kind.flits);
  return static_cast<double>(flits) / static_cast<double>(weight_);
}

int PacketSizes::smallest() const {
  return std::min_element(kinds_.begin(), kinds_.end(),
                          [](const Kind& a, const Kind& b) { return a.flits < b.flits; })
      ->flits;
}

int PacketSizes::largest() const {
  return std::max_element(kinds_.begin(), kinds_.end(),
                          [](const Kind& a, const Kind& b) { return a.flits < b.flits; })
      ->flits;
}

}  // namespace weft
