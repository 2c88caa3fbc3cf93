// SPDX-License-Identifier: Apache-2.0
#include "traffic_options.hpp"

#include "shared_options.hpp"
#include <fmt/format.h>

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

void add_scenario_options(CLI::App& parser, TrafficOptions& o) {
  const auto add = [&](const char* name, const char* help, const char* type) {
    parser
        .add_option_function<std::string>(
            std::string("--") + name,
            [&o, name](const std::string& value) { o.scenario[name] = value; }, help)
        ->type_name(type);
  };
  begin_group(parser, "Traffic");
  add("vcs", "Virtual channels per cable (default: as many as the routing needs)", "N");
  add("buffer", "Input buffer per VC, in flits or with a unit (default: one packet)", "FLITS|SIZE");
  add("packet", "Flits per packet, or a mix such as 1:0.5,32:0.5 (default: the MTU)", "FLITS");
  add("pattern", "Traffic pattern: which node sends to which, or 'list' (default: uniform)",
      "NAME");
  add("injection", "Injection process: when packets are created, or 'list' (default: bernoulli)",
      "NAME");
  add("arbitration", "Arbitration at outputs: through-first, round-robin or age", "NAME");
  add("release", "Whether a packet's tail or its head frees buffer space", "tail|head");
  add("model",
      "How closely the network is simulated: flit (VCs share links flit by flit; slower), packet, "
      "or flow (much faster, docs/concepts/fidelity.md; default: packet)",
      "MODEL");
  add("seed", "Seed of all random numbers (default: 1)", "N");
  parser
      .add_option(
          "--vary", o.vary,
          "Values of an option of the machine or the traffic, or of a TABLE.KEY; each value "
          "gives a curve. Several --vary give all combinations. Use ';' between values that "
          "contain commas")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false);
}

void add_comparison_options(CLI::App& parser, TrafficOptions& o) {
  begin_group(parser, "Comparison");
  parser
      .add_option("--compare", o.compare,
                  "Routing policies to compare for each combination of --vary, or 'list'. Use ';' "
                  "between names that contain commas")
      ->type_name("NAME,NAME,...");
  parser
      .add_option(
          "--basis", o.basis,
          "What the policies have in common. own: nothing, each has the VCs it needs; vcs: the "
          "number of VCs, that of the most demanding; buffers: the memory of buffers, that of the "
          "most demanding, with own VCs (default: all three)")
      ->type_name("own,vcs,buffers");
  parser
      .add_option(
          "--compare-models", o.compare_models,
          "Simulate with each of these models (flit, packet, flow), and print what they say "
          "at the same loads, how far each is from the first, and how long each took")
      ->type_name("MODEL,MODEL,...");
  parser.add_flag("--brief", o.brief, "Print the table of the comparison, not that of each curve");
}

void add_load_options(CLI::App& parser, TrafficOptions& o) {
  const auto option = [&](const char* name, auto& variable, const char* help, const char* type) {
    return parser.add_option(name, variable, help)->type_name(type);
  };
  begin_group(parser, "Experiment");
  option("--load", o.load,
         "Offered load: flit/node/cycle (0.1), share of the capacity (20%) or rate per node ('2 "
         "GB/s'); lists as FIRST:LAST:STEP or with commas",
         "LOADS");
  parser.add_flag("--saturation", o.saturation,
                  "Search for the highest load that the network carries, instead of --load");
  option("--factor", o.factor,
         "Greatest ratio of mean latency to latency at zero load at which a load counts as carried",
         "X")
      ->capture_default_str();
  option("--search-tolerance", o.search_tolerance_percent,
         "Tolerance of the load that --saturation finds", "PERCENT")
      ->capture_default_str();
  option("--warmup", o.warmup_cycles, "Length of the warm-up; needs --measure", "CYCLES");
  option("--measure", o.measure_cycles,
         "Length of the measurement (default: until results converge)", "CYCLES");
  option("--converge", o.converge_percent,
         "Greatest change of latency and throughput between two samples of a converged run",
         "PERCENT")
      ->capture_default_str();
  parser.add_flag("--all", o.all,
                  "Run every load; without it a curve ends at its second saturated point");
}

