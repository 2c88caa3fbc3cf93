// SPDX-License-Identifier: Apache-2.0
// Other names of policies, which work wherever a policy is named. Lists of policies show them.
#pragma once

#include <span>
#include <string_view>

namespace weft {

struct PolicyAlias {
  std::string_view name, policy;
};

std::span<const PolicyAlias> policy_aliases();

}  // namespace weft
