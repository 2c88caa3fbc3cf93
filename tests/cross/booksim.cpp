// SPDX-License-Identifier: Apache-2.0
#include "tests/cross/booksim.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/study/traffic/experiment.hpp>
#include <weft/study/traffic/load.hpp>

namespace weft::test {

namespace {

// "a=1; b=2 (text)" into a map.
std::map<std::string, std::string> pairs(std::string_view line) {
  std::map<std::string, std::string> found;
  for (std::string_view part : split(line, ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view value = trim(part.substr(equals + 1));
    value = value.substr(0, value.find(' '));
    std::string_view key = trim(part.substr(0, equals));
    if (const std::size_t blank = key.rfind(' '); blank != std::string_view::npos)
      key.remove_prefix(blank + 1);
    found.emplace(key, value);
  }
  return found;
}

double number(std::string_view text) {
  const Result<double> value = parse_number(trim(text));
  return value ? *value : 0;
}

// "measured 9000 cycles after 6000 warm-up cycles"
void read_phases(std::string_view line, Reference& r) {
  const auto after = [&](std::string_view word) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) return std::int64_t{0};
    std::string_view rest = line.substr(at + word.size());
    return static_cast<std::int64_t>(number(rest.substr(0, rest.find(' '))));
  };
  r.measure = after("measured ");
  r.warmup = after("cycles after ");
}

// Between the last row below the limit and the first above it, latency taken as exponential in the
// load.
double find_crossing(std::vector<ReferencePoint> rows, double limit) {
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.offered < b.offered; });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].latency <= limit || rows[i - 1].latency > limit) continue;
    const double part =
        std::log(limit / rows[i - 1].latency) / std::log(rows[i].latency / rows[i - 1].latency);
    return rows[i - 1].offered + part * (rows[i].offered - rows[i - 1].offered);
  }
  return 0;
}

std::string routing_name(const Reference& r) {
  static const std::map<std::string, std::string> names = {
      {"dor", "dor"},
      {"dim_order", "dor"},
      {"dim_order_bal", "dor-balanced"},
      {"xy_yx", "xy-yx"},
      {"valiant", "valiant"},
      {"adaptive_xy_yx", "xy-yx-adaptive"},
      {"planar_adapt", "planar-adaptive-booksim"},
      {"min_adapt", "min-adaptive-booksim"}};
  const auto found = names.find(r.routing);
  return found == names.end() ? r.routing : found->second;
}

// What is run, but for the load.
struct Runs {
  const Reference& reference;
  Fidelity model = Fidelity::packet;
  int seeds = 1;
};

Result<Point> run_point(const Runs& runs, std::uint64_t seed, double load, double limit) {
  const Reference& reference = runs.reference;
  Result<Scenario> scenario = scenario_of(reference, seed, runs.model);
  if (!scenario) return std::move(scenario).error();
  Experiment experiment;
  experiment.scenario = &*scenario;
  experiment.load = load;
  experiment.phases.warmup_cycles = reference.warmup;
  experiment.phases.measure_cycles = reference.measure;
  experiment.phases.latency_limit_cycles = limit;
  return run_experiment(experiment, {});
}

// Infinite where the network does not carry the load.
Result<double> mean_latency(const Runs& runs, double load, double limit) {
  double sum = 0;
  for (int s = 0; s < runs.seeds; ++s) {
    Result<Point> got = run_point(runs, static_cast<std::uint64_t>(s + 1), load, limit);
    if (!got) return std::move(got).error();
    sum += got->claims_latency() ? got->latency() : INFINITY;
  }
  return sum / runs.seeds;
}

template <typename Latency>
Result<double> search_saturation(const Reference& reference, Latency&& latency_at) {
  SearchSettings settings;
  settings.start = reference.saturation / 2;
  settings.tolerance = 0.03;
  Result<Bracket> bracket = find_saturation(settings, [&](double load) -> Result<bool> {
    Result<double> latency = latency_at(load);
    if (!latency) return std::move(latency).error();
    return *latency <= 3 * reference.zero_load;
  });
  if (!bracket) return std::move(bracket).error();
  return bracket->stable;
}

// As the reference's README says. A VC that waits for the tail's credit has all of its buffer
// again, one packet: that is cut-through.
Status set_flit_router(const Reference& r, ScenarioRequest& request) {
  const bool hold = r.variant == "hold";
  for (const auto& [key, value] :
       {std::pair{"model", "flit"},
        {"release", "head"},
        {"flit_router.requests", "all"},
        {"flit_router.hold_switch", hold ? "true" : "false"},
        {"flit_router.flow_control", r.wait_for_tail ? "cut-through" : "wormhole"}}) {
    if (Status status = request.set(key, value); !status) return status;
  }
  return {};
}

}  // namespace

