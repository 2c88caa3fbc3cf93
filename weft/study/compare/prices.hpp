// SPDX-License-Identifier: Apache-2.0
// What the parts of a network cost and draw, from a file of prices: switches by the number of their
// ports, cables by kind and length, network cards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::compare {

// Of one part.
struct Expense {
  double price = 0, watts = 0;
};

struct SwitchOffer {
  int ports = 0;
  Expense each;
};

// Cables of one kind reach up to a length: copper a few metres, optical ones far.
struct CableOffer {
  std::string kind;
  std::optional<Length> reach;  // Nothing: any length.
  Expense each;
  double price_per_metre = 0;
};

struct Prices {
  std::string name;           // Of the file.
  bool are_examples = false;  // Nobody sells at these prices; every output says so.
  bool has_watts = false;     // Of at least one part.
  std::string currency;
  std::vector<SwitchOffer> switches;   // By ports.
  std::optional<Expense> port;         // Of a switch that is not among them: each of its ports.
  std::vector<CableOffer> cables;      // By reach.
  std::optional<Length> usual_length;  // Of cables whose length a description does not give.
  Expense card;
};

Result<Prices> read_prices(const std::string& path);
Result<Prices> read_prices_text(std::string_view text, const std::string& name);

// Where no file is given. The same text is in examples/prices/prices.toml, to be copied and
// changed.
const Prices& example_prices();
std::string_view example_prices_text();

// The smallest switch that has the ports, or else as many single ports. The error names the file
// and what to add.
Result<Expense> price_of_switch(const Prices& prices, int ports);
// The kind with the shortest reach that is long enough.
Result<const CableOffer*> offer_for(const Prices& prices, Length length);

}  // namespace weft::compare
