// SPDX-License-Identifier: Apache-2.0
// weft traffic: measures latency and throughput of a simulated network under synthetic load.
#include <algorithm>
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
#include "result_settings.hpp"
#include "traffic_options.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/progress.hpp>
#include <weft/base/progress_file.hpp>
#include <weft/network/part/part.hpp>
#include <weft/output/plot/chart.hpp>
#include <weft/parallel/processes/agree.hpp>
#include <weft/study/traffic/compare.hpp>
#include <weft/study/traffic/report.hpp>
#include <weft/study/traffic/sweep.hpp>

namespace weft::app {
namespace {

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

// The simulations to run.
struct Work {
  std::vector<Scenario> scenarios;
  std::vector<Load> loads;
  SweepSettings settings;
  std::string load;  // As it was asked for, in the command or the file.
};

// Checked before the long run: a partition may not fit the network or not be in this build.
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

Result<std::vector<Scenario>> make_compared(const TrafficOptions& options,
                                            const ScenarioRequest& request,
                                            const std::vector<Variation>& variations) {
  auto comparison = parse_comparison(*options.compare, options.basis);
  if (!comparison) return std::move(comparison).error();
  return make_comparison(request, variations, *comparison);
}

ScenarioRequest request_of(const TrafficOptions& options) {
  ScenarioRequest request;
  for (const auto& [key, value] : options.scenario) request.options[key] = value;
  const MachineWords& words = options.machine.words;
  for (const auto& [key, value] :
       {std::pair{"net", &words.net}, {"profile", &words.profile}, {"routing", &words.routing}})
    if (!value->empty()) request.options[key] = *value;
  request.sets = words.sets;
  return request;
}

Result<std::vector<Scenario>> make_all(const TrafficOptions& options,
                                       const ScenarioRequest& request) {
  std::vector<Variation> variations;
  for (const std::string& text : options.vary) {
    auto variation = parse_variation(text);
    if (!variation) return std::move(variation).error();
    variations.push_back(*std::move(variation));
  }
  if (options.compare_models) {
    auto models = parse_models(*options.compare_models);
    if (!models) return std::move(models).error();
    // Last, so that the models of one network follow each other.
    variations.push_back({"model", {}});
    for (const Fidelity model : *models) variations.back().values.emplace_back(to_text(model));
  }
  return options.compare ? make_compared(options, request, variations)
                         : make_scenarios(request, variations);
}

Result<Work> make_work(const TrafficOptions& options, const Job& job) {
  if (Status s = check_traffic_options(options, job); !s) return std::move(s).error();
  const ScenarioRequest request = request_of(options);
  Work work;
  auto scenarios = make_all(options, request);
  if (!scenarios) return std::move(scenarios).error();
  work.scenarios = *std::move(scenarios);
  if (job.is_root())
    for (const Scenario& scenario : work.scenarios) warn_of(scenario.warnings);
  TrafficDefaults defaults;
  // If --vary changes the network, there is no single file to read defaults from.
  if (request.options.contains("net")) {
    auto read = read_defaults(request);
    if (!read) return std::move(read).error();
    defaults = *std::move(read);
  }
  const std::string& load = options.load.empty() ? defaults.load : options.load;
  if (load.empty() && !options.saturation)
    return Error::call("which load? Give --load (0.1, 0.02:0.30:0.02, 20%) or --saturation");
  work.load = options.saturation ? "saturation" : load;
  if (!options.saturation) {
    auto loads = parse_loads(load);
    if (!loads) return Error::call("--load: " + loads.error().message());
    work.loads = *std::move(loads);
  }
  SweepSettings& settings = work.settings;
  settings.phases.warmup_cycles =
      options.measure_cycles > 0 ? options.warmup_cycles : defaults.warmup_cycles;
  settings.phases.measure_cycles =
      options.measure_cycles > 0 ? options.measure_cycles : defaults.measure_cycles;
  settings.phases.tolerance = options.converge_percent / 100;
  settings.factor = options.factor;
  settings.search.tolerance = options.search_tolerance_percent / 100;
  settings.all = options.all;
  auto cut = choose_cut(options, work.scenarios);
  if (!cut) return std::move(cut).error();
  settings.cut = *cut;
  settings.peers = job.peers();
  settings.workers = options.threads;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  settings.jobs = options.jobs > 0 ? options.jobs : std::max(1, cores / options.threads);
  return work;
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

// Checks that all files can be written, and starts the progress file.
Result<std::optional<ProgressFile>> start_files(const TrafficOptions& options, const Job& job) {
  if (!job.is_root()) return std::optional<ProgressFile>();
  if (Status s = check_outputs(options); !s) return std::move(s).error();
  if (options.progress_file.empty()) return std::optional<ProgressFile>();
  auto file = ProgressFile::start(options.progress_file, &seconds_now);
  if (!file) return std::move(file).error().during("--progress-file");
  return std::optional<ProgressFile>(*std::move(file));
}

Sweep do_work(const Work& work, bool search, const Job& job, ProgressFile* file) {
  Progress meter = job.is_root() ? Progress::to_stderr(&seconds_now) : Progress(&seconds_now, {});
  SweepControl control{.stop = &interrupted(), .progress = {}, .clock_s = &seconds_now};
  if (meter.visible() || file != nullptr)
    control.progress = [&](const SweepNews& news) {
      meter.update(news.share, news.what);
      if (file == nullptr) return;
      file->note("points_done", static_cast<std::int64_t>(news.points_done));
      file->update(news.share, news.what);
    };
  Sweep sweep = search ? search_saturation(work.scenarios, work.settings, control)
                       : run_sweep(work.scenarios, work.loads, work.settings, control);
  if (file != nullptr) file->note("points_done", static_cast<std::int64_t>(point_count(sweep)));
  return sweep;
}

std::string tables(const TrafficOptions& o, const Sweep& sweep) {
  std::string text = o.brief ? "" : sweep_table(sweep, o.factor);
  if (!text.empty() && o.compare) text += "\n";
  if (!text.empty() && o.compare_models) text += "\n";
  const auto models = o.compare_models
                          ? std::count(o.compare_models->begin(), o.compare_models->end(), ',') + 1
                          : 0;
  return text + comparison_table(sweep, o.factor) +
         models_table(sweep, static_cast<std::size_t>(models));
}

// Names every network once, in the order of the curves.
std::string page_title(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const Curve& curve : sweep.curves)
    if (std::find(names.begin(), names.end(), curve.scenario->topology->name) == names.end())
      names.push_back(curve.scenario->topology->name);
  return fmt::format("weft traffic: {}", fmt::join(names, ", "));
}

Status write_outputs(const TrafficOptions& o, const Work& work, const Sweep& sweep) {
  const std::vector<Chart> charts = sweep_charts(sweep, o.factor);
  if (!o.csv.empty())
    if (Status s = write_file(o.csv, sweep_csv(sweep)); !s) return s;
  if (!o.json.empty())
    if (Status s = write_file(
            o.json, with_settings(sweep, traffic_settings(o, work.settings.phases, work.load)));
        !s)
      return s;
  if (!o.svg.empty())
    if (Status s = write_file(o.svg, to_svg(charts.front())); !s) return s;
  if (!o.html.empty())
    if (Status s = write_file(o.html, to_html(page_title(sweep), charts, tables(o, sweep))); !s)
      return s;
  return {};
}

Status show(const TrafficOptions& options, const Work& work, const Sweep& sweep) {
  if (point_count(sweep) == 0) return {};
  if (Status s = write_outputs(options, work, sweep); !s) return s;
  if (options.quiet) return {};
  return print(tables(options, sweep) + "digest " + sweep_digest(sweep) + "\n");
}

Status final_status(const Sweep& sweep) {
  if (sweep.failure) return *sweep.failure;
  if (!sweep.stopped) return {};
  return Error::run(point_count(sweep) > 0
                        ? "interrupted; the results above cover the completed points only"
                        : "interrupted before the first result");
}

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

// Called by all processes; all return the same status.
Status run_together(const TrafficOptions& options, const Job& job) {
  auto file = start_files(options, job);
  auto work = file ? make_work(options, job) : Result<Work>(file.error());
  if (Status s = agree(job.peers(), status_of(work)); !s) return s;
  ProgressFile* const progress = file && *file ? &**file : nullptr;
  const Sweep sweep = do_work(*work, options.saturation, job, progress);
  Status end = agree(job.peers(), job.is_root() ? show(options, *work, sweep) : Status());
  if (end) end = final_status(sweep);
  using State = ProgressFile::State;
  if (progress != nullptr) {
    const State state = sweep.stopped ? State::interrupted : end ? State::done : State::failed;
    if (Status written = progress->finish(state); !written && end) end = written;
  }
  return end;
}

// Prints the machine of every curve, but only once for curves that share it.
Status show_machines(const TrafficOptions& options) {
  const auto scenarios = make_all(options, request_of(options));
  if (!scenarios) return Error(scenarios.error());
  std::string text, last;
  for (const Scenario& scenario : *scenarios) {
    if (scenario.machine_text == last) continue;
    last = scenario.machine_text;
    if (scenarios->size() > 1)
      text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", scenario.label);
    text += last;
  }
  return print(text);
}

Status run_traffic(const TrafficOptions& options, Job& job) {
  if (const std::string lists = requested_lists(options); !lists.empty())
    return job.is_root() ? print(lists) : Status();
  if (options.machine.show) return job.is_root() ? show_machines(options) : Status();
  const Interrupts caught;
  if (Status s = job.join(); !s) return s;
  return job.guard([&] { return run_together(options, job); });
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<TrafficOptions>();
  auto job = std::make_shared<Job>();
  add_traffic_options(parser, *options);
  return [options, job] { return run_traffic(*options, *job); };
}

}  // namespace

Command traffic_command() {
  return {"traffic", "Measure latency and saturation throughput under synthetic load", &set_up};
}

}  // namespace weft::app
