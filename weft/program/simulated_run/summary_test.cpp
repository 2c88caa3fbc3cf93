// SPDX-License-Identifier: Apache-2.0
#include "weft/program/simulated_run/summary.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

using Json = nlohmann::json;

// Ranks of one node send nothing over the network.
TEST(Summary, SaysNothingOfLatenciesThatNobodyMeasured) {
  const RunSummary none;
  EXPECT_EQ(to_table(none).find("latency"), std::string::npos);
  EXPECT_EQ(Json::parse(to_json(none)).at("latency"), Json::parse(R"({"count":0,"buckets":[]})"));
  RunSummary some;
  some.latencies_ps.add(700'000);
  EXPECT_NE(to_table(some).find("p50 700 ns"), std::string::npos) << to_table(some);
  const Json latency = Json::parse(to_json(some)).at("latency");
  for (const char* key : {"min_ps", "p50_ps", "p90_ps", "p99_ps", "p999_ps", "max_ps"})
    EXPECT_EQ(latency.at(key), 700'000) << key;
  EXPECT_EQ(latency.at("buckets").size(), 1U);
}

}  // namespace
}  // namespace weft