bool locks_up(const Reference& r) {
  return r.routing == "valiant" && r.topology == "torus";
}

bool is_scatter(const Reference& r, std::size_t i) {
  return r.routing == "min_adapt" && r.points[i].error == 0 && i + 1 < r.points.size() &&
         r.points[i].latency > r.points[i + 1].latency;
}

std::string reference_folder() {
  return WEFT_REFERENCE;
}

Result<Reference> read_reference(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return std::move(text).error();
  Reference r;
  std::vector<ReferencePoint> rows;
  r.file = std::filesystem::path(path).filename().string();
  for (const char* variant : {"hold", "deep"}) {
    if (r.file.find(std::string("_") + variant) != std::string::npos) r.variant = variant;
  }
  for (const std::string_view line : split(*text, '\n')) {
    if (line.rfind("# varied:", 0) == 0) {
      auto found = pairs(line.substr(9));
      r.topology = found["topology"];
      r.routing = found["routing_function"];
      r.traffic = found["traffic"];
      r.k = static_cast<int>(number(found["k"]));
      r.vcs = static_cast<int>(number(found["num_vcs"]));
      r.packet = static_cast<int>(number(found["packet_size"]));
      r.buffer = static_cast<int>(number(found["vc_buf_size"]));
      r.wait_for_tail = found["wait_for_tail_credit"] == "1";
    } else if (line.rfind("# run:", 0) == 0) {
      read_phases(line, r);
    } else if (line.rfind("# ", 0) == 0) {
      auto found = pairs(line.substr(2));
      if (found.count("zero_load_latency_exact") != 0)
        r.zero_load = number(found["zero_load_latency_exact"]);
      if (found.count("saturation_load") != 0) r.saturation = number(found["saturation_load"]);
    } else if (line.rfind("latency,", 0) == 0 || line.rfind("overload,", 0) == 0) {
      const auto cells = split(line, ',');
      if (cells.size() < 8 || number(cells[4]) <= 0) continue;
      ReferencePoint point;
      point.fraction = number(cells[1]);
      point.offered = number(cells[2]);
      point.latency = number(cells[4]);
      point.accepted = number(cells[7]);
      if (number(cells[3]) > 1) point.error = number(cells[5]) / std::sqrt(number(cells[3]));
      rows.push_back(point);
      if (line[0] == 'l') r.points.push_back(point);
    }
  }
  r.crossing = find_crossing(rows, 3 * r.zero_load);
  if (r.k == 0 || r.zero_load == 0 || r.saturation == 0 || r.points.empty()) {
    return Error::input("not a reference curve").at(path, 1);
  }
  return r;
}

std::vector<std::string> list_references(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".csv" && name != "summary.csv")
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The router that the reference's README describes, nothing tuned: four stages of one cycle, one
// flit per cycle, credits that take a cycle, no lookahead, round robin. Buffers whose credits come
// flit by flit (no waiting for the tail's) release as the head leaves.
Result<Scenario> scenario_of(const Reference& r, std::uint64_t seed, Fidelity model) {
  ScenarioRequest request;
  const std::string k = std::to_string(r.k);
  const std::vector<std::pair<std::string, std::string>> options = {
      {"net", r.topology + ":" + k + "x" + k},
      {"profile", "textbook"},
      {"routing", routing_name(r)},
      {"vcs", std::to_string(r.vcs)},
      {"packet", std::to_string(r.packet)},
      {"pattern", r.traffic},
      {"buffer", std::to_string(r.buffer)},
      {"arbitration", "round-robin"},
      {"release", r.wait_for_tail ? "tail" : "head"},
      {"seed", std::to_string(seed)}};
  for (const auto& [key, value] : options) {
    if (Status status = request.set(key, value); !status) return std::move(status).error();
  }
  if (model == Fidelity::flit)
    if (Status status = set_flit_router(r, request); !status) return std::move(status).error();
  return make_scenario(request);
}

