// SPDX-License-Identifier: Apache-2.0
#include "result_settings.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/network/topo/graph_file.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/study/traffic/report.hpp>
#include <weft/workload/patterns/traffic_file.hpp>

namespace weft::app {
namespace {

using Pairs = RunSettings::Pairs;

RunSettings begin_settings(const char* kind) {
  RunSettings run;
  run.kind = kind;
  add_command(run);
  add_host(run);
  run.circumstances.emplace_back("processes", std::to_string(launched().count));
  return run;
}

// Two graph files of one name may differ.
void add_graph(RunSettings& run, const Topology& topology) {
  const auto of_network = [](const auto& pair) { return pair.first == "network.topology"; };
  const auto found = std::find_if(run.settings.begin(), run.settings.end(), of_network);
  if (found != run.settings.end() && graph_file_of(found->second))
    run.settings.emplace_back("network.fingerprint", fingerprint(write_graph_text(topology)));
}

// A file by its name and its contents.
void add_file(Pairs& settings, const std::string& name, const std::string& path) {
  settings.emplace_back(name, path.empty() ? "none" : path);
  if (path.empty()) return;
  if (const std::string print = fingerprint_of_file(path); !print.empty())
    settings.emplace_back(name + ".fingerprint", print);
}

std::string count_text(const std::optional<std::int64_t>& count) {
  return count ? std::to_string(*count) : "by preset or time";
}

// Options that may name a file as @FILE.
std::string words_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
    if (word.starts_with('@')) text += " contents " + fingerprint_of_file(word.substr(1));
  }
  return text.empty() ? "none" : text;
}

void add_search(const MapOptions& o, Pairs& settings) {
  settings.emplace_back("objective", o.objective);
  settings.emplace_back("preset", o.preset);
  settings.emplace_back("time", o.time.empty() ? "by preset" : o.time);
  settings.emplace_back("evaluations", count_text(o.evaluations));
  settings.emplace_back("tries", count_text(o.tries));
  settings.emplace_back("chains", count_text(o.chains));
  settings.emplace_back("trial_effort", std::to_string(o.trial_effort));
  settings.emplace_back("seed", std::to_string(o.seed));
  add_file(settings, "start", o.start);
  add_file(settings, "resume", o.resume);
  add_file(settings, "evaluate", o.evaluate);
  settings.emplace_back("simulate", o.simulate ? "yes" : "no");
  settings.emplace_back("shrink", std::to_string(o.shrink));
  settings.emplace_back("model", o.model);
}

// The settings that differ between scenarios that share a network file, beside its keys.
RunSettings settings_of(const Scenario& scenario) {
  RunSettings run;
  run.settings = {{"model", to_text(scenario.model.fidelity)},
                  {"pattern", scenario.traffic},
                  {"injection", scenario.injection},
                  {"packet", scenario.packet},
                  {"vcs", std::to_string(scenario.hardware.vcs)},
                  {"buffer_bytes", std::to_string(scenario.hardware.buffer_size().count)},
                  {"seed", std::to_string(scenario.seed)}};
  add_machine(run, scenario.machine_text);
  add_graph(run, *scenario.topology);
  return run;
}

bool is_in(const Pairs& pairs, const std::pair<std::string, std::string>& pair) {
  return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
}

}  // namespace

RunSettings map_settings(const MapOptions& o, const MapSetting& setting) {
  RunSettings run = begin_settings("map");
  const map::Problem& problem = *setting.problem;
  Pairs& settings = run.settings;
  settings.emplace_back("ranks", std::to_string(problem.ranks()));
  settings.emplace_back("ranks_per_node", std::to_string(o.ranks_per_node));
  settings.emplace_back("traffic", setting.pattern);
  settings.emplace_back("traffic.fingerprint", fingerprint(write_traffic_text(problem.traffic())));
  settings.emplace_back("before", setting.before_name());
  settings.emplace_back("forbid", words_text(o.forbid));
  settings.emplace_back("fix", words_text(o.fix));
  add_search(o, settings);
  run.circumstances.emplace_back("threads", o.threads == 0 ? "all" : std::to_string(o.threads));
  add_machine(run, setting.machine.text);
  add_graph(run, *setting.machine.topology);
  return run;
}

RunSettings traffic_settings(const TrafficOptions& o, const Phases& phases,
                             const std::string& load) {
  RunSettings run = begin_settings("traffic");
  const auto cycles = [&](std::int64_t count) {
    return phases.measure_cycles > 0 ? std::to_string(count) : std::string("until converged");
  };
  run.settings.insert(run.settings.end(),
                      {{"load", load},
                       {"factor", fmt::format("{}", o.factor)},
                       {"search_tolerance", fmt::format("{} %", o.search_tolerance_percent)},
                       {"warmup_cycles", cycles(phases.warmup_cycles)},
                       {"measure_cycles", cycles(phases.measure_cycles)},
                       {"converge", fmt::format("{} %", o.converge_percent)},
                       {"all_loads", o.all ? "yes" : "no"}});
  run.circumstances.emplace_back("threads", std::to_string(o.threads));
  run.circumstances.emplace_back("jobs", o.jobs == 0 ? "automatic" : std::to_string(o.jobs));
  run.circumstances.emplace_back("partition", o.partition);
  return run;
}

std::string with_settings(const Sweep& sweep, RunSettings run) {
  using Json = nlohmann::ordered_json;
  std::vector<RunSettings> curves;
  for (const Curve& curve : sweep.curves) curves.push_back(settings_of(*curve.scenario));
  const auto in_all = [&](const auto& has) { return std::ranges::all_of(curves, has); };
  Pairs common;
  for (const auto& pair : curves.front().settings)
    if (in_all([&](const RunSettings& curve) { return is_in(curve.settings, pair); }))
      common.push_back(pair);
  Json json = Json::parse(sweep_json(sweep));
  const bool one_machine =
      in_all([&](const RunSettings& curve) { return curve.machine == curves.front().machine; });
  for (std::size_t i = 0; i < curves.size(); ++i) {
    Json& own = json["curves"][i]["settings"] = Json::object();
    for (const auto& pair : curves[i].settings)
      if (!is_in(common, pair)) own[pair.first] = pair.second;
    if (!one_machine) json["curves"][i]["machine"] = curves[i].machine;
  }
  run.settings.insert(run.settings.end(), common.begin(), common.end());
  if (one_machine) run.machine = curves.front().machine;
  return with_settings(json.dump(), run);
}

}  // namespace weft::app
