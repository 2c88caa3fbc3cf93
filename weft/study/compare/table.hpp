// SPDX-License-Identifier: Apache-2.0
// Networks side by side, for people and for scripts.
#pragma once

#include <span>
#include <string>

#include <weft/study/compare/facts.hpp>
#include <weft/study/compare/prices.hpp>

namespace weft::compare {

// A column for each network, notes below.
std::string to_text(std::span<const NetworkFacts> networks, const Prices& prices);
// A line for each network; plain numbers, in the units that the names of columns end with.
std::string to_csv(std::span<const NetworkFacts> networks, const Prices& prices);
std::string to_json(std::span<const NetworkFacts> networks, const Prices& prices);

}  // namespace weft::compare
