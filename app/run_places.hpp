// SPDX-License-Identifier: Apache-2.0
// The cores of the ranks of one host: weft/real/locality decides, weft/real/launch binds.
#pragma once

#include <weft/real/launch/agent.hpp>

namespace weft::app {

// Called by the agent of each host.
Result<launch::HostBinding> decide_places(const launch::HostJob& job);

// Fails for an unknown binding, before any agent starts.
Status check_binding(const std::string& name);

}  // namespace weft::app