namespace {

// A mean over random intermediates; the reference's own value is that of two uniform legs. The
// closed form of its README holds whatever they were.
bool zero_load_agrees(const Reference& reference, const ZeroLoad& found) {
  if (reference.routing != "valiant") return found.latency_cycles == reference.zero_load;
  const double closed_form = 5 * found.hops + 6 + reference.packet;
  return std::abs(found.latency_cycles - closed_form) < 1e-6 &&
         std::abs(found.latency_cycles - reference.zero_load) <= 0.05 * reference.zero_load;
}

// The load that the reference's run really made counts where the nominal one is out of bounds.
Result<std::string> compare_point(const Runs& runs, const ReferencePoint& point, double bound) {
  const double low = point.latency * (1 - bound) - 2 * point.error;
  const double high = point.latency * (1 + bound) + 2 * point.error;
  const Result<double> nominal = mean_latency(runs, point.offered, 0);
  if (!nominal) return Error(nominal.error());
  if (*nominal >= low && *nominal <= high) return std::string();
  const Result<double> real = mean_latency(runs, point.accepted, 0);
  if (!real) return Error(real.error());
  if (std::min(*nominal, *real) <= high && std::max(*nominal, *real) >= low) return std::string();
  return fmt::format(
      "latency {:.2f}, or {:.2f} at the load that was there, and not {:.2f}, at {} of saturation",
      *nominal, *real, point.latency, point.fraction);
}

// Its search, where two looks at the ends do not tell.
Result<std::string> compare_saturation(const Runs& runs, double bound) {
  const Reference& reference = runs.reference;
  const bool crosses = reference.crossing > 0;
  const double low =
      (crosses ? std::min(reference.saturation, reference.crossing) : reference.saturation) *
      (1 - bound);
  const double high = std::max(reference.saturation, reference.crossing) * (1 + bound);
  const auto latency_at = [&](double load) {
    return mean_latency(runs, load, 6 * reference.zero_load);
  };
  const Result<double> below = latency_at(low), above = latency_at(high);
  if (!below) return Error(below.error());
  if (!above) return Error(above.error());
  if (*below <= 3 * reference.zero_load && *above > 3 * reference.zero_load) return std::string();
  const Result<double> found = search_saturation(reference, latency_at);
  if (!found) return Error(found.error());
  if (*found >= low && *found <= high) return std::string();
  return fmt::format("saturation {:.4f}, and not from {:.4f} to {:.4f}", *found, low, high);
}

}  // namespace

Result<std::vector<std::string>> find_disagreements(const Reference& reference, Fidelity model,
                                                    const Bounds& bounds) {
  std::vector<std::string> found;
  const Runs runs{reference, model, reference.k > 16 ? 1 : 3};
  const Result<Scenario> scenario = scenario_of(reference, 1, model);
  if (!scenario) return Error(scenario.error());
  const Result<ZeroLoad> zero = zero_load_latency(*scenario);
  if (!zero) return Error(zero.error());
  if (!zero_load_agrees(reference, *zero))
    found.push_back(
        fmt::format("zero load {}, and not {}", zero->latency_cycles, reference.zero_load));
  // What locks up there is comparable at low load at best.
  if (locks_up(reference) && model == Fidelity::flit) return found;
  for (std::size_t i = 0; i < reference.points.size(); ++i) {
    const ReferencePoint& point = reference.points[i];
    // At 2 % of saturation the reference has too few packets for a mean.
    if (point.fraction < 0.2 || point.fraction > 0.75 || is_scatter(reference, i)) continue;
    Result<std::string> off = compare_point(runs, point, bounds.latency);
    if (!off) return std::move(off).error();
    if (!off->empty()) found.push_back(*off);
  }
  if (locks_up(reference)) return found;
  Result<std::string> off = compare_saturation(runs, bounds.saturation);
  if (!off) return std::move(off).error();
  if (!off->empty()) found.push_back(*off);
  return found;
}

Result<Comparison> compare(const Reference& reference, int seeds, Fidelity model) {
  Comparison found;
  const Runs runs{reference, model, seeds};
  Result<Scenario> scenario = scenario_of(reference, 1, model);
  if (!scenario) return std::move(scenario).error();
  Result<ZeroLoad> zero = zero_load_latency(*scenario);
  if (!zero) return std::move(zero).error();
  found.zero_load = zero->latency_cycles;
  found.zero_load_hops = zero->hops;
  for (const ReferencePoint& point : reference.points) {
    for (const bool nominal : {true, false}) {
      Result<double> latency = mean_latency(runs, nominal ? point.offered : point.accepted, 0);
      if (!latency) return std::move(latency).error();
      (nominal ? found.latency : found.accepted_latency).push_back(*latency);
    }
  }
  Result<double> saturation = search_saturation(
      reference, [&](double load) { return mean_latency(runs, load, 6 * reference.zero_load); });
  if (!saturation) return std::move(saturation).error();
  found.saturation = *saturation;
  return found;
}

}  // namespace weft::test
