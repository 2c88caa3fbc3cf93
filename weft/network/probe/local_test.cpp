// SPDX-License-Identifier: Apache-2.0
// From measurements of a host that is known to the keys that describe it, and to files.
#include "weft/network/probe/local.hpp"

#include <gtest/gtest.h>

#include <weft/base/config.hpp>
#include <weft/message/port/copy_stretch.hpp>
#include <weft/network/topo/graph_file.hpp>

namespace weft::probe {
namespace {

constexpr double call = 15, send = 20, receive = 30, request = 80, latency = 160, collective = 250,
                 once = 900, asleep = 25'000, shared = 700, frame = send + latency + receive;

double copy_ns(double size) {  // Quicker once it has begun.
  return size <= 1024 ? size * 0.16 : 1024 * 0.16 + (size - 1024) * 0.06;
}
double stretch_ns(double size) {
  return 600 + size / 15;
}

// What such a host would show.
LocalMeasures example(bool crowded) {
  LocalMeasures out;
  out.cores = out.ranks = 2;
  out.crowded = crowded;
  const double extra = crowded ? shared : 0;
  const auto set = [&](const char* name, double ns) {
    out.times[name].samples_ns = {ns, ns, ns * 1.1, ns * 2};
  };
  set("call", call);
  set("send", call + send);
  set("receive", call + receive);
  set("reduction", reduced_numbers * 8.0 / 12);
  for (const std::size_t bytes : eager_sizes())
    out.side[bytes].samples_ns = {call + (send + receive) / 2 +
                                  0.8 * copy_ns(static_cast<double>(bytes))};
  for (const std::size_t bytes : copy_sizes())
    out.copy[bytes].samples_ns = {static_cast<double>(bytes) / 30};
  set("send_request", call + send + request);
  set("receive_request", call + receive + request);
  for (const char* name : {"barrier", "allreduce", "alltoall"})
    set(name, crowded ? 2 * (call + send + receive + collective) + latency + shared
                      : call + frame + collective);
  set("round_trip_asleep", 2 * (call + frame) + asleep);
  set("large_copy", 16.0 * 1024 * 1024 / 10);
  set("large_copy_by_all", 16.0 * 1024 * 1024 / 8);
  for (const std::size_t bytes : local_sizes()) {
    const auto size = static_cast<double>(bytes);
    double ns = call + frame + extra;
    if (bytes <= 16384) {
      ns += 2 * copy_ns(size);
    } else {
      ns += 2 * (frame + extra) + once;
      const auto stretch = static_cast<double>(copy_stretch(bytes));
      const bool hot = bytes <= (1 << 20);
      const double both = crowded ? 1 : 2;
      if (bytes < shared_copy_min)
        ns += stretch_ns(size);
      else
        ns += size / stretch / both * (hot ? stretch_ns(stretch) : stretch / 8);
    }
    out.one_way[bytes].samples_ns = {ns, ns, ns * 1.05, ns * 3};
  }
  return out;
}

double ns(Duration time) {
  return static_cast<double>(time.in_ps()) / 1000;
}

TEST(Local, FindsTheCostsOfAKnownHost) {
  const LocalMeasures measures = example(false), crowded = example(true);
  const auto node = fit_local(measures, &crowded, 2);
  ASSERT_TRUE(node.has_value()) << node.error().text();
  EXPECT_EQ(node->cores, 2);
  EXPECT_NEAR(ns(node->call), call, 0.1);
  EXPECT_NEAR(ns(node->send), send, 0.1);
  EXPECT_NEAR(ns(node->receive), receive, 0.1);
  EXPECT_NEAR(ns(node->request), request, 0.1);
  EXPECT_NEAR(ns(node->collective), collective, 0.1);
  EXPECT_NEAR(ns(node->latency), latency, 0.1);
  EXPECT_NEAR(ns(node->wake), asleep, 0.1);
  EXPECT_NEAR(ns(node->switching), shared, 0.1);
  EXPECT_NEAR(ns(node->write), once, 1);
  for (const auto& [size, time] : node->copies)
    EXPECT_NEAR(ns(time), static_cast<double>(size.count) / 30, 0.1);
  ASSERT_EQ(node->sides.size(), 5u);
  for (std::size_t i = 0; i < node->sides.size(); ++i) {
    const double copy = copy_ns(static_cast<double>(node->sides[i].first.count));
    EXPECT_NEAR(ns(node->sides[i].second), 0.8 * copy, 0.1);
    EXPECT_NEAR(ns(node->flights[i].second), 0.4 * copy, 0.1);
  }
  EXPECT_NEAR(node->reduce.in_byte_per_s() / 1e9, 12, 0.01);
  ASSERT_GE(node->writes.size(), 3u);
  for (const auto& [size, time] : node->writes)
    EXPECT_NEAR(ns(time), stretch_ns(static_cast<double>(size.count)), 5) << size.count;
  EXPECT_EQ(node->cache.count, 2 << 20);
  EXPECT_NEAR(node->uncached.in_byte_per_s() / 1e9, 8, 0.2);
  EXPECT_NEAR(node->copy_alone.in_byte_per_s() / 1e9, 10, 0.01);
  EXPECT_NEAR(node->memory.in_byte_per_s() / 1e9, 16, 0.01);
  EXPECT_NEAR(node->disturbed, 0.05, 0.06);
}

// On one core all that is beyond the ranks' work is the switch between them.
TEST(Local, FindsTheCostsOfOneCore) {
  const LocalMeasures measures = example(true);
  const auto node = fit_local(measures, nullptr, 1);
  ASSERT_TRUE(node.has_value()) << node.error().text();
  EXPECT_NEAR(ns(node->latency) + ns(node->switching), latency + shared, 0.1);
  EXPECT_LE(ns(node->latency), 1);
  EXPECT_NEAR(ns(node->collective), collective, 1);
  EXPECT_NEAR(ns(node->writes[0].second), stretch_ns(16384), 5);
  EXPECT_EQ(node->wake, Duration::zero());
}

TEST(Local, MachineWithoutACacheOfItsOwn) {
  LocalMeasures measures = example(false);
  const LocalMeasures crowded = example(true);
  for (const std::size_t bytes : local_sizes())
    if (bytes > (1 << 20))
      measures.one_way[bytes].samples_ns = {1000 + static_cast<double>(bytes) / 28};
  const auto node = fit_local(measures, &crowded, 2);
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->cache.count, 0);
  EXPECT_EQ(to_tables(*node).find("\ncache"), std::string::npos);
}

TEST(Local, NamesWhatWasNotMeasured) {
  const LocalMeasures crowded = example(true);
  LocalMeasures measures = example(false);
  measures.one_way.erase(65536);
  EXPECT_NE(fit_local(measures, &crowded, 2).error().text().find("messages of 65536 B"),
            std::string::npos);
  measures = example(false);
  measures.times.erase("send");
  EXPECT_NE(fit_local(measures, &crowded, 2).error().text().find("send"), std::string::npos);
  measures = example(false);
  measures.times["call"].samples_ns = {0, 0, 0};
  EXPECT_FALSE(fit_local(measures, &crowded, 2).has_value()) << "a clock that stands still";
  EXPECT_FALSE(fit_local({}, nullptr, 1).has_value());
  const LocalMeasures none;
  EXPECT_FALSE(fit_local(example(false), &none, 2).has_value());
}

TEST(Local, MeasurementsComeBackFromTheirText) {
  const LocalMeasures measures = example(false);
  const auto read = measures_from_json(to_json(measures), "x.json");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(to_json(*read), to_json(measures));
  EXPECT_FALSE(measures_from_json("{}", "x").has_value());
  EXPECT_FALSE(measures_from_json("", "x").has_value());
}

TEST(Local, FileHasAllItsKeys) {
  const LocalMeasures measures = example(false), crowded = example(true);
  const auto node = fit_local(measures, &crowded, 2);
  ASSERT_TRUE(node.has_value());
  const LocalText text = to_local_network(*node, "h0", "local.graph");
  ASSERT_TRUE(read_graph_text(text.graph, "local.graph").has_value());
  const auto config = Config::read_text(text.description, "local.toml");
  ASSERT_TRUE(config.has_value()) << config.error().text();
  ConfigTable table = config->table("node");
  for (const char* key :
       {"cores", "sockets", "call_overhead", "request_overhead", "collective_overhead",
        "local_send_overhead", "local_receive_overhead", "local_latency", "copy_times",
        "local_copy_times", "local_latency_times", "reduce_rate", "local_write_overhead",
        "local_write_times", "memory_rate", "wake_time", "switch_time", "cache", "uncached_rate"})
    EXPECT_TRUE(table.has(key)) << key << "\n" << text.description;
  EXPECT_TRUE(config->table("messages").has("split"));
  Duration found;
  table.get("local_latency", found);
  EXPECT_NEAR(ns(found), latency, 1);
}

}  // namespace
}  // namespace weft::probe
