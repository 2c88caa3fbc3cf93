// SPDX-License-Identifier: Apache-2.0
// Loads the summary of a simulated or real run.
#include <algorithm>

#include <fmt/format.h>

#include <weft/output/report/load_parts.hpp>

namespace weft::report {

namespace {

struct Wanted {
  const char* key;  // A path in the summary.
  const char* label;
  Unit unit;
  const char* better;  // Times only: fewer hops or connections need not be an advantage.
};

const Wanted wanted[] = {
    {"/program", "Program", "", ""},
    {"/network", "Network", "", ""},
    {"/routing", "Routing", "", ""},
    {"/algorithms", "Algorithm of", "", ""},
    {"/ranks", "Ranks", "1", ""},
    {"/nodes", "Nodes", "1", ""},
    {"/ending", "Ending", "", ""},
    {"/program_time_ps", "Program time", "ps", "less"},
    {"/waiting_ps/mean", "Waiting per rank, mean", "ps", "less"},
    {"/waiting_ps/most", "Waiting per rank, max", "ps", "less"},
    {"/processor_in_mpi_ps/mean", "Processor in MPI per rank, mean", "ps", "less"},
    {"/processor_in_mpi_ps/most", "Processor in MPI per rank, max", "ps", "less"},
    {"/messages", "Messages", "1", ""},
    {"/bytes", "Bytes sent", "B", ""},
    {"/protocols/eager", "Messages sent eagerly", "1", ""},
    {"/protocols/rendezvous", "Messages sent by rendezvous", "1", ""},
    {"/protocols/unexpected", "Messages that came before their receive", "1", ""},
    {"/packets", "Packets", "1", ""},
    {"/packet_hops", "Packet hops", "1", ""},
    {"/links/efficiency", "Link utilisation, mean", "share", ""},
    {"/links/busiest_efficiency", "Utilisation of the busiest link", "share", ""},
    {"/links/busiest", "Busiest link", "", ""},
    {"/node_links/busiest_efficiency", "Utilisation of the busiest node link", "share", ""},
    {"/node_links/busiest", "Busiest node link", "", ""},
    {"/packet_waiting/mean_ps", "Waiting per packet", "ps", "less"},
    {"/latency/p50_ps", "Message latency, p50", "ps", "less"},
    {"/latency/p99_ps", "Message latency, p99", "ps", "less"},
    {"/latency/max_ps", "Message latency, max", "ps", "less"},
    {"/connections/most", "Connections per rank, max", "1", ""},
    {"/connections/held_mean", "Connections per rank, mean", "1", ""},
};

// A fact for each collective operation: "allreduce", "ring (4 calls), rabenseifner (1)".
void add_algorithms(const Wanted& w, const Json& operations, RunView& view) {
  for (const auto& [operation, algorithms] : operations.items()) {
    std::string text;
    for (const auto& [name, calls] : algorithms.items()) {
      const auto count = calls.get<std::uint64_t>();
      const char* const unit = !text.empty() ? "" : count == 1 ? " call" : " calls";
      text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", name, count, unit);
    }
    view.facts.push_back({w.key + 1 + ("." + operation), w.label + (" " + operation), text});
  }
}

void add_facts(const Json& summary, RunView& view) {
  for (const Wanted& w : wanted) {
    const Json::json_pointer place(w.key);
    if (!summary.contains(place)) continue;
    const Json& value = summary.at(place);
    std::string key = w.key + 1;
    std::replace(key.begin(), key.end(), '/', '.');
    if (value.is_object()) {
      add_algorithms(w, value, view);
    } else if (value.is_number()) {
      const auto number = value.get<double>();
      view.facts.push_back({key, w.label, pretty(number, w.unit), number, w.better});
    } else {
      view.facts.push_back({key, w.label, value.get<std::string>()});
    }
  }
}

void add_calls(const Json& summary, RunView& view) {
  Table table{"calls",
              "MPI calls",
              {{"call"},
               {"calls", "1"},
               {"time, all ranks", "ps"},
               {"time per call", "ps"},
               {"bytes", "B"},
               {"longest of a rank", "ps"},
               {"of rank"}},
              {}};
  for (const auto& [name, call] : summary.at("calls").items()) {
    const auto count = call.at("count").get<double>(), time = call.at("time_ps").get<double>();
    table.rows.push_back({name, call.at("count"), call.at("time_ps"),
                          count > 0 ? Json(time / count) : Json(), call.at("bytes"),
                          call.value("longest_ps", Json()), call.value("longest_rank", Json())});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return a[2].template get<double>() > b[2].template get<double>();
  });
  view.tables.push_back(std::move(table));
}

void add_latency(const Json& summary, RunView& view) {
  const auto latency = summary.find("latency");
  if (latency == summary.end() || latency->at("buckets").empty()) return;
  ChartView chart{"latency", {}, "ps", "1"};
  chart.chart.title = "Latency of messages";
  chart.chart.x = {"latency", true, std::nullopt, std::nullopt};
  chart.chart.y = {"messages", false, 0, std::nullopt};
  Series series{"messages", {}, true};
  for (const Json& bucket : latency->at("buckets")) {
    const auto first = bucket.at(0).get<double>(), last = bucket.at(1).get<double>();
    const auto count = bucket.at(2).get<double>();
    if (!series.points.empty() && series.points.back().x >= first) series.points.pop_back();
    series.points.push_back({std::max(first, 1.0), count});
    series.points.push_back({last + 1, 0});
  }
  chart.chart.series.push_back(std::move(series));
  for (const auto& [key, label] : {std::pair{"p50_ps", "p50"}, {"p99_ps", "p99"}}) {
    if (latency->contains(key)) chart.chart.rules.push_back({latency->at(key), true, label});
  }
  view.charts.push_back(std::move(chart));
}

void add_packet_waiting(const Json& summary, RunView& view) {
  const auto waiting = summary.find("packet_waiting");
  if (waiting == summary.end()) return;
  Table table{"packet-waiting",
              "What packets waited for, all together",
              {{"links"},
               {"in queues", "ps"},
               {"for turns", "ps"},
               {"for room", "ps"},
               {"most waited for"},
               {"there", "ps"}},
              {}};
  for (const Json& kind : waiting->at("kinds")) {
    table.rows.push_back({kind.at("kind"), kind.at("queue_ps"), kind.at("turn_ps"),
                          kind.at("room_ps"), kind.at("most"), kind.at("most_ps")});
  }
  view.tables.push_back(std::move(table));
}

void add_rails(const Json& summary, RunView& view) {
  const auto rails = summary.find("rails");
  if (rails == summary.end()) return;
  Table table{"rails",
              "Rails",
              {{"host"},
               {"interface"},
               {"handed over", "B"},
               {"acknowledged", "B"},
               {"mean rate of a rank", "B/s"},
               {"failures", "1"}},
              {}};
  for (const Json& rail : *rails) {
    const Json& node = rail.at("node");
    Json host = node;
    for (const Json& known : summary.at("hosts")) {
      if (known.at("node") == node) host = known.at("name");
    }
    table.rows.push_back({host, rail.at("interface"), rail.at("bytes"), rail.at("delivered_bytes"),
                          rail.at("mean_byte_per_s"), rail.at("downs")});
  }
  view.tables.push_back(std::move(table));
}

void add_windows(const Json& summary, RunView& view) {
  const auto windows = summary.find("windows");
  if (windows == summary.end() || windows->empty()) return;
  Table table{"windows",
              "Windows named by the program",
              {{"part"},
               {"begin", "ps"},
               {"end", "ps"},
               {"messages", "1"},
               {"bytes", "B"},
               {"waited, all ranks", "ps"}},
              {}};
  for (const auto& [name, w] : windows->items()) {
    table.rows.push_back({name, w.at("first_start_ps"), w.at("last_stop_ps"), w.at("messages"),
                          w.at("bytes"), w.at("waited_ps")});
  }
  view.tables.push_back(std::move(table));
}

}  // namespace

void add_folder_facts(const Json& summary, RunView& view) {
  add_facts(summary, view);
  if (summary.contains("complete") && !summary.at("complete").get<bool>())
    view.remarks.emplace_back("The run did not complete; results cover only the part that ran.");
  if (summary.contains("calls")) add_calls(summary, view);
  add_latency(summary, view);
  add_packet_waiting(summary, view);
  add_rails(summary, view);
  add_windows(summary, view);
}

}  // namespace weft::report
