// SPDX-License-Identifier: Apache-2.0
// For tests only: a scenario from "option=value" texts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/study/traffic/scenario.hpp>

namespace weft {

inline ScenarioRequest test_request(std::initializer_list<std::string_view> settings) {
  ScenarioRequest request;
  request.options["profile"] = "textbook";  // Whose latencies can be counted by hand.
  for (const std::string_view setting : settings) {
    const std::size_t equals = setting.find('=');
    EXPECT_TRUE(request.set(setting.substr(0, equals), setting.substr(equals + 1)));
  }
  return request;
}

inline Scenario test_scenario(std::initializer_list<std::string_view> settings) {
  auto scenario = make_scenario(test_request(settings));
  EXPECT_TRUE(scenario) << scenario.error().text();
  return *std::move(scenario);
}

}  // namespace weft
