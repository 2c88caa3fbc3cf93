// SPDX-License-Identifier: Apache-2.0
// weft map: finds the best node for every rank.
#include <chrono>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "command.hpp"
#include "interrupts.hpp"
#include "job.hpp"
#include "map_compare.hpp"
#include "map_convert.hpp"
#include "map_options.hpp"
#include "map_setting.hpp"
#include "output.hpp"
#include "result_settings.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/progress.hpp>
#include <weft/base/progress_file.hpp>
#include <weft/network/topo/facts.hpp>
#include <weft/parallel/processes/agree.hpp>
#include <weft/study/map/bounds.hpp>
#include <weft/study/map/formats.hpp>
#include <weft/study/map/page.hpp>
#include <weft/study/map/picture.hpp>

namespace weft::app {
namespace {

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Shows the progress on the terminal and in a file.
class ProgressDisplay {
 public:
  static Result<ProgressDisplay> start(const MapOptions& options, const Job& job) {
    std::optional<ProgressFile> file;
    if (job.is_root() && !options.progress_file.empty()) {
      auto begun = ProgressFile::start(options.progress_file, &seconds_now);
      if (!begun) return std::move(begun).error().during("--progress-file");
      file.emplace(*std::move(begun));
    }
    return ProgressDisplay(job.is_root(), std::move(file));
  }

  void show(const map::Standing& s) {
    std::string text = s.doing;
    if (s.best > 0) {
      text += fmt::format(": {:.4g}", s.best);
      if (s.first > 0 && s.first != s.best)
        text += fmt::format(", x{:.3g} better", s.first / s.best);
    }
    if (s.acceptance > 0) text += fmt::format(", {:.1f}% of moves accepted", 100 * s.acceptance);
    meter_.update(s.share, text);
    if (file_) file_->update(s.share, text);
  }
  Status finish(bool fine, bool stopped) {
    meter_.finish();
    using State = ProgressFile::State;
    if (!file_) return {};
    return file_->finish(stopped ? State::interrupted : fine ? State::done : State::failed);
  }

