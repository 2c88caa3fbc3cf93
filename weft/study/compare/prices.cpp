// SPDX-License-Identifier: Apache-2.0
#include "weft/study/compare/prices.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <weft/base/config.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>

namespace weft::compare {
namespace {

constexpr std::string_view example_text =
    R"TOML(# Prices for `weft net A B C --prices FILE`. These are examples of a plausible size, not offers: copy the file, write your own, delete `example`.
example = true
currency = "USD"

# A router takes the smallest switch that has its ports (to cables and to nodes).
[switch.24]
price = 9000
watts = 150

[switch.40]
price = 14000
watts = 250

[switch.64]
price = 24000
watts = 450

# A router with more ports than the largest switch costs this for each of its ports.
[switch]
port_price = 450
port_watts = 8

# A cable is of the kind with the shortest reach that is long enough.
[cable]
length = "5 m"        # of cables whose length a network file does not give (link.length, link.CLASS.length, nic.length)

[cable.copper]
reach = "3 m"
price = 80
price_per_metre = 30
watts = 0.2

[cable.optical]       # without `reach`: any length
price = 450
price_per_metre = 6
watts = 9

[card]
price = 900
watts = 20
)TOML";

constexpr int ports_max = 65536;

// Reads prices; the first mistake waits for status(), as in the tables themselves.
class PriceReader {
 public:
  explicit PriceReader(const Config& config) : config_(config) { prices_.name = config.name(); }

  Result<Prices> read() {
    constexpr std::array<std::string_view, 6> tables = {"",      "switch",  "switch.*",
                                                        "cable", "cable.*", "card"};
    if (Status s = config_.only_tables(tables); !s) return std::move(s).error();
    for (const auto step : {&PriceReader::read_top, &PriceReader::read_switches,
                            &PriceReader::read_cables, &PriceReader::read_card})
      if (Status s = (this->*step)(); !s) return std::move(s).error();
    return prices_;
  }

 private:
  Status read_top() {
    ConfigTable top = config_.table("");
    top.get("example", prices_.are_examples);
    top.get("currency", prices_.currency);
    return top.finish();
  }

  Status amount(ConfigTable& table, std::string_view key, double& out) {
    table.get(key, out);
    if (out < 0) return table.error_at(key, fmt::format("'{}' must not be below 0", key));
    return {};
  }
  Status expense(ConfigTable& table, Expense& out) {
    if (!table.has("price"))
      return table.error_at("price", "'price' is missing; give a number, without currency");
    prices_.has_watts = prices_.has_watts || table.has("watts");
    if (Status s = amount(table, "price", out.price); !s) return s;
    return amount(table, "watts", out.watts);
  }

  Status read_switches() {
    ConfigTable table = config_.table("switch");
    if (table.has("port_price")) {
      prices_.port.emplace();
      prices_.has_watts = prices_.has_watts || table.has("port_watts");
      if (Status s = amount(table, "port_price", prices_.port->price); !s) return s;
      if (Status s = amount(table, "port_watts", prices_.port->watts); !s) return s;
    }
    if (Status s = table.finish(); !s) return s;
    for (const std::string& name : config_.subtables("switch")) {
      ConfigTable one = config_.table("switch." + name);
      const auto ports = parse_int(name);
      if (!ports || *ports < 1 || *ports > ports_max)
        return one.error_at("price", fmt::format("[switch.{}] must name the number of ports of a "
                                                 "switch, as [switch.40] does",
                                                 name));
      SwitchOffer offer{static_cast<int>(*ports), {}};
      if (Status s = expense(one, offer.each); !s) return s;
      if (Status s = one.finish(); !s) return s;
      prices_.switches.push_back(offer);
    }
    std::sort(prices_.switches.begin(), prices_.switches.end(),
              [](const SwitchOffer& a, const SwitchOffer& b) { return a.ports < b.ports; });
    return {};
  }

  Status read_cables() {
    ConfigTable table = config_.table("cable");
    if (table.has("length")) table.get("length", prices_.usual_length.emplace());
    if (Status s = table.finish(); !s) return s;
    for (const std::string& kind : config_.subtables("cable")) {
      ConfigTable one = config_.table("cable." + kind);
      CableOffer offer{.kind = kind, .reach = {}, .each = {}, .price_per_metre = 0};
      if (one.has("reach")) one.get("reach", offer.reach.emplace());
      if (Status s = expense(one, offer.each); !s) return s;
      if (Status s = amount(one, "price_per_metre", offer.price_per_metre); !s) return s;
      if (Status s = one.finish(); !s) return s;
      prices_.cables.push_back(std::move(offer));
    }
    std::stable_sort(prices_.cables.begin(), prices_.cables.end(),
                     [](const CableOffer& a, const CableOffer& b) {
                       return a.reach && (!b.reach || *a.reach < *b.reach);
                     });
    return {};
  }

  Status read_card() {
    if (!config_.has_table("card")) return {};  // Cards that come with the nodes cost nothing.
    ConfigTable card = config_.table("card");
    if (Status s = expense(card, prices_.card); !s) return s;
    return card.finish();
  }

  const Config& config_;
  Prices prices_;
};

}  // namespace

Result<Prices> read_prices(const std::string& path) {
  const auto config = Config::read_file(path);
  if (!config) return Error(config.error());
  return PriceReader(*config).read();
}

Result<Prices> read_prices_text(std::string_view text, const std::string& name) {
  const auto config = Config::read_text(text, name);
  if (!config) return Error(config.error());
  return PriceReader(*config).read();
}

std::string_view example_prices_text() {
  return example_text;
}

const Prices& example_prices() {
  static const Prices prices = *read_prices_text(example_text, "example prices");
  return prices;
}

Result<Expense> price_of_switch(const Prices& prices, int ports) {
  for (const SwitchOffer& offer : prices.switches)
    if (offer.ports >= ports) return offer.each;
  if (prices.port) return Expense{prices.port->price * ports, prices.port->watts * ports};
  return Error::input(fmt::format("no switch has {0} ports; add [switch.{0}], or port_price to "
                                  "[switch]",
                                  ports))
      .at(prices.name, 0);
}

Result<const CableOffer*> offer_for(const Prices& prices, Length length) {
  for (const CableOffer& offer : prices.cables)
    if (!offer.reach || *offer.reach >= length) return &offer;
  return Error::input(fmt::format("no cable reaches {}; add a table such as [cable.optical], "
                                  "without reach",
                                  to_text(length)))
      .at(prices.name, 0);
}

}  // namespace weft::compare
