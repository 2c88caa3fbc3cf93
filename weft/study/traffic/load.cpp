// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/load.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/workload/patterns/decimal.hpp>

namespace weft {
namespace {

constexpr std::size_t loads_max = 10'000;

struct Number {
  Load::Unit unit;
  Decimal decimal;
  Rate rate;
};

Result<Number> parse_number_with_unit(std::string_view text) {
  const std::string_view field = trim(text);
  if (field.find("/s") != std::string_view::npos) {
    auto rate = parse_rate(field);
    if (!rate) return std::move(rate).error();
    return Number{Load::Unit::rate, {}, *rate};
  }
  const bool percent = field.ends_with('%');
  auto decimal = parse_decimal(percent ? field.substr(0, field.size() - 1) : field);
  if (!decimal)
    return Error::input(fmt::format(
        "'{}' is not a load; give flits per node and cycle (0.1), a share of the capacity (20%), a "
        "rate (2 GB/s), or a range (0.02:0.30:0.02)",
        field));
  return Number{percent ? Load::Unit::capacity : Load::Unit::flits, *decimal, {}};
}

Load to_load(const Number& number) {
  Load load{.unit = number.unit, .rate = number.rate};
  // Percent: the point moves before the division, so that 30% is 0.3 to the last bit.
  Decimal decimal = number.decimal;
  if (number.unit == Load::Unit::capacity) decimal.places += 2;
  if (number.unit != Load::Unit::rate) load.value = decimal.value();
  return load;
}

bool positive(const Number& number) {
  return number.unit == Load::Unit::rate ? number.rate > Rate() : number.decimal.digits > 0;
}

// Whole numbers from first to last in steps; the caller knows what they count.
Status walk(std::int64_t first, std::int64_t last, std::int64_t step,
            std::vector<std::int64_t>& out) {
  if (first > last) return Error::input("the range ends before it begins");
  if ((last - first) / step >= static_cast<std::int64_t>(loads_max))
    return Error::input(fmt::format("the range has more than {} loads", loads_max));
  for (std::int64_t at = first; at <= last; at += step) out.push_back(at);
  return {};
}

Status add_range(const std::array<Number, 3>& range, std::vector<Load>& out) {
  std::vector<std::int64_t> steps;
  if (range[0].unit == Load::Unit::rate) {
    if (Status s = walk(range[0].rate.in_bit_per_s(), range[1].rate.in_bit_per_s(),
                        range[2].rate.in_bit_per_s(), steps);
        !s)
      return s;
    for (const std::int64_t at : steps)
      out.push_back({.unit = Load::Unit::rate, .rate = Rate::bit_per_s(at)});
    return {};
  }
  const std::array decimals = {range[0].decimal, range[1].decimal, range[2].decimal};
  int places = 0;
  const auto scaled = to_common_places(decimals, places);
  if (Status s = walk(scaled[0], scaled[1], scaled[2], steps); !s) return s;
  for (const std::int64_t at : steps)
    out.push_back(to_load({range[0].unit, Decimal{at, places}, {}}));
  return {};
}

Status add_item(std::string_view item, std::vector<Load>& out) {
  const std::vector<std::string_view> fields = split(item, ':');
  if (fields.size() != 1 && fields.size() != 3)
    return Error::input(fmt::format("'{}' is not a range; write FIRST:LAST:STEP", item));
  std::array<Number, 3> numbers{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    auto number = parse_number_with_unit(fields[i]);
    if (!number) return std::move(number).error();
    if (!positive(*number))
      return Error::input(fmt::format("'{}': loads and steps must be above zero", item));
    if (i > 0 && number->unit != numbers[0].unit)
      return Error::input(fmt::format("'{}' mixes units; give all three the same", item));
    numbers[i] = *number;
  }
  if (fields.size() == 3) {
    Status added = add_range(numbers, out);
    return added ? added : std::move(added).error().during(fmt::format("'{}'", item));
  }
  out.push_back(to_load(numbers[0]));
  return {};
}

}  // namespace

Result<std::vector<Load>> parse_loads(std::string_view text) {
  std::vector<Load> loads;
  for (const std::string_view item : split(text, ',')) {
    if (Status s = add_item(trim(item), loads); !s) return std::move(s).error();
    if (loads.size() > loads_max) return Error::input(fmt::format("more than {} loads", loads_max));
  }
  return loads;
}

double in_flits(const Load& load, const LoadScale& scale) {
  switch (load.unit) {
    case Load::Unit::flits:
      return load.value;
    case Load::Unit::capacity:
      return load.value * scale.capacity;
    case Load::Unit::rate:
      break;
  }
  const double bits_per_cycle =
      static_cast<double>(load.rate.in_bit_per_s()) * scale.cycle.in_seconds();
  return bits_per_cycle / static_cast<double>(scale.flit.count * 8);
}

Result<double> uniform_capacity(const Topology& topology) {
  const Facts facts = find_facts(topology);
  if (facts.nodes < 2 || !facts.bisection)
    return Error::input("the capacity of " + topology.name +
                        " is not known; give loads in flits per node and cycle");
  const double share = 4 * static_cast<double>(facts.bisection->cables) / facts.nodes;
  return std::min(1.0, share);
}

}  // namespace weft