void add_run_options(CLI::App& parser, TrafficOptions& o) {
  begin_group(parser, "Simulation");
  auto* const threads =
      parser
          .add_option("--threads", o.threads,
                      "Worker threads of one simulation; results do not depend on their number")
          ->type_name("N")
          ->capture_default_str();
  keep_former_name(parser.add_option("--workers", o.threads), threads);
  parser
      .add_option("--jobs", o.jobs,
                  "Points that are simulated at the same time (default: as many as cores; 1 under "
                  "mpirun)")
      ->type_name("N");
  add_partition_option(parser, o.partition);
}

void add_output_options(CLI::App& parser, TrafficOptions& o) {
  begin_group(parser, "Output");
  const auto option = [&](const char* name, auto& variable, const char* help) {
    parser.add_option(name, variable, help)->type_name("FILE");
  };
  option("--json", o.json,
         "File for the results as JSON, with settings, busiest cables, saturation");
  option("--csv", o.csv, "File for the results as CSV: one row per point, full precision");
  option("--svg", o.svg,
         "File for a picture: latency over load (of a comparison, the first block)");
  option("--html", o.html, "File for a page with interactive charts");
  add_progress_file_option(parser, o.progress_file);
  add_quiet_flag(parser, o.quiet, "table");
}

}  // namespace

void add_traffic_options(CLI::App& parser, TrafficOptions& options) {
  add_machine_options(parser, options.machine);
  add_scenario_options(parser, options);
  add_comparison_options(parser, options);
  add_load_options(parser, options);
  add_run_options(parser, options);
  add_output_options(parser, options);
  parser.footer(
      "Examples:\n"
      "  weft traffic --net mesh:8x8 --packet 32 --load 0.02:0.30:0.02 --csv out.csv\n"
      "  weft traffic --net mesh:8x8 --vary routing=dor,xy-yx --vcs 2 --load 10%:90%:10% "
      "--html curves.html\n"
      "  weft traffic --net torus:8x8 --pattern tornado --saturation\n"
      "  weft traffic --compare crossline,dor,adaptive --vary net=mesh:32x32,torus:32x32 "
      "--packet 32 \\\n"
      "      --load 0.016:0.320:0.016 --html figure1.html   (loads must reach beyond saturation)\n"
      "  weft traffic --net preset:nsim-torus --set router.buffer='4 KiB' --load '1 GB/s'\n"
      "  weft traffic --net mesh:8x8 --warmup 6000 --measure 9000 --load 0.1   (as BookSim runs)\n"
      "  weft traffic --net torus:8x8 --load 0.1:0.7:0.1 --compare-models flit,packet,flow\n"
      "  mpirun -np 4 weft traffic --net torus:16x16x16 --load 10%   (one simulation on four "
      "processes)\n"
      "Definitions: weft help reference/traffic.\n"
      "Exit code: 0 done, 1 interrupted or deadlock, 2 usage, 3 bad input.");
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
  if (o.warmup_cycles > 0 && o.measure_cycles == 0) return Error::call("--warmup needs --measure");
  if (o.threads < 1 || o.threads > 63) return Error::call("--threads must be from 1 to 63");
  if (o.jobs < 0 || o.jobs > 1024)
    return Error::call("--jobs must be from 0 (one per core) to 1024");
  if (job.processes() > 1 && (o.threads > 1 || o.jobs > 1))
    return Error::call(
        "under mpirun all processes share one simulation, each with one thread: leave out "
        "--threads and --jobs");
  if (o.basis && !o.compare)
    return Error::call("--basis says how policies are made comparable; give --compare, too");
  if (o.brief && !o.compare && !o.compare_models)
    return Error::call("--brief prints the table of a comparison alone; give --compare, too");
  if (o.compare_models && o.compare)
    return Error::call("--compare-models: compares models of each curve; leave out --compare");
  if (o.compare_models && o.scenario.contains("model"))
    return Error::call("--compare-models: says which models; leave out --model");
  if (o.saturation && !o.load.empty())
    return Error::call("--saturation searches for the load itself; leave out --load");
  return {};
}

std::string requested_lists(const TrafficOptions& options) {
  const auto asks = [&](const char* name) {
    const auto found = options.scenario.find(name);
    return found != options.scenario.end() && found->second == "list";
  };
  std::string text;
  MachineOptions machine = options.machine;
  if (options.compare == "list") machine.words.routing = "list";
  text += requested_lists(machine);
  if (asks("pattern")) text += pattern_list();
  if (asks("injection")) text += injection_list();
  if (options.partition == "list") text += partition_list();
  return text;
}

}  // namespace weft::app
