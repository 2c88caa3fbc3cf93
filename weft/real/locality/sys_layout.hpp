// SPDX-License-Identifier: Apache-2.0
// The host as Linux reports it, without hwloc: for processes that another launcher started and
// bound. NICs are not listed; interfaces know their own nodes.
#pragma once

#include <span>
#include <string>

#include <weft/base/result.hpp>
#include <weft/real/locality/host_layout.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/locality/places.hpp>

namespace weft::locality {

// `sys` is /sys or a copy.
Result<HostLayout> host_layout_from_sys(const std::string& sys);

// The locality that this process finds itself with; binds nothing. Its home is the node that holds
// all of its processors, if there is one.
ProcessPlace find_process_place(const HostLayout& layout, std::span<const Interface> rails);

}  // namespace weft::locality
