// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/variation.hpp"

#include <utility>

#include <fmt/format.h>

#include <weft/base/text.hpp>

namespace weft {

std::optional<std::vector<std::string>> split_values(std::string_view list) {
  std::vector<std::string> values;
  for (const std::string_view value :
       split(list, list.find(';') != std::string_view::npos ? ';' : ',')) {
    if (trim(value).empty()) return std::nullopt;
    values.emplace_back(trim(value));
  }
  return values;
}

Result<Variation> parse_variation(std::string_view text) {
  const std::size_t equals = text.find('=');
  Variation variation;
  if (equals != std::string_view::npos) {
    variation.key = trim(text.substr(0, equals));
    variation.values = split_values(text.substr(equals + 1)).value_or(std::vector<std::string>());
  }
  if (variation.key.empty() || variation.values.empty())
    return Error::call(fmt::format(
        "--vary: '{}' must look like KEY=V1,V2 (or KEY=V1;V2 where values hold commas)", text));
  return variation;
}

Result<std::vector<Combination>> combine(const ScenarioRequest& request,
                                         const std::vector<Variation>& variations) {
  std::size_t count = 1;
  for (const Variation& variation : variations) {
    count *= variation.values.size();
    if (count > scenarios_max)
      return Error::call(fmt::format("--vary: more than {} combinations", scenarios_max));
  }
  std::vector<Combination> combinations;
  for (std::size_t i = 0; i < count; ++i) {
    Combination one{request, ""};
    std::size_t rest = i, below = count;
    for (const Variation& variation : variations) {
      below /= variation.values.size();
      const std::string& value = variation.values[rest / below];
      rest %= below;
      if (Status s = one.request.set(variation.key, value); !s) return std::move(s).error();
      one.label += fmt::format("{}{}={}", one.label.empty() ? "" : ", ", variation.key, value);
    }
    combinations.push_back(std::move(one));
  }
  return combinations;
}

Result<std::vector<Scenario>> make_scenarios(const ScenarioRequest& request,
                                             const std::vector<Variation>& variations) {
  auto combinations = combine(request, variations);
  if (!combinations) return std::move(combinations).error();
  std::vector<Scenario> scenarios;
  ScenarioMaker maker;
  for (const Combination& one : *combinations) {
    auto scenario = maker.make(one.request);
    if (!scenario) return std::move(scenario).error();
    if (!one.label.empty()) scenario->label = one.label;
    scenarios.push_back(*std::move(scenario));
  }
  return scenarios;
}

}  // namespace weft
