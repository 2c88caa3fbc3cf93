// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/find.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <weft/base/check.hpp>
#include <weft/network/probe/levels.hpp>
#include <weft/network/probe/links.hpp>
#include <weft/network/probe/placing.hpp>
#include <weft/network/probe/survey.hpp>
#include <weft/network/probe/votes.hpp>

namespace weft::probe {
namespace {

constexpr double contradicting_max = 0.1;  // More deserves a remark;
constexpr double no_tree_from = 0.5;       // this many mean that there is no tree.
constexpr int looks_max = 4;
constexpr double near_share = 0.25;

class Search {
 public:
  Search(Meter& meter, const ProbeSettings& settings)
      : settings_(settings),
        n_(static_cast<std::uint32_t>(settings.hosts.size())),
        instruments_(meter, settings.seconds_max) {}
  Finding run();

 private:
  void report_progress(double share, const std::string& what) const {
    if (settings_.progress) settings_.progress(share, what);
  }
  bool start_from_earlier();
  void measure_newcomers(const std::map<std::string, std::uint32_t>& known);
  void place();
  void write_tree();
  void take_over_links();
  void check();
  void name_switches();
  void judge_links();
  void put_alone();

  const ProbeSettings& settings_;
  std::uint32_t n_;
  Instruments instruments_;
  Finding found_;
  Survey survey_;
  std::optional<Placing> placing_;
  std::vector<std::uint32_t> newcomers_;  // Hosts to be confirmed by votes.
  std::vector<std::uint32_t> switch_of_;  // By tree node.
  std::size_t known_switches_ = 0;        // From the earlier finding.
};

// Starts with the earlier positions of hosts that still exist. The base must be among them, to
// measure new hosts from.
bool Search::start_from_earlier() {
  if (settings_.earlier == nullptr || !settings_.earlier->tree || settings_.earlier->jump_ns <= 0)
    return false;
  const Finding& before = *settings_.earlier;
  std::map<std::string, std::uint32_t> known;
  for (std::uint32_t i = 0; i < before.hosts.size(); ++i)
    if (before.hosts[i].on != nowhere) known.emplace(before.hosts[i].name, i);
  std::vector<TreeNode> nodes(before.switches.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].depth_ns = before.switches[i].depth_ns;
  for (const LinkFound& link : before.links) {
    nodes[link.b].parent = static_cast<int>(link.a);
    nodes[link.a].children.push_back(static_cast<int>(link.b));
  }
  survey_.from_base_ns.assign(n_, no_answer);
  for (std::uint32_t host = 0; host < n_; ++host) {
    const auto at = known.find(settings_.hosts[host]);
    if (at == known.end()) continue;
    const std::uint32_t on = before.hosts[at->second].on;
    nodes[on].hosts.push_back(host);
    survey_.from_base_ns[host] = 2 * before.host_ns + nodes[on].depth_ns;
  }
  if (nodes.empty() || nodes[0].hosts.size() < 2) return false;
  const auto& root = nodes[0].hosts;
  survey_.base.assign(root.begin(), root.begin() + std::min<std::ptrdiff_t>(3, std::ssize(root)));
  survey_.noise_ns = before.noise_ns;
  survey_.host_ns = before.host_ns;
  survey_.jump_ns = before.jump_ns;
  // The noise may have changed since; values that are close relative to the jump are the same.
  survey_.same_ns = std::max(before.same_ns, 2 * before.host_ns + before.jump_ns * near_share);
  survey_.spread_ns = before.jump_ns * near_share / 3;
  measure_newcomers(known);
  placing_.emplace(instruments_, survey_);
  placing_->start_with(nodes);
  // Hosts that left may leave a useless switch behind.
  for (std::size_t node = nodes.size(); node-- > 1;) placing_->drop_if_idle(static_cast<int>(node));
  const TreeCheck tree = check_tree(instruments_, *placing_);
  const TreeCheck groups = check_groups(instruments_, *placing_);
  known_switches_ = before.switches.size();
  return tree.contradicting * 4 <= tree.checked && groups.contradicting * 8 <= groups.checked;
}

void Search::measure_newcomers(const std::map<std::string, std::uint32_t>& known) {
  std::vector<Pair> pairs;
  for (std::uint32_t host = 0; host < n_; ++host) {
    if (known.contains(settings_.hosts[host])) continue;
    newcomers_.push_back(host);
    for (const std::uint32_t base : survey_.base) pairs.push_back({base, host});
  }
  const std::vector<double> times = instruments_.round_trips_ns(pairs);
  std::map<std::uint32_t, std::vector<double>> values;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (times[i] >= 0) values[pairs[i].to].push_back(times[i]);
  for (auto& [host, list] : values) survey_.from_base_ns[host] = median(std::move(list));
}

void Search::place() {
  if (start_from_earlier()) {
    found_.remarks.push_back(fmt::format("{} of {} hosts were known; {} were measured",
                                         n_ - newcomers_.size(), n_, newcomers_.size()));
  } else {
    known_switches_ = 0;
    report_progress(0, "surveying hosts");
    newcomers_.resize(n_);
    std::iota(newcomers_.begin(), newcomers_.end(), 0u);
    // Repeat as often as the noise requires; later measurements then repeat as often from the
    // start.
    int looks = 1;
    for (;; ++looks) {
      survey_ = survey_hosts(instruments_, n_);
      if (!survey_.noisy() || looks == looks_max || instruments_.over()) break;
    }
    instruments_.set_repeats(looks);
    placing_.emplace(instruments_, survey_);
  }
  if (survey_.alone) return;
  placing_->place_all([&](std::size_t count) {
    report_progress(0.1 + 0.5 * static_cast<double>(count) / n_,
                    fmt::format("{} of {} hosts placed", count, n_));
  });
  report_progress(0.6, "confirming placements");
  placing_->join_close();
  const std::vector<double> sure = vote(instruments_, *placing_, newcomers_);
  placing_->join_close();
  for (std::uint32_t host = 0; host < n_; ++host) found_.hosts[host].sure = sure[host];
}

// The remaining tree nodes become switches, the base's first.
void Search::write_tree() {
  const std::vector<TreeNode>& nodes = placing_->nodes();
  switch_of_.assign(nodes.size(), nowhere);
  std::vector<int> open = {0};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const TreeNode& node = nodes[static_cast<std::size_t>(open[i])];
    const auto sw = static_cast<std::uint32_t>(found_.switches.size());
    switch_of_[static_cast<std::size_t>(open[i])] = sw;
    found_.switches.push_back({"", node.depth_ns});
    for (const std::uint32_t host : node.hosts) found_.hosts[host].on = sw;
    if (node.parent >= 0) {
      const auto above = static_cast<std::size_t>(node.parent);
      LinkFound link;
      link.a = switch_of_[above];
      link.b = sw;
      link.latency_ns = (node.depth_ns - nodes[above].depth_ns) / 2;
      found_.links.push_back(link);
    }
    open.insert(open.end(), node.children.begin(), node.children.end());
  }
}

// Links with the same hosts on both sides as before keep their rates.
void Search::take_over_links() {
  if (known_switches_ == 0) return;
  const Finding& before = *settings_.earlier;
  found_.host_bit_per_s = before.host_bit_per_s;
  const auto sides = [](const Finding& finding) {
    const TreeView view(finding);
    std::vector<std::vector<std::string>> out;
    for (const LinkFound& link : finding.links) {
      std::vector<std::string> names;
      for (const std::uint32_t host : view.spread(link.b, false))
        names.push_back(finding.hosts[host].name);
      std::sort(names.begin(), names.end());
      out.push_back(std::move(names));
    }
    return out;
  };
  const auto old = sides(before), now = sides(found_);
  for (std::size_t i = 0; i < found_.links.size(); ++i) {
    // A few hosts may have come or gone; the link with most hosts in common is taken as the same.
    std::size_t best = old.size();
    double most = 0.5;
    for (std::size_t o = 0; o < old.size(); ++o) {
      std::vector<std::string> common;
      std::set_intersection(old[o].begin(), old[o].end(), now[i].begin(), now[i].end(),
                            std::back_inserter(common));
      const auto larger = static_cast<double>(std::max(old[o].size(), now[i].size()));
      const double share = static_cast<double>(common.size()) / larger;
      if (share <= most) continue;
      most = share;
      best = o;
    }
    if (best == old.size()) continue;
    const LinkFound& same = before.links[best];
    found_.links[i].rate_bit_per_s = same.rate_bit_per_s;
    found_.links[i].filled = same.filled;
    found_.links[i].shared = same.shared;
  }
}

void Search::check() {
  const TreeCheck check = check_tree(instruments_, *placing_);
  if (check.checked > 0) {
    found_.contradicting =
        static_cast<double>(check.contradicting) / static_cast<double>(check.checked);
  }
  if (found_.contradicting >= no_tree_from) {
    found_.tree = false;
    found_.remarks.push_back(
        fmt::format("{} of {} checked distances fit no tree: the groups of hosts are reported, but "
                    "not how they are connected",
                    check.contradicting, check.checked));
  } else if (found_.contradicting > contradicting_max) {
    found_.remarks.push_back(fmt::format(
        "{} of {} checked distances do not fit the tree, which is the best that was found",
        check.contradicting, check.checked));
  }
}

void Search::put_alone() {
  found_.tree = false;
  found_.contradicting = 1;
  found_.remarks.emplace_back(
      "hosts near to one are not near to each other: each has a switch of its own, and how these "
      "are connected is not known");
  for (std::uint32_t host = 0; host < n_; ++host) {
    found_.hosts[host].on = host;
    found_.hosts[host].sure = 0.5;
    found_.switches.push_back({"", 0});
    if (host > 0) {
      LinkFound link;
      link.b = host;
      link.latency_ns = std::max(0.0, survey_.from_base_ns[host]) / 2;
      found_.links.push_back(link);
    }
  }
}

void Search::name_switches() {
  std::size_t inner = 0, outer = 0;
  std::vector<bool> populated(found_.switches.size());
  for (const HostFound& host : found_.hosts)
    if (host.on != nowhere) populated[host.on] = true;
  for (std::size_t i = 0; i < found_.switches.size(); ++i) {
    found_.switches[i].name =
        populated[i] ? fmt::format("s{}", outer++) : fmt::format("t{}", inner++);
  }
}

void Search::judge_links() {
  for (LinkFound& link : found_.links) {
    const double by_delay = 2 * link.latency_ns > 2 * survey_.slack_ns() ? 0.9 : 0.5;
    link.sure = (link.shared ? std::max(by_delay, 0.95) : by_delay) * (1 - found_.contradicting);
  }
}

Finding Search::run() {
  for (const std::string& name : settings_.hosts) found_.hosts.push_back({name, nowhere, 0});
  if (n_ == 1) {
    found_.hosts[0] = {settings_.hosts[0], 0, 1};
    found_.switches.push_back({"s0", 0});
    return std::move(found_);
  }
  place();
  found_.noise_ns = survey_.noise_ns;
  found_.same_ns = survey_.same_ns;
  found_.jump_ns = survey_.jump_ns;
  found_.host_ns = survey_.host_ns;
  if (survey_.alone) {
    put_alone();
  } else {
    write_tree();
    take_over_links();
    check();
  }
  TrafficTrials trials(instruments_);
  report_progress(0.7, "flows at the same time");
  // If no new switch was found, flows would show nothing new.
  if (found_.tree && found_.switches.size() > known_switches_)
    resolve_stars(trials, found_, settings_.trials);
  if (found_.tree && settings_.trials != Trials::never) {
    measure_rates(trials, found_,
                  [&](double share) { report_progress(0.8 + 0.2 * share, "rates of links"); });
  }
  name_switches();
  judge_links();
  const auto lost = std::count_if(found_.hosts.begin(), found_.hosts.end(),
                                  [](const HostFound& host) { return host.on == nowhere; });
  found_.complete = !instruments_.over();
  if (lost > 0) {
    found_.remarks.push_back(
        fmt::format("{} hosts are not placed: {}", lost,
                    found_.complete ? "they did not answer" : "the time was up before"));
  }
  if (survey_.one_switch) {
    found_.remarks.emplace_back(
        "round trips have no jump: all hosts are on one switch, or delays are too "
        "small to tell switches apart");
  }
  found_.counts = instruments_.counts();
  return std::move(found_);
}

}  // namespace

Finding find_network(Meter& meter, const ProbeSettings& settings) {
  WEFT_CHECK(!settings.hosts.empty());
  return Search(meter, settings).run();
}

}  // namespace weft::probe
