// SPDX-License-Identifier: Apache-2.0
// What files of policies share. A policy is one file that defines its row, `const PolicyEntry
// NAME_policy`, and one line of policies.inc.
#pragma once

#include <weft/network/route/policy.hpp>

namespace weft::detail {

using MadePolicy = Result<std::unique_ptr<Policy>>;

// VCs needed; 0: does not fit. Each also for what BookSim makes of the policy.
int vcs_planar_adaptive(const Topology& t);
int vcs_min_adaptive(const Topology& t);

}  // namespace weft::detail
