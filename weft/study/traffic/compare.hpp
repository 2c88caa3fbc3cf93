// SPDX-License-Identifier: Apache-2.0
// Scenarios that compare routing policies fairly. Policies need different numbers of VCs, and more
// VCs are more buffers; so each is tried as it would be built (own), with the VCs of the neediest,
// and with the buffer memory of the neediest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/study/traffic/scenario.hpp>
#include <weft/study/traffic/variation.hpp>

namespace weft {

enum class Basis {
  own,      // As many VCs as the policy needs, buffers as given.
  vcs,      // As many VCs as the policy with the most VCs has.
  buffers,  // Own VCs, enlarged to the total buffer of the policy with the most VCs.
};
const char* to_text(Basis basis);

struct ComparisonRequest {
  std::vector<std::string> policies;
  std::vector<Basis> bases;  // Empty: all, or own where the number of VCs is given.
};
// From the lists of --compare and --basis.
Result<ComparisonRequest> parse_comparison(std::string_view policies,
                                           const std::optional<std::string>& bases);

// For each combination of the variations a block: all policies on all bases, in the order of the
// lists. What would come out the same for one policy is there once, under the first basis.
Result<std::vector<Scenario>> make_comparison(const ScenarioRequest& request,
                                              const std::vector<Variation>& variations,
                                              const ComparisonRequest& comparison);

}  // namespace weft
