// SPDX-License-Identifier: Apache-2.0
// A pattern between nodes as their cards play it: each card sends where its node does, to the card
// of the same number there.
#pragma once

#include <memory>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/workload/patterns/pattern.hpp>

namespace weft {

// make_pattern() for the nodes of this network, between its ends.
Result<std::unique_ptr<Pattern>> make_card_pattern(std::string_view spec, const Topology& topology,
                                                   std::uint64_t seed);

}  // namespace weft
