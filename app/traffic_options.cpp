// SPDX-License-Identifier: Apache-2.0
#include "traffic_options.hpp"

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/network/part/part.hpp>
#include <weft/study/traffic/scenario.hpp>
#include <weft/workload/patterns/injection.hpp>
#include <weft/workload/patterns/pattern.hpp>

namespace weft::app {
namespace {

std::string pattern_list() {
  std::string text = "Patterns (in brackets: BookSim's name):\n";
  for (const PatternEntry& entry : builtin_patterns())
    text += fmt::format("  {:<28} {}{}\n", entry.usage, entry.help,
                        entry.alias.empty() ? "" : fmt::format(" ({})", entry.alias));
  return text;
}

std::string injection_list() {
  std::string text = "Injection processes:\n";
  for (const InjectionEntry& entry : injection_kinds())
    text += fmt::format("  {:<20} {}\n", entry.usage, entry.help);
  return text;
}

std::string partition_list() {
  const std::string cuts = list_cuts();
  std::string text = "Partitions:\n";
  for (const std::string_view line : split(cuts, '\n'))
    if (!line.empty()) text += fmt::format("  {}\n", line);
  return text;
}

void add_scenario_options(CLI::App& parser, TrafficOptions& o) {
  const auto add = [&](const char* name, const char* help, const char* type) {
    parser
        .add_option_function<std::string>(
            std::string("--") + name,
            [&o, name](const std::string& value) { o.scenario[name] = value; }, help)
        ->type_name(type)
        ->group("Traffic");
  };
  add("vcs", "virtual channels per cable (default: as many as the routing needs)", "N");
  add("buffer", "input buffer per VC, in flits or with a unit (default: one packet)", "FLITS|SIZE");
  add("packet", "flits per packet, or a mix such as 1:0.5,32:0.5 (default: the MTU)", "FLITS");
  add("pattern", "who sends to whom, or 'list' (default: uniform)", "NAME");
  add("injection", "when packets are born, or 'list' (default: bernoulli)", "NAME");
  add("arbitration", "through-first, round-robin or age", "NAME");
  add("release", "buffer space is freed by the packet's tail or head", "tail|head");
  add("seed", "of all random numbers (default: 1)", "N");
  parser
      .add_option("--vary", o.vary,
                  "a curve for each value of an option of the machine or the traffic, or a "
                  "TABLE.KEY; several: all "
                  "combinations. Values with commas are separated by ';'")
      ->type_name("KEY=V1,V2,...")
      ->allow_extra_args(false)
      ->group("Traffic");
}

void add_comparison_options(CLI::App& parser, TrafficOptions& o) {
  const auto option = [&](const char* name, auto& variable, const char* help, const char* type) {
    parser.add_option(name, variable, help)->type_name(type)->group("Comparison");
  };
  option("--compare", o.compare,
         "routing policies, compared for each combination of --vary. Names with commas are "
         "separated by ';'",
         "NAME,NAME,...");
  option("--basis", o.basis,
         "own: as many VCs as each policy needs; vcs: as many as the neediest of them; buffers: "
         "own VCs with buffers so much larger that memory is that of the neediest (default: all)",
         "own,vcs,buffers");
  parser.add_flag("--brief", o.brief, "the table of the comparison alone, not that of each curve")
      ->group("Comparison");
}

void add_run_options(CLI::App& parser, TrafficOptions& o) {
  const auto option = [&](const char* name, auto& variable, const char* help, const char* type) {
    parser.add_option(name, variable, help)->type_name(type)->group("Experiment");
  };
  option("--load", o.load,
         "flit/node/cycle (0.1), a share of the capacity (20%), or a rate per node ('2 GB/s'); "
         "FIRST:LAST:STEP and comma lists",
         "LOADS");
  parser.add_flag("--saturation", o.saturation, "search for the highest load carried instead")
      ->group("Experiment");
  option("--factor", o.factor, "carried: mean latency at most so many times that of zero load (3)",
         "X");
  option("--search-tolerance", o.search_tolerance_percent, "of the load found (2)", "PERCENT");
  option("--warmup", o.warmup_cycles, "exactly so many cycles, with --measure", "CYCLES");
  option("--measure", o.measure_cycles, "exactly so many cycles (default: until it converges)",
         "CYCLES");
  option("--converge", o.converge_percent,
         "change of latency and throughput between samples that counts as none (1)", "PERCENT");
  parser.add_flag("--all", o.all, "run every load, also beyond the second saturated one")
      ->group("Experiment");
  option("--jobs", o.jobs, "points simulated at the same time (default: cores; not under mpirun)",
         "N");
  option("--workers", o.workers,
         "threads inside one simulation (1; under mpirun each process is one); results do not "
         "depend on it",
         "N");
  option("--partition", o.partition,
         "which worker or process has which routers: automatic, blocks, subtrees, metis, ranges, "
         "or 'list'; results do not depend on it",
         "NAME");
}

void add_output_options(CLI::App& parser, TrafficOptions& o) {
  const auto option = [&](const char* name, auto& variable, const char* help) {
    parser.add_option(name, variable, help)->type_name("FILE")->group("Output");
  };
  option("--csv", o.csv, "one row per point, full precision");
  option("--json", o.json, "the same with settings, busiest cables and saturation");
  option("--svg", o.svg, "latency over load; of a comparison, its first block");
  option("--html", o.html, "a page with charts that answer the pointer");
  option("--progress-file", o.progress_file,
         "one line of JSON, rewritten every second: how far, how long still, how it ended");
  parser.add_flag("--quiet", o.quiet, "no table on standard output")->group("Output");
}

}  // namespace

void add_traffic_options(CLI::App& parser, TrafficOptions& options) {
  options.machine.words.usual_profile = traffic_profile;
  add_machine_options(parser, options.machine);
  add_scenario_options(parser, options);
  add_comparison_options(parser, options);
  add_run_options(parser, options);
  add_output_options(parser, options);
  parser.footer(
      "Examples:\n"
      "  weft traffic --net mesh:8x8 --packet 32 --load 0.02:0.30:0.02 --csv out.csv\n"
      "  weft traffic --net mesh:8x8 --vary routing=dor,xy-yx --vcs 2 --load 10%:90%:10% --html "
      "curves.html\n"
      "  weft traffic --net torus:8x8 --pattern tornado --saturation\n"
      "  weft traffic --compare crossline,dor,adaptive --vary net=mesh:32x32,torus:32x32 --packet "
      "32 --load 0.016:0.320:0.016 --html figure1.html\n"
      "      (a curve must pass saturation: it ends with its second saturated point; --all goes "
      "on)\n"
      "  weft traffic --net presets/nsim-torus.toml --set router.buffer='4 KiB' --load '1 GB/s'\n"
      "  weft traffic --net mesh:8x8 --warmup 6000 --measure 9000 --load 0.1   (as BookSim runs)\n"
      "  mpirun -np 4 weft traffic --net torus:16x16x16 --load 10%   (one simulation on four "
      "processes)\n"
      "Definitions: docs/reference/traffic.md. Exit code: 0, 1 interrupted or deadlock, 2 usage, 3 "
      "bad input.");
}

Status check_traffic_options(const TrafficOptions& o, const Job& job) {
  if (o.factor <= 1) return Error::call("--factor must be above 1");
  if (o.search_tolerance_percent <= 0 || o.search_tolerance_percent > 50)
    return Error::call("--search-tolerance must be above 0 and at most 50 (percent)");
  if (o.converge_percent <= 0 || o.converge_percent > 50)
    return Error::call("--converge must be above 0 and at most 50 (percent)");
  if (o.warmup_cycles < 0 || o.measure_cycles < 0 || o.warmup_cycles > 1'000'000'000 ||
      o.measure_cycles > 1'000'000'000)
    return Error::call("--warmup and --measure must be from 0 to 1000000000 cycles");
  if (o.warmup_cycles > 0 && o.measure_cycles == 0)
    return Error::call("--warmup fixes the length of a run; give --measure too");
  if (o.workers < 1 || o.workers > 63) return Error::call("--workers must be from 1 to 63");
  if (o.jobs < 0 || o.jobs > 1024) return Error::call("--jobs must be from 0 (cores) to 1024");
  if (job.processes() > 1 && (o.workers > 1 || o.jobs > 1))
    return Error::call(
        "under mpirun every process is one worker, and all of them share one point: leave out "
        "--workers and --jobs");
  if (o.basis && !o.compare)
    return Error::call("--basis says how policies are made comparable; give --compare too");
  if (o.brief && !o.compare)
    return Error::call("--brief shows the table of --compare alone; give --compare too");
  if (o.saturation && !o.load.empty())
    return Error::call("--saturation searches for the load itself; leave out --load");
  return {};
}

std::string asked_lists(const TrafficOptions& options) {
  const auto asks = [&](const char* name) {
    const auto found = options.scenario.find(name);
    return found != options.scenario.end() && found->second == "list";
  };
  std::string text;
  MachineOptions machine = options.machine;
  if (options.compare == "list") machine.words.routing = "list";
  text += asked_lists(machine);
  if (asks("pattern")) text += pattern_list();
  if (asks("injection")) text += injection_list();
  if (options.partition == "list") text += partition_list();
  return text;
}

}  // namespace weft::app