 private:
  ProgressDisplay(bool visible, std::optional<ProgressFile> file)
      : meter_(visible ? Progress::to_stderr(&seconds_now) : Progress(&seconds_now, {})),
        file_(std::move(file)) {}
  Progress meter_;
  std::optional<ProgressFile> file_;
};

std::unique_ptr<map::Paths> paths_of(const map::Problem& problem) {
  return *map::make_paths(problem.topology(), problem.routing());
}

Result<map::Budget> choose_budget(const MapOptions& o, const map::Problem& problem) {
  auto budget = map::preset_budget(o.preset, problem);
  if (!budget) return std::move(budget).error().during("--preset");
  if (o.evaluations || o.tries) {
    budget->evaluations = static_cast<std::uint64_t>(o.evaluations.value_or(0));
    budget->tries = static_cast<std::uint64_t>(o.tries.value_or(0));
    budget->flexible = false;
  }
  if (o.chains) budget->chains = static_cast<std::uint32_t>(*o.chains);
  budget->trial_effort = static_cast<std::uint32_t>(o.trial_effort);
  return budget;
}

// Simulates the traffic as one communication step.
struct SimulatedStep {
  double seconds = 0;
  bool stopped = false;
};
Result<SimulatedStep> simulate_step(const MapOptions& o, const ParsedMapOptions& parsed,
                                    const MapSetting& setting, const map::RankMap& map,
                                    const StepOptions& how) {
  StepOptions options = how;
  options.model = {*parse_fidelity(o.model), setting.machine.flow, setting.machine.flit};
  options.threads = has_workers(options.model.fidelity) ? parsed.threads : 1;
  options.shrink =
      static_cast<std::uint64_t>(o.shrink) * static_cast<std::uint64_t>(setting.planes);
  options.seed = o.seed;
  auto step = play_step(setting.arena(), setting.problem->traffic(), setting.problem->to_nodes(map),
                        options);
  if (!step) return std::move(step).error();
  return SimulatedStep{
      static_cast<double>(step->time.in_ps()) * 1e-12 * static_cast<double>(o.shrink),
      step->state == StepState::stopped};
}

Status add_starts(const MapOptions& o, const map::Problem& problem,
                  std::vector<map::Candidate>& given) {
  for (const auto& [name, path] : {std::pair{"start", o.start}, std::pair{"resume", o.resume}}) {
    if (path.empty()) continue;
    if (name == std::string("resume") && !std::filesystem::exists(path)) continue;
    auto map = read_rank_map(path, problem);
    if (!map) return std::move(map).error();
    given.push_back({fmt::format("given ({})", path), *std::move(map), 0});
  }
  return {};
}

// `checkpoint` receives the status of the last checkpoint.
Result<map::SearchOptions> make_search(const MapOptions& o, const ParsedMapOptions& parsed,
                                       const MapSetting& setting, const Job& job,
                                       Status& checkpoint) {
  map::SearchOptions s;
  s.objective = parsed.objective;
  s.seed = o.seed;
  s.threads = parsed.threads;
  s.seconds = parsed.seconds;
  auto budget = choose_budget(o, *setting.problem);
  if (!budget) return std::move(budget).error();
  s.budget = *budget;
  if (setting.present) s.given.push_back({setting.before_name(), *setting.present, 0});
  if (Status read = add_starts(o, *setting.problem, s.given); !read) return std::move(read).error();
  const auto paths = paths_of(*setting.problem);
  s.goal = find_bounds(*setting.problem, parsed.objective, *paths).value;
  s.clock = &seconds_now;
  s.stop = &interrupted();
  s.peers = job.peers();
  if (parsed.objective.by_time) {
    s.goal = 0;  // There is no bound on simulated time.
    s.play = [&](const map::RankMap& map, double limit,
                 const std::atomic<bool>& stop) -> Result<double> {
      StepOptions how;
      how.stop = &stop;
      const double shrunk = limit / static_cast<double>(o.shrink);
      if (shrunk < 1e6) how.limit = Duration::ps(static_cast<std::int64_t>(shrunk * 1e12) + 1);
      auto step = simulate_step(o, parsed, setting, map, how);
      if (!step) return std::move(step).error();
      return step->seconds;
    };
  }
  if (!o.checkpoint.empty() && job.is_root()) {
    // A failed checkpoint does not end the search: the disk may have room again later.
    s.checkpoint = [&o, &setting, &checkpoint](const map::Candidate& best) {
      const auto text = write_map(*setting.problem, setting.problem->to_nodes(best.map), {});
      if (text) checkpoint = write_file(o.checkpoint, *text);
    };
  }
  return s;
}

map::MapReport make_report(const MapOptions& o, const ParsedMapOptions& parsed,
                           const MapSetting& setting) {
  const map::Problem& problem = *setting.problem;
  map::MapReport report;
  report.network = problem.topology().name;
  report.pattern = setting.pattern;
  report.routing = fmt::format("{} ({})", problem.routing(),
                               map::describe_paths(problem.topology(), problem.routing()));
  report.objective = to_text(parsed.objective);
  report.ranks = problem.ranks();
  report.warnings = setting.machine.warnings;
  const auto paths = paths_of(problem);
  const map::Bounds bounds = find_bounds(problem, parsed.objective, *paths);
  report.bounds.hops = static_cast<double>(bounds.hops);
  report.bounds.hop_bytes = bounds.hop_bytes;
  if (bounds.link_max > 0) report.bounds.link_max = bounds.link_max;
  if (problem.slowness().empty() && problem.topology().graph.cable_count() > 0)
    report.bounds.link_mean = bounds.hop_bytes / (2.0 * problem.topology().graph.cable_count());
  if (bounds.value > 0) report.bounds.value = bounds.value;
  report.facts = setting.facts;
  report.facts.emplace_back("profile", setting.machine.profile);
  if (const auto down = find_cables_down(problem.topology()); !down.empty())
    report.facts.emplace_back("cables down", list_cables(down));
  report.facts.emplace_back("seed", std::to_string(o.seed));
  if (!o.run.empty() && o.simulate && o.shrink > 1)
    report.facts.emplace_back("simulated", fmt::format("messages shrunk by {}", o.shrink));
  if (!problem.slowness().empty())
    report.facts.emplace_back("links", "of different rates: loads are scaled to the fastest rate");
  return report;
}

Result<map::ReportSide> make_side(const std::string& name, const map::RankMap& map,
                                  const MapOptions& o, const ParsedMapOptions& parsed,
                                  const MapSetting& setting) {
  const auto paths = paths_of(*setting.problem);
  map::ReportSide side;
  side.name = name;
  side.judgement = judge(*setting.problem, map, parsed.objective, *paths);
  side.nodes = setting.problem->to_nodes(map);
  if (o.simulate && !interrupted().load()) {  // After Ctrl-C the map is printed without its time.
    StepOptions how;
    how.stop = &interrupted();
    auto step = simulate_step(o, parsed, setting, map, how);
    if (!step) return std::move(step).error();
    if (!step->stopped) side.seconds = step->seconds;
  }
  return side;
}

// Both sides have their times, or the report says why not.
void add_sides(map::ReportSide before, map::ReportSide after, const MapOptions& o,
               map::MapReport& report) {
  report.before = std::move(before);
  report.after = std::move(after);
  if (o.simulate && !(report.before.seconds && report.after.seconds))
    report.facts.emplace_back("simulated time",
                              "missing: weft was stopped before both maps were simulated; weft map "
                              "--evaluate MAP --simulate finds it");
}

// If the requested format cannot express the map, it is written in weft's own format.
Status write_found(const MapOptions& o, const MapSetting& setting, const map::MapReport& report) {
  if (o.output.empty()) return {};
  auto text = write_map(*setting.problem, report.after.nodes, {o.format, setting.hosts});
  if (text) return write_file(o.output, *text);
  const auto own = write_map(*setting.problem, report.after.nodes, {});
  if (!own) return Error(own.error());
  if (Status s = write_file(o.output, *own); !s) return s;
  return Error::run(fmt::format("{}; {} holds the map in the format 'weft' instead",
                                text.error().message(), o.output));
}

// Writes all outputs, the table first, even if one fails; returns the first error.
Status write_results(const MapOptions& o, const MapSetting& setting, const map::MapReport& report) {
  Status first = o.quiet ? Status() : print(table(report));
  const auto add = [&](const std::string& path, const auto& make) {
    if (path.empty()) return;
    if (Status s = write_file(path, make()); !s && first) first = std::move(s);
  };
  if (Status s = write_found(o, setting, report); !s && first) first = std::move(s);
  add(o.json, [&] { return with_settings(to_json(report), map_settings(o, setting)); });
  add(o.csv, [&] { return to_csv(report.candidates); });
  add(o.svg, [&] {
    const map::Picture picture{
        "placement",
        {{report.before.name, report.before.nodes}, {report.after.name, report.after.nodes}}};
    return draw_placement(*setting.problem, picture);
  });
  add(o.html, [&] { return to_html(report, *setting.problem); });
  return first;
}

// Checked before the search: a format that fits no map of this problem.
Status check_format(const MapOptions& o, const MapSetting& setting) {
  if (o.output.empty()) return {};
  const map::Problem& problem = *setting.problem;
  const auto text =
      write_map(problem, problem.to_nodes(problem.in_order()), {o.format, setting.hosts});
  return text ? Status() : Status(text.error());
}

Status check_cut_off(const map::Judgement& judgement) {
  if (judgement.cut_off == 0) return {};
  return Error::run(
      fmt::format("{} pairs of ranks have no path under this routing (broken cables?); try "
                  "--routing shortest",
                  judgement.cut_off));
}

Status evaluate(const MapOptions& o, const ParsedMapOptions& parsed, const MapSetting& setting) {
  auto map = named_rank_map(o.evaluate, *setting.problem);
  if (!map) return std::move(map).error();
  map::MapReport report = make_report(o, parsed, setting);
  auto before = make_side(setting.before_name(), setting.before(), o, parsed, setting);
  if (!before) return std::move(before).error();
  auto after = make_side(o.evaluate, *map, o, parsed, setting);
  if (!after) return std::move(after).error();
  add_sides(*std::move(before), *std::move(after), o, report);
  report.candidates = {{setting.before_name(), report.before.judgement.value},
                       {o.evaluate, report.after.judgement.value}};
  if (Status s = write_results(o, setting, report); !s) return s;
  return check_cut_off(report.after.judgement);
}

std::string repeat_text(const map::Found& found) {
  if (found.stopped) return "nothing: the search was stopped";
  if (found.late) return "nothing exactly: the time ended before the planned work was done";
  std::string text = fmt::format("--evaluations {} --tries {} --chains {}", found.used.evaluations,
                                 found.used.tries, found.used.chains);
  if (found.used.trial_effort != 100)
    text += fmt::format(" --trial-effort {}", found.used.trial_effort);
  return text;
}

// How the program of a record runs with the map that is written; empty: not known, or the file is
// for another launcher.
std::string next_command(const MapOptions& o, const MapRecord& record) {
  const map::MapFormat* const format = map::find_map_format(o.format);
  const bool readable = format->read_by_weft && format->names_hosts == (record.kind == "run");
  return o.output.empty() || !readable ? "" : command_with_map(record, o.output);
}

Status report_found(const MapOptions& o, const ParsedMapOptions& parsed, const MapSetting& setting,
                    const map::Found& found, const Status* checkpoint) {
  map::MapReport report = make_report(o, parsed, setting);
  auto before = make_side(setting.before_name(), setting.before(), o, parsed, setting);
  if (!before) return std::move(before).error();
  auto after = make_side(found.best.name, found.best.map, o, parsed, setting);
  if (!after) return std::move(after).error();
  add_sides(*std::move(before), *std::move(after), o, report);
  // Several chains may have the same name; only the best of them is listed.
  std::set<std::string> seen;
  for (const map::Candidate& c : found.candidates)
    if (seen.insert(c.name).second) report.candidates.push_back({c.name, c.value});
  report.facts.emplace_back("work",
                            fmt::format("{} whole maps, {} swaps", found.evaluations, found.tries));
  if (found.perfect) report.facts.emplace_back("result", "proved optimal");
  report.facts.emplace_back("repeat with", repeat_text(found));
  if (!setting.run_again.empty()) report.facts.emplace_back("run again with", setting.run_again);
  if (checkpoint && !*checkpoint)
    report.facts.emplace_back("checkpoint", "not written: " + checkpoint->error().text());
  for (const map::Candidate& c : found.candidates)
    if (c.seconds > 0)
      report.facts.emplace_back("simulated: " + c.name, fmt::format("{:.6g} s", c.seconds));
  if (Status s = write_results(o, setting, report); !s) return s;
  return check_cut_off(report.after.judgement);
}

Status find_map(const MapOptions& o, const ParsedMapOptions& parsed, const MapSetting& setting,
                const Job& job) {
  auto display = ProgressDisplay::start(o, job);
  Status checkpoint;
  auto search_options = display ? make_search(o, parsed, setting, job, checkpoint)
                                : Result<map::SearchOptions>(display.error());
  if (Status s = check_format(o, setting); !s && search_options) search_options = s.error();
  if (Status s = agree(job.peers(), search_options ? Status() : Status(search_options.error())); !s)
    return s;
  search_options->report = [&](const map::Standing& standing) { display->show(standing); };
  if (o.compare) {
    const Status compared = compare_maps({o, setting, *search_options}, job.is_root());
    const Status ended = display->finish(static_cast<bool>(compared), interrupted().load());
    return compared ? ended : compared;
  }
  auto found = search(*setting.problem, *search_options);
  if (!found) return std::move(found).error();
  Status end =
      agree(job.peers(),
            job.is_root() ? report_found(o, parsed, setting, *found, &checkpoint) : Status());
  const Status ended = display->finish(static_cast<bool>(end), found->stopped);
  return end ? ended : end;
}

// A step that is simulated in some ten seconds, whatever the length of the recorded run.
std::int64_t suitable_shrink(const ParsedMapOptions& parsed, const MapSetting& setting) {
  constexpr double packet_hops_max = 2e7;
  const auto paths = paths_of(*setting.problem);
  const map::Judgement judged = judge(*setting.problem, setting.before(), parsed.objective, *paths);
  const auto mtu = static_cast<double>(setting.machine.hardware.mtu.count);
  return 1 + static_cast<std::int64_t>(judged.hop_bytes / mtu / packet_hops_max);
}

Status run_map(const MapOptions& given, Job& job) {
  if (const std::string lists = requested_lists(given); !lists.empty())
    return job.is_root() ? print(lists) : Status();
  if (!given.convert.empty()) {
    if (Status s = check_conversion(given); !s) return s;
    return job.is_root() ? convert_map(given) : Status();
  }
  MapOptions options = given;
  std::optional<MapRecord> record;
  if (!options.run.empty()) {
    auto read = read_map_record(options.run);
    if (!read) return std::move(read).error();
    record = *std::move(read);
    if (Status s = complete_from(*record, options); !s) return s;
  }
  auto requested = requested_text(options.machine);
  if (!requested) return std::move(requested).error();
  if (*requested) return job.is_root() ? print(**requested) : Status();
  const Interrupts caught;
  const auto parsed = parse_map_options(options, job);
  if (!parsed) return Error(parsed.error());
  if (Status s = job.join(); !s) return s;
  return job.guard([&]() -> Status {
    auto setting = read_map_setting(options, record ? &*record : nullptr);
    if (setting && job.is_root()) warn_of(setting->machine.warnings);
    if (Status s = agree(job.peers(), setting ? Status() : Status(setting.error())); !s) return s;
    if (record && !options.shrink_given) options.shrink = suitable_shrink(*parsed, *setting);
    if (record) setting->run_again = next_command(options, *record);
    if (!options.evaluate.empty())
      return agree(job.peers(), job.is_root() ? evaluate(options, *parsed, *setting) : Status());
    return find_map(options, *parsed, *setting, job);
  });
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<MapOptions>();
  auto job = std::make_shared<Job>();
  add_map_options(parser, *options);
  return [options, job] { return run_map(*options, *job); };
}

}  // namespace

Command map_command() {
  return {"map", "Find the best node for every rank", &set_up};
}

}  // namespace weft::app
