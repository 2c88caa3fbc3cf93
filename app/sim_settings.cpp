// SPDX-License-Identifier: Apache-2.0
#include "sim_settings.hpp"

#include <filesystem>

#include "record_folder.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/program/run_record/run_settings.hpp>

namespace weft::app {
namespace {

namespace fs = std::filesystem;

std::string compute_text(double factor) {
  if (factor == 0) return "none";
  return factor == 1 ? "measured" : fmt::format("measured*{}", factor);
}

std::string collectives_text(const std::vector<std::string>& forced) {
  std::string out;
  for (const std::string& text : forced) out += (out.empty() ? "" : ", ") + text;
  return out.empty() ? "chosen by size" : out;
}

// Two maps of one name may differ, and two files may hold the same map.
std::string map_fingerprint(const Placement& placement) {
  std::string nodes;
  for (std::uint32_t rank = 0; rank < placement.ranks(); ++rank)
    nodes += std::to_string(placement.node(RankId(rank))) + "\n";
  return fingerprint(nodes);
}

void add_ranks(const SimulationOptions& o, const SimulationSetup& setup, RunSettings& run) {
  auto& settings = run.settings;
  settings.emplace_back("ranks", std::to_string(setup.placement->ranks()));
  settings.emplace_back("ranks_per_node", std::to_string(slots_per_node(o, setup.machine)));
  settings.emplace_back("map", o.map.empty() ? "in the order of nodes" : o.map);
  settings.emplace_back("map.fingerprint", map_fingerprint(*setup.placement));
  settings.emplace_back("cores_per_rank", o.cores_per_rank == 0 ? "as the description says"
                                                                : std::to_string(o.cores_per_rank));
  settings.emplace_back("separate", o.separation.empty() ? "as the program allows" : o.separation);
  settings.emplace_back("stack", o.stack.count == 0 ? "automatic" : to_text(o.stack));
}

void add_simulation(const SimulationOptions& o, RunSettings& run) {
  auto& settings = run.settings;
  settings.emplace_back("seed", std::to_string(o.seed));
  settings.emplace_back("model", o.model);
  settings.emplace_back("payload", o.carry_data ? "full" : "none");
  settings.emplace_back("compute", compute_text(o.compute_factor));
  settings.emplace_back("collectives", collectives_text(o.collectives));
  settings.emplace_back("connections", o.connections.empty() ? "cost nothing" : o.connections);
  if (const auto request = conn::parse_request(o.connections);
      !o.connections.empty() && request && !request->groups_file.empty())
    settings.emplace_back("connections.groups", fingerprint_of_file(request->groups_file));
  settings.emplace_back("start_skew", to_text(o.start_skew));
  settings.emplace_back("until",
                        o.until == Time::never() ? "the end" : to_text(o.until - Time::zero()));
  run.circumstances.emplace_back("threads", o.threads == 0 ? "auto" : std::to_string(o.threads));
  run.circumstances.emplace_back("processes", std::to_string(launched().count));
  run.circumstances.emplace_back("partition", o.partition);
}

// Copies the graph file into the record, and names the copy in the description.
Status keep_graph(const SimulationOptions& o, RunSettings& run, std::string& description) {
  for (const auto& [key, value] : run.settings) {
    if (key != "network.topology") continue;
    const auto file = graph_file_of(value);
    if (!file) return {};
    const fs::path folder =
        o.machine.net.ends_with(".toml") ? fs::path(o.machine.net).parent_path() : fs::path();
    auto graph = read_file((folder / *file).string());
    if (!graph) return Error(graph.error());
    if (Status s = write_file(o.out + "/" + graph_used_name, *graph); !s) return s;
    const std::size_t path = description.find(*file, description.find("topology = "));
    if (path != std::string::npos) description.replace(path, file->size(), graph_used_name);
    run.settings.emplace_back("network.fingerprint", fingerprint(*graph));
    return {};
  }
  return {};
}

}  // namespace

Status write_sim_settings(const SimulationOptions& options, const SimulationSetup& setup,
                          const SimulatedProgram& program) {
  RunSettings run;
  run.kind = "sim";
  add_command(run);
  add_host(run);
  add_program(run, program.words, program.path);
  add_ranks(options, setup, run);
  add_simulation(options, run);
  add_machine(run, setup.machine.text);
  std::string description = setup.machine.text;
  if (Status s = keep_graph(options, run, description); !s) return s;
  const std::string head = "# The machine of a run of weft sim, complete. It reads as --net.\n";
  if (Status s = write_file(options.out + "/" + machine_used_name, head + description); !s)
    return s;
  return write_file(options.out + "/" + settings_file_name, to_json(run));
}

}  // namespace weft::app
