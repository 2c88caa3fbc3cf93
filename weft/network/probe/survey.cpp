// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/survey.hpp"

#include <algorithm>
#include <numeric>

#include <weft/network/probe/levels.hpp>

namespace weft::probe {
namespace {

constexpr std::uint32_t sample_max = 24;
constexpr int tries_max = 4;
constexpr double noise_factor = 8, host_share = 0.005, slack_share_max = 0.25;
// Three measurements from different hosts tolerate this much noise.
constexpr double noise_factor_max = 3;

struct Row {
  std::uint32_t from = 0;
  std::vector<double> to_ns;               // By host; 0 for itself.
  std::vector<std::uint32_t> near;         // Hosts of the first level including itself, ascending.
  std::vector<std::uint32_t> by_distance;  // Hosts that answered, nearest first; without itself.
};

class Surveyor {
 public:
  Surveyor(Instruments& instruments, std::uint32_t hosts) : instruments_(instruments), n_(hosts) {}
  Survey run();

 private:
  Row measure_row(std::uint32_t from);
  double find_noise(const Row& row);
  void find_near(Row& row);
  void choose_base();
  void fill();

  Instruments& instruments_;
  std::uint32_t n_;
  Survey found_;
  std::vector<Row> rows_;  // In the end only rows of base hosts.
  std::vector<std::uint32_t> common_;
  int rows_seen_ = 0;
};

bool holds(const std::vector<std::uint32_t>& sorted, std::uint32_t host) {
  return std::binary_search(sorted.begin(), sorted.end(), host);
}

Row Surveyor::measure_row(std::uint32_t from) {
  std::vector<Pair> pairs;
  for (std::uint32_t to = 0; to < n_; ++to)
    if (to != from) pairs.push_back({from, to});
  const std::vector<double> times = instruments_.round_trips_ns(pairs);
  Row row{from, std::vector<double>(n_, 0.0), {}, {}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    row.to_ns[pairs[i].to] = times[i];
    if (times[i] >= 0) row.by_distance.push_back(pairs[i].to);
  }
  std::stable_sort(row.by_distance.begin(), row.by_distance.end(),
                   [&](auto a, auto b) { return row.to_ns[a] < row.to_ns[b]; });
  return row;
}

// Measures the same pairs once more, in the other direction.
double Surveyor::find_noise(const Row& row) {
  std::vector<Pair> pairs;
  std::vector<double> once;
  const auto count = static_cast<std::uint32_t>(row.by_distance.size());
  const std::uint32_t step = std::max(1u, count / sample_max);
  for (std::uint32_t i = 0; i < count; i += step) {
    pairs.push_back({row.by_distance[i], row.from});
    once.push_back(row.to_ns[row.by_distance[i]]);
  }
  return noise_of(once, instruments_.round_trips_ns(pairs));
}

void Surveyor::find_near(Row& row) {
  // The row's own noise: that of a disturbed host says nothing about the others.
  const double noise = find_noise(row);
  found_.noise_ns = rows_seen_++ == 0 ? noise : std::min(found_.noise_ns, noise);
  std::vector<double> sorted;
  for (const std::uint32_t host : row.by_distance) sorted.push_back(row.to_ns[host]);
  const std::vector<Level> levels = find_levels(sorted, noise);
  row.near = {row.from};
  if (!levels.empty()) {
    row.near.insert(row.near.end(), row.by_distance.begin(),
                    row.by_distance.begin() + static_cast<std::ptrdiff_t>(levels[0].count));
  }
  std::sort(row.near.begin(), row.near.end());
}

// A noisy host, or one alone on its switch, finds others near that do not find it near; their rows
// are better.
void Surveyor::choose_base() {
  Row row = measure_row(0);
  find_near(row);
  for (int i = 0; i < tries_max && row.near.size() > 1; ++i) {
    const std::size_t near = row.near.size() - 1;
    Row other = measure_row(row.by_distance[near / 2]);
    find_near(other);
    common_.clear();
    std::set_intersection(row.near.begin(), row.near.end(), other.near.begin(), other.near.end(),
                          std::back_inserter(common_));
    const std::size_t fewer = std::min(row.near.size(), other.near.size());
    found_.alone = fewer >= 4 && common_.size() * 2 < fewer;
    if (holds(other.near, row.from)) {
      rows_.push_back(std::move(row));
      rows_.push_back(std::move(other));
      return;
    }
    row = std::move(other);
    if (instruments_.over()) break;
  }
  common_ = {row.from};
  rows_.push_back(std::move(row));
}

void Surveyor::fill() {
  for (const Row& row : rows_) found_.base.push_back(row.from);
  found_.from_base_ns.assign(n_, no_answer);
  for (std::uint32_t host = 0; host < n_; ++host) {
    std::vector<double> values;
    for (const Row& row : rows_)
      if (row.from != host && row.to_ns[host] >= 0) values.push_back(row.to_ns[host]);
    if (!values.empty()) found_.from_base_ns[host] = median(std::move(values));
    // Alone in the base, it has no partner to measure with.
    if (rows_.size() == 1 && rows_[0].from == host) found_.from_base_ns[host] = 0;
  }
  std::vector<double> sorted;
  for (const double value : found_.from_base_ns)
    if (value > 0) sorted.push_back(value);
  std::sort(sorted.begin(), sorted.end());
  const std::vector<Level> levels = find_levels(sorted, found_.noise_ns);
  found_.one_switch = levels.size() < 2;
  if (levels.empty()) return;
  found_.host_ns = levels[0].median_ns / 2;
  found_.spread_ns = levels[0].high_ns - levels[0].low_ns;
  found_.same_ns = levels[0].high_ns * 2;
  if (!found_.one_switch) {
    found_.jump_ns = levels[1].low_ns - levels[0].median_ns;
    // Elsewhere the next switch may be closer than it is here: as close as hosts and noise allow.
    found_.same_ns =
        std::min((levels[0].high_ns + levels[1].low_ns) / 2, levels[0].high_ns + found_.slack_ns());
  }
}

Survey Surveyor::run() {
  choose_base();
  for (const std::uint32_t host : common_) {
    if (rows_.size() != 2 || instruments_.over()) break;
    if (host == rows_[0].from || host == rows_[1].from) continue;
    rows_.push_back(measure_row(host));
  }
  fill();
  return std::move(found_);
}

}  // namespace

double Survey::slack_ns() const {
  const double wanted = std::max({noise_factor * noise_ns, spread_ns, host_share * host_ns});
  return jump_ns > 0 ? std::min(wanted, slack_most_ns()) : wanted;
}

double Survey::slack_most_ns() const {
  return jump_ns * slack_share_max;
}

bool Survey::noisy() const {
  // Also if the noise could hide a jump smaller than the one that was found.
  return noise_factor_max * noise_ns > slack_most_ns() || noise_ns > host_ns / 5;
}

Survey survey_hosts(Instruments& instruments, std::uint32_t hosts) {
  return Surveyor(instruments, hosts).run();
}

}  // namespace weft::probe
