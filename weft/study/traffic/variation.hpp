// SPDX-License-Identifier: Apache-2.0
// Scenarios that differ in the values of some settings: all combinations of lists of values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/study/traffic/scenario.hpp>

namespace weft {

// No sweep has more.
inline constexpr std::size_t scenarios_max = 1000;

// "a,b", or where values hold commas "a:1,2;b". Nothing if one of them is empty.
std::optional<std::vector<std::string>> split_values(std::string_view list);

// "vcs=1,2,4", or with values that hold commas "pattern=hotspot:0.1@1,2;uniform".
struct Variation {
  std::string key;
  std::vector<std::string> values;
};
Result<Variation> parse_variation(std::string_view text);

struct Combination {
  ScenarioRequest request;
  std::string label;  // "net=mesh:8x8, vcs=2"; empty without variations.
};
// All combinations of the variations, the first varying slowest; one without any.
Result<std::vector<Combination>> combine(const ScenarioRequest& request,
                                         const std::vector<Variation>& variations);

// One scenario for each combination.
Result<std::vector<Scenario>> make_scenarios(const ScenarioRequest& request,
                                             const std::vector<Variation>& variations);

}  // namespace weft
