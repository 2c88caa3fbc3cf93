// SPDX-License-Identifier: Apache-2.0
// Where the ranks of one host run: what locality decides, for launch to do.
#pragma once

#include <weft/real/launch/agent.hpp>

namespace weft::app {

// Runs in the agent of each host.
Result<launch::HostPlaces> decide_places(const launch::HostJob& job);

// Whether a way of binding is known; an agent would say so too, but late.
Status check_binding(const std::string& name);

}  // namespace weft::app
