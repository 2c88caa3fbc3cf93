// SPDX-License-Identifier: Apache-2.0
#include "map_compare.hpp"

#include <algorithm>
#include <utility>

#include "output.hpp"
#include "result_settings.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/parallel/processes/agree.hpp>
#include <weft/study/map/bisect.hpp>
#include <weft/study/map/bounds.hpp>
#include <weft/study/map/formats.hpp>
#include <weft/study/map/scotch.hpp>

namespace weft::app {

namespace {

struct Row {
  std::string name;
  map::RankMap map;
  map::Judgement judgement;
  double seconds = 0;
  bool available = true;
};

class Table {
 public:
  explicit Table(const Comparison& comparison)
      : c_(comparison),
        problem_(*comparison.setting.problem),
        paths_(*map::make_paths(problem_.topology(), problem_.routing())) {}

  void add(const std::string& name, const map::RankMap& map, double seconds) {
    rows_.push_back({name, map, judge(problem_, map, c_.search.objective, *paths_), seconds, true});
    rows_.back().judgement.loads = {};
  }
  void add_missing(const std::string& name) { rows_.push_back({name, {}, {}, 0, false}); }

  void add_bisection() {
    const double begun = c_.search.clock();
    add("bisection (BISEM)", bisect(problem_, c_.search.objective, {}), 0);
    rows_.back().seconds = c_.search.clock() - begun;
  }

  // Adds a method that searches.
  Status add_search(const std::string& name, const map::CandidateChoice& choice) {
    if (StopSign(c_.search.stop, c_.search.peers).raised()) return {};
    map::SearchOptions options = c_.search;
    options.choice = choice;
    const double begun = options.clock();
    auto found = search(problem_, options);
    if (!found) return std::move(found).error();
    add(name, found->best.map, options.clock() - begun);
    return {};
  }

  std::string text() const {
    const map::Bounds bounds = find_bounds(problem_, c_.search.objective, *paths_);
    std::string out = fmt::format("{:<24}{:>12}{:>14}{:>14}{:>13}{:>10}{:>10}\n", "map", "hops",
                                  "hop-bytes", "busiest link", "objective", "/ Scotch", "seconds");
    for (const Row& row : rows_) {
      if (!row.available) {
        out += fmt::format("{:<24}{:>12}\n", row.name, "not available");
        continue;
      }
      out += fmt::format("{:<24}{:>12}{:>14.6g}{:>14.10g}{:>13.5g}{:>10}{:>10.1f}\n", row.name,
                         row.judgement.hops, row.judgement.hop_bytes, row.judgement.link_max,
                         row.judgement.value, ratio(row), row.seconds);
    }
    out += fmt::format("{:<24}{:>12}{:>14.6g}{:>14.10g}{:>13.5g}\n", "proved bound", bounds.hops,
                       bounds.hop_bytes, bounds.link_max, bounds.value);
    return out;
  }

  std::string json() const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Row& row : rows_) {
      if (!row.available) continue;
      list.push_back({{"map", row.name},
                      {"hops", row.judgement.hops},
                      {"hop_bytes", row.judgement.hop_bytes},
                      {"link_max", row.judgement.link_max},
                      {"link_mean", row.judgement.link_mean},
                      {"objective", row.judgement.value},
                      {"seconds", row.seconds}});
    }
    const nlohmann::ordered_json whole = {
        {"format", "weft-map-comparison"},           {"version", 1},
        {"network", problem_.topology().name},       {"routing", problem_.routing()},
        {"objective", to_text(c_.search.objective)}, {"ranks", problem_.ranks()},
        {"warnings", c_.setting.machine.warnings},   {"maps", std::move(list)}};
    return whole.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  std::string csv() const {
    std::string out = "map,hops,hop_bytes,link_max,link_mean,objective,seconds\n";
    for (const Row& row : rows_) {
      if (!row.available) continue;
      const map::Judgement& j = row.judgement;
      out += fmt::format("\"{}\",{},{:.17g},{:.17g},{:.17g},{:.17g},{:.3f}\n", row.name, j.hops,
                         j.hop_bytes, j.link_max, j.link_mean, j.value, row.seconds);
    }
    return out;
  }

  const Row& best() const {
    const Row* least = &rows_.front();
    for (const Row& row : rows_)
      if (row.available && row.judgement.value < least->judgement.value) least = &row;
    return *least;
  }

 private:
  std::string ratio(const Row& row) const {
    for (const Row& other : rows_)
      if (other.name == "Scotch" && other.available && other.judgement.value > 0)
        return fmt::format("{:.4f}", row.judgement.value / other.judgement.value);
    return "-";
  }

  const Comparison& c_;
  const map::Problem& problem_;
  std::unique_ptr<map::Paths> paths_;
  std::vector<Row> rows_;
};

Status write_all(const Comparison& c, const Table& table) {
  const MapOptions& o = c.options;
  if (!o.output.empty()) {
    auto text = write_map((*c.setting.problem), (*c.setting.problem).to_nodes(table.best().map),
                          {o.format, c.setting.hosts});
    if (!text) return std::move(text).error();
    if (Status s = write_file(o.output, *text); !s) return s;
  }
  if (!o.json.empty())
    if (Status s = write_file(o.json, with_settings(table.json(), map_settings(o, c.setting))); !s)
      return s;
  if (!o.csv.empty())
    if (Status s = write_file(o.csv, table.csv()); !s) return s;
  return o.quiet ? Status() : print(table.text());
}

}  // namespace

Status compare_maps(const Comparison& c, bool is_root) {
  Table table(c);
  table.add("identity", (*c.setting.problem).in_order(), 0);
  if (c.setting.present) table.add(c.setting.before_name(), *c.setting.present, 0);
  table.add("random", random_rank_map(*c.setting.problem, c.search.seed), 0);
  const double begun = c.search.clock();
  if (auto scotch = map::scotch_map((*c.setting.problem)); scotch)
    table.add("Scotch", *scotch, c.search.clock() - begun);
  else
    table.add_missing("Scotch");
  constexpr map::CandidateChoice none{false, false, false, 1};
  constexpr map::CandidateChoice bisection{false, true, false, 1};
  table.add_bisection();
  for (const Status& s : {table.add_search("annealing (OPTIM)", none),
                          table.add_search("bisection + annealing", bisection),
                          table.add_search("all together", {})}) {
    if (!s) return Error(s.error());
  }
  return is_root ? write_all(c, table) : Status();
}

}  // namespace weft::app
