// SPDX-License-Identifier: Apache-2.0
// weft map: the best node for every rank.
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
#include "map_options.hpp"
#include "map_setting.hpp"
#include "output.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/progress.hpp>
#include <weft/base/progress_file.hpp>
#include <weft/map/bounds.hpp>
#include <weft/map/formats.hpp>
#include <weft/map/page.hpp>
#include <weft/map/picture.hpp>
#include <weft/peers/agree.hpp>

namespace weft::app {
namespace {

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// How far it has come, on the terminal and in a file.
class Watch {
 public:
  static Result<Watch> start(const MapOptions& options, const Job& job) {
    std::optional<ProgressFile> file;
    if (job.speaks() && !options.progress_file.empty()) {
      auto begun = ProgressFile::start(options.progress_file, &seconds_now);
      if (!begun) return std::move(begun).error().during("--progress-file");
      file.emplace(*std::move(begun));
    }
    return Watch(job.speaks(), std::move(file));
  }

  void show(const map::Standing& s) {
    std::string text = s.doing;
    if (s.best > 0) {
      text += fmt::format(": {:.4g}", s.best);
      if (s.first > 0 && s.first != s.best)
        text += fmt::format(", x{:.3g} better", s.first / s.best);
    }
    if (s.acceptance > 0) text += fmt::format(", {:.1f}% of moves taken", 100 * s.acceptance);
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
  Watch(bool speaks, std::optional<ProgressFile> file)
      : meter_(speaks ? Progress::to_stderr(&seconds_now) : Progress(&seconds_now, {})),
        file_(std::move(file)) {}
  Progress meter_;
  std::optional<ProgressFile> file_;
};

std::unique_ptr<map::Ways> ways_of(const map::Problem& problem) {
  return *map::make_ways(problem.topology(), problem.routing());
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
  return budget;
}

// The pattern as one step; seconds.
Result<double> play(const MapOptions& o, const MapWishes& wishes, const MapSetting& setting,
                    const map::RankMap& map) {
  StepOptions options;
  options.threads = wishes.threads;
  options.order = wishes.order;
  options.shrink = static_cast<std::uint64_t>(o.shrink);
  options.seed = o.seed;
  options.stop = &interrupted();
  auto step = play_step(setting.arena(), setting.problem->traffic(), setting.problem->to_nodes(map),
                        options);
  if (!step) return std::move(step).error();
  if (step->state == StepState::stopped) return Error::run("interrupted during the simulation");
  return static_cast<double>(step->time.in_ps()) * 1e-12 * static_cast<double>(o.shrink);
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

Result<map::SearchOptions> make_search(const MapOptions& o, const MapWishes& wishes,
                                       const MapSetting& setting, const Job& job) {
  map::SearchOptions s;
  s.objective = wishes.objective;
  s.seed = o.seed;
  s.threads = wishes.threads;
  s.seconds = wishes.seconds;
  auto budget = choose_budget(o, *setting.problem);
  if (!budget) return std::move(budget).error();
  s.budget = *budget;
  if (Status read = add_starts(o, *setting.problem, s.given); !read) return std::move(read).error();
  const auto ways = ways_of(*setting.problem);
  s.goal = find_bounds(*setting.problem, wishes.objective, *ways).value;
  s.clock = &seconds_now;
  s.stop = &interrupted();
  s.peers = job.peers();
  if (wishes.objective.by_time)
    s.play = [&](const map::RankMap& map) { return play(o, wishes, setting, map); };
  if (!o.checkpoint.empty() && job.speaks()) {
    // A disk that is full for a while does not end the search.
    s.checkpoint = [&](const map::Candidate& best) {
      const auto text = write_map(*setting.problem, setting.problem->to_nodes(best.map), {});
      if (text) static_cast<void>(write_file(o.checkpoint, *text));
    };
  }
  return s;
}

map::MapReport make_report(const MapOptions& o, const MapWishes& wishes,
                           const MapSetting& setting) {
  const map::Problem& problem = *setting.problem;
  map::MapReport report;
  report.network = problem.topology().name;
  report.pattern = setting.pattern;
  report.routing = fmt::format("{} ({})", problem.routing(),
                               map::describe_ways(problem.topology(), problem.routing()));
  report.objective = to_text(wishes.objective);
  report.ranks = problem.ranks();
  const auto ways = ways_of(problem);
  const map::Bounds bounds = find_bounds(problem, wishes.objective, *ways);
  report.bounds.hops = static_cast<double>(bounds.hops);
  report.bounds.hop_bytes = bounds.hop_bytes;
  if (bounds.link_max > 0) report.bounds.link_max = bounds.link_max;
  if (bounds.value > 0) report.bounds.value = bounds.value;
  report.facts.emplace_back("seed", std::to_string(o.seed));
  if (!problem.slowness().empty())
    report.facts.emplace_back("links", "of different rates: loads are times on the fastest");
  return report;
}

Result<map::ReportSide> make_side(const std::string& name, const map::RankMap& map,
                                  const MapOptions& o, const MapWishes& wishes,
                                  const MapSetting& setting) {
  const auto ways = ways_of(*setting.problem);
  map::ReportSide side;
  side.name = name;
  side.judgement = judge(*setting.problem, map, wishes.objective, *ways);
  side.nodes = setting.problem->to_nodes(map);
  if (o.simulate) {
    auto seconds = play(o, wishes, setting, map);
    if (!seconds) return std::move(seconds).error();
    side.seconds = *seconds;
  }
  return side;
}

Status write_results(const MapOptions& o, const MapSetting& setting, const map::MapReport& report) {
  if (!o.output.empty()) {
    auto text = write_map(*setting.problem, report.after.nodes, {o.format, setting.hosts});
    if (!text) return std::move(text).error();
    if (Status s = write_file(o.output, *text); !s) return s;
  }
  if (!o.json.empty())
    if (Status s = write_file(o.json, to_json(report)); !s) return s;
  if (!o.csv.empty())
    if (Status s = write_file(o.csv, to_csv(report.candidates)); !s) return s;
  if (!o.svg.empty()) {
    const map::Picture picture{
        "placement",
        {{report.before.name, report.before.nodes}, {report.after.name, report.after.nodes}}};
    if (Status s = write_file(o.svg, draw_placement(*setting.problem, picture)); !s) return s;
  }
  if (!o.html.empty())
    if (Status s = write_file(o.html, to_html(report, *setting.problem)); !s) return s;
  return o.quiet ? Status() : print(table(report));
}

Status warn_cut_off(const map::Judgement& judgement) {
  if (judgement.cut_off == 0) return {};
  return Error::run(fmt::format(
      "{} pairs of ranks have no way to each other under this routing (broken cables?); try "
      "--routing shortest",
      judgement.cut_off));
}

Status evaluate(const MapOptions& o, const MapWishes& wishes, const MapSetting& setting) {
  auto map = read_rank_map(o.evaluate, *setting.problem);
  if (!map) return std::move(map).error();
  map::MapReport report = make_report(o, wishes, setting);
  auto before = make_side("identity", setting.problem->in_order(), o, wishes, setting);
  if (!before) return std::move(before).error();
  auto after = make_side(o.evaluate, *map, o, wishes, setting);
  if (!after) return std::move(after).error();
  report.before = *std::move(before);
  report.after = *std::move(after);
  report.candidates = {{"identity", report.before.judgement.value},
                       {o.evaluate, report.after.judgement.value}};
  if (Status s = write_results(o, setting, report); !s) return s;
  return warn_cut_off(report.after.judgement);
}

Status report_found(const MapOptions& o, const MapWishes& wishes, const MapSetting& setting,
                    const map::Found& found) {
  map::MapReport report = make_report(o, wishes, setting);
  auto before = make_side("identity", setting.problem->in_order(), o, wishes, setting);
  if (!before) return std::move(before).error();
  auto after = make_side(found.best.name, found.best.map, o, wishes, setting);
  if (!after) return std::move(after).error();
  report.before = *std::move(before);
  report.after = *std::move(after);
  // Of chains with one name, the best.
  std::set<std::string> seen;
  for (const map::Candidate& c : found.candidates)
    if (seen.insert(c.name).second) report.candidates.push_back({c.name, c.value});
  report.facts.emplace_back("work",
                            fmt::format("{} whole maps, {} swaps", found.evaluations, found.tries));
  if (found.perfect) report.facts.emplace_back("result", "proved to be the best possible");
  report.facts.emplace_back(
      "repeat with",
      found.stopped ? std::string("nothing: it was stopped")
                    : fmt::format("--evaluations {} --tries {} --chains {}", found.used.evaluations,
                                  found.used.tries, found.used.chains));
  if (Status s = write_results(o, setting, report); !s) return s;
  return warn_cut_off(report.after.judgement);
}

Status find_map(const MapOptions& o, const MapWishes& wishes, const MapSetting& setting,
                const Job& job) {
  auto watch = Watch::start(o, job);
  auto search_options =
      watch ? make_search(o, wishes, setting, job) : Result<map::SearchOptions>(watch.error());
  if (Status s = agree(job.peers(), search_options ? Status() : Status(search_options.error())); !s)
    return s;
  search_options->report = [&](const map::Standing& standing) { watch->show(standing); };
  if (o.compare) {
    const Status compared = compare_maps({o, *setting.problem, *search_options}, job.speaks());
    const Status ended = watch->finish(static_cast<bool>(compared), interrupted().load());
    return compared ? ended : compared;
  }
  auto found = search(*setting.problem, *search_options);
  if (!found) return std::move(found).error();
  Status end =
      agree(job.peers(), job.speaks() ? report_found(o, wishes, setting, *found) : Status());
  const Status ended = watch->finish(static_cast<bool>(end), found->stopped);
  return end ? ended : end;
}

Status run_map(const MapOptions& options, Job& job) {
  if (options.list) return job.speaks() ? print(list_map_words()) : Status();
  const Interrupts caught;
  const auto wishes = check_map_options(options, job);
  if (!wishes) return Error(wishes.error());
  if (Status s = job.join(); !s) return s;
  return job.guard([&]() -> Status {
    auto setting = read_map_setting(options);
    if (Status s = agree(job.peers(), setting ? Status() : Status(setting.error())); !s) return s;
    if (!options.evaluate.empty())
      return agree(job.peers(), job.speaks() ? evaluate(options, *wishes, *setting) : Status());
    return find_map(options, *wishes, *setting, job);
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
