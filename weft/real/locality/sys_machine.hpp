// SPDX-License-Identifier: Apache-2.0
// The machine as Linux tells it, without hwloc: for processes that somebody else started and
// placed, who have nothing from a launcher of ours. Cards are not listed; interfaces know their own
// nodes.
#pragma once

#include <span>
#include <string>

#include <weft/base/result.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/locality/machine.hpp>
#include <weft/real/locality/places.hpp>

namespace weft::locality {

// `sys` is /sys or a copy.
Result<Machine> machine_from_sys(const std::string& sys);

// Where this process finds itself. Nothing is bound. At home in the node that holds all of its
// processors, if one does.
Here find_here(const Machine& machine, std::span<const Interface> rails);

}  // namespace weft::locality
