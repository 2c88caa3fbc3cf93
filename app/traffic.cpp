// SPDX-License-Identifier: Apache-2.0
// weft traffic: latency and throughput of a network under synthetic load.
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"
#include "interrupts.hpp"
#include "job.hpp"
#include "output.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/progress.hpp>
#include <weft/base/progress_file.hpp>
#include <weft/base/text.hpp>
#include <weft/comm/injection.hpp>
#include <weft/part/part.hpp>
#include <weft/peers/agree.hpp>
#include <weft/plot/chart.hpp>
#include <weft/traffic/report.hpp>
#include <weft/traffic/sweep.hpp>

namespace weft::app {
namespace {

struct TrafficOptions {
  std::map<std::string, std::string> scenario;  // By the names of scenario_options.
  std::vector<std::string> sets, vary;
  std::string load;
  bool saturation = false, all = false, quiet = false;
  double factor = 3, search_tolerance_percent = 2, converge_percent = 1;
  std::int64_t warmup_cycles = 0, measure_cycles = 0;
  int workers = 1, jobs = 0;
  std::string partition = "automatic";
  std::string csv, json, svg, html, progress_file;
};

std::string routing_list() {
  std::string text = "Routing policies:\n";
  for (const PolicyEntry& entry : builtin_policies())
    text += fmt::format("  {:<26} {}\n", entry.name, entry.help);
  return text;
}

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

// The lists that were asked for; empty when none was.
std::string asked_lists(const TrafficOptions& options) {
  const auto asks = [&](const char* name) {
    const auto found = options.scenario.find(name);
    return found != options.scenario.end() && found->second == "list";
  };
  std::string text;
  if (asks("routing")) text += routing_list();
  if (asks("pattern")) text += pattern_list();
  if (asks("injection")) text += injection_list();
  if (options.partition == "list") text += partition_list();
  return text;
}

Status check_outputs(const TrafficOptions& o) {
  std::set<std::string> seen;
  for (const auto& [option, path] : {std::pair{"--csv", &o.csv},
                                     {"--json", &o.json},
                                     {"--svg", &o.svg},
                                     {"--html", &o.html},
                                     {"--progress-file", &o.progress_file}})
    if (Status s = check_output(option, *path, seen); !s) return s;
  return {};
}

Status check_options(const TrafficOptions& o, const Job& job) {
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
  if (o.saturation && !o.load.empty())
    return Error::call("--saturation searches for the load itself; leave out --load");
  return {};
}

struct Plan {
  std::vector<Scenario> scenarios;
  std::vector<Load> loads;
  SweepSettings settings;
};

// Before the long run: a partition may be for other networks, or not in this build.
Result<Cut> choose_cut(const TrafficOptions& options, const std::vector<Scenario>& scenarios) {
  auto cut = parse_cut(options.partition);
  if (!cut) return Error::call("--partition: " + cut.error().message());
  if (*cut == Cut::automatic) return cut;
  for (const Scenario& scenario : scenarios) {
    auto parts = partition(*scenario.topology, {.parts = 1, .cut = *cut, .weight = {}});
    if (!parts) return Error::call("--partition: " + parts.error().message());
  }
  return cut;
}

Result<Plan> make_plan(const TrafficOptions& options, const Job& job) {
  if (Status s = check_options(options, job); !s) return std::move(s).error();
  ScenarioRequest request;
  for (const auto& [key, value] : options.scenario) request.options[key] = value;
  request.sets = options.sets;
  std::vector<Variation> variations;
  for (const std::string& text : options.vary) {
    auto variation = parse_variation(text);
    if (!variation) return std::move(variation).error();
    variations.push_back(*std::move(variation));
  }
  Plan plan;
  auto scenarios = make_scenarios(request, variations);
  if (!scenarios) return std::move(scenarios).error();
  plan.scenarios = *std::move(scenarios);
  TrafficDefaults defaults;
  // With the network itself varied there is no one file to ask.
  if (request.options.contains("net")) {
    auto read = read_defaults(request);
    if (!read) return std::move(read).error();
    defaults = *std::move(read);
  }
  const std::string& load = options.load.empty() ? defaults.load : options.load;
  if (load.empty() && !options.saturation)
    return Error::call("which load? Give --load (0.1, 0.02:0.30:0.02, 20%) or --saturation");
  if (!options.saturation) {
    auto loads = parse_loads(load);
    if (!loads) return Error::call("--load: " + loads.error().message());
    plan.loads = *std::move(loads);
  }
  SweepSettings& settings = plan.settings;
  settings.phases.warmup_cycles =
      options.measure_cycles > 0 ? options.warmup_cycles : defaults.warmup_cycles;
  settings.phases.measure_cycles =
      options.measure_cycles > 0 ? options.measure_cycles : defaults.measure_cycles;
  settings.phases.tolerance = options.converge_percent / 100;
  settings.factor = options.factor;
  settings.search.tolerance = options.search_tolerance_percent / 100;
  settings.all = options.all;
  auto cut = choose_cut(options, plan.scenarios);
  if (!cut) return std::move(cut).error();
  settings.cut = *cut;
  settings.peers = job.peers();
  settings.workers = options.workers;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  settings.jobs = options.jobs > 0 ? options.jobs : std::max(1, cores / options.workers);
  return plan;
}

std::size_t point_count(const Sweep& sweep) {
  std::size_t points = 0;
  for (const Curve& curve : sweep.curves) points += curve.points.size();
  return points;
}

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Of all files: whether they can be written. The one about progress is begun.
Result<std::optional<ProgressFile>> start_files(const TrafficOptions& options, const Job& job) {
  if (!job.speaks()) return std::optional<ProgressFile>();
  if (Status s = check_outputs(options); !s) return std::move(s).error();
  if (options.progress_file.empty()) return std::optional<ProgressFile>();
  auto file = ProgressFile::start(options.progress_file, &seconds_now);
  if (!file) return std::move(file).error().during("--progress-file");
  return std::optional<ProgressFile>(*std::move(file));
}

Sweep run_plan(const Plan& plan, bool search, const Job& job, ProgressFile* file) {
  Progress meter = job.speaks() ? Progress::to_stderr(&seconds_now) : Progress(&seconds_now, {});
  SweepControl control{.stop = &interrupted(), .progress = {}};
  if (meter.visible() || file != nullptr)
    control.progress = [&](const SweepNews& news) {
      meter.update(news.share, news.what);
      if (file == nullptr) return;
      file->note("points_done", static_cast<std::int64_t>(news.points_done));
      file->update(news.share, news.what);
    };
  Sweep sweep = search ? search_saturation(plan.scenarios, plan.settings, control)
                       : run_sweep(plan.scenarios, plan.loads, plan.settings, control);
  if (file != nullptr) file->note("points_done", static_cast<std::int64_t>(point_count(sweep)));
  return sweep;
}

Status write_outputs(const TrafficOptions& o, const Sweep& sweep) {
  const std::vector<Chart> charts = sweep_charts(sweep, o.factor);
  if (!o.csv.empty())
    if (Status s = write_file(o.csv, sweep_csv(sweep)); !s) return s;
  if (!o.json.empty())
    if (Status s = write_file(o.json, sweep_json(sweep)); !s) return s;
  if (!o.svg.empty())
    if (Status s = write_file(o.svg, to_svg(charts.front())); !s) return s;
  if (!o.html.empty())
    if (Status s =
            write_file(o.html, to_html("weft traffic", charts, sweep_table(sweep, o.factor)));
        !s)
      return s;
  return {};
}

Status show(const TrafficOptions& options, const Sweep& sweep) {
  if (point_count(sweep) == 0) return {};
  if (Status s = write_outputs(options, sweep); !s) return s;
  if (options.quiet) return {};
  return print(sweep_table(sweep, options.factor) + "digest " + sweep_digest(sweep) + "\n");
}

Status verdict(const Sweep& sweep) {
  if (sweep.failure) return *sweep.failure;
  if (!sweep.stopped) return {};
  return Error::run(point_count(sweep) > 0
                        ? "interrupted; the results above are what was done until then"
                        : "interrupted before the first result");
}

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

// All processes come here, and all return the same.
Status run_together(const TrafficOptions& options, const Job& job) {
  auto file = start_files(options, job);
  auto plan = file ? make_plan(options, job) : Result<Plan>(file.error());
  if (Status s = agree(job.peers(), status_of(plan)); !s) return s;
  ProgressFile* const progress = file && *file ? &**file : nullptr;
  const Sweep sweep = run_plan(*plan, options.saturation, job, progress);
  Status end = agree(job.peers(), job.speaks() ? show(options, sweep) : Status());
  if (end) end = verdict(sweep);
  using State = ProgressFile::State;
  if (progress != nullptr) {
    const State state = sweep.stopped ? State::interrupted : end ? State::done : State::failed;
    if (Status written = progress->finish(state); !written && end) end = written;
  }
  return end;
}

Status run_traffic(const TrafficOptions& options, Job& job) {
  if (const std::string lists = asked_lists(options); !lists.empty())
    return job.speaks() ? print(lists) : Status();
  const Interrupts caught;
  if (Status s = job.join(); !s) return s;
  return job.guard([&] { return run_together(options, job); });
}

void add_scenario_options(CLI::App& parser, TrafficOptions& o) {
  const auto add = [&](const char* name, const char* help, const char* type) {
    parser
        .add_option_function<std::string>(
            std::string("--") + name,
            [&o, name](const std::string& value) { o.scenario[name] = value; }, help)
        ->type_name(type)
        ->group("Network and traffic");
  };
  add("net", "a spec (mesh:8x8, torus:8x8x8) or a network file; see 'weft net --list'",
      "SPEC|FILE.toml");
  add("routing", "routing policy, or 'list' (default: by kind of network)", "NAME");
  add("vcs", "virtual channels per cable (default: as many as the routing needs)", "N");
  add("buffer", "input buffer per VC, in flits or with a unit (default: one packet)", "FLITS|SIZE");
  add("packet", "flits per packet, or a mix such as 1:0.5,32:0.5 (default: the MTU)", "FLITS");
  add("pattern", "who sends to whom, or 'list' (default: uniform)", "NAME");
  add("injection", "when packets are born, or 'list' (default: bernoulli)", "NAME");
  add("arbitration", "through-first, round-robin or age", "NAME");
  add("release", "buffer space is freed by the packet's tail or head", "tail|head");
  add("seed", "of all random numbers (default: 1)", "N");
  parser.add_option("--set", o.sets, "override a key of the network file, e.g. link.delay='5 ns'")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Network and traffic");
  parser
      .add_option("--vary", o.vary,
                  "a curve for each value of an option above or a TABLE.KEY; several: all "
                  "combinations. Values with commas are separated by ';'")
      ->type_name("KEY=V1,V2,...")
      ->allow_extra_args(false)
      ->group("Network and traffic");
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
  option("--svg", o.svg, "latency over load");
  option("--html", o.html, "a page with charts that answer the pointer");
  option("--progress-file", o.progress_file,
         "one line of JSON, rewritten every second: how far, how long still, how it ended");
  parser.add_flag("--quiet", o.quiet, "no table on standard output")->group("Output");
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<TrafficOptions>();
  auto job = std::make_shared<Job>();
  add_scenario_options(parser, *options);
  add_run_options(parser, *options);
  add_output_options(parser, *options);
  parser.footer(
      "Examples:\n"
      "  weft traffic --net mesh:8x8 --packet 32 --load 0.02:0.30:0.02 --csv out.csv\n"
      "  weft traffic --net mesh:8x8 --vary routing=dor,xy-yx --vcs 2 --load 10%:90%:10% --html "
      "curves.html\n"
      "  weft traffic --net torus:8x8 --pattern tornado --saturation\n"
      "  weft traffic --net presets/nsim-torus.toml --set router.buffer='4 KiB' --load '1 GB/s'\n"
      "  weft traffic --net mesh:8x8 --warmup 6000 --measure 9000 --load 0.1   (as BookSim runs)\n"
      "  mpirun -np 4 weft traffic --net torus:16x16x16 --load 10%   (one simulation on four "
      "processes)\n"
      "Definitions: docs/reference/traffic.md. Exit code: 0, 1 interrupted or deadlock, 2 usage, 3 "
      "bad input.");
  return [options, job] { return run_traffic(*options, *job); };
}

}  // namespace

Command traffic_command() {
  return {"traffic", "Latency and saturation throughput under synthetic load", &set_up};
}

}  // namespace weft::app
