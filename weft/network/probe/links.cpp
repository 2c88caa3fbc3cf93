// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/links.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <weft/network/probe/levels.hpp>

namespace weft::probe {
namespace {

constexpr std::size_t flows_max = 16;
constexpr double full_below = 0.8;    // Share of the hosts' total rate; a link with less is full.
constexpr double limits_from = 0.85;  // Share of a link's rate from which it counts as full.

struct Measured {
  std::size_t link = 0;
  std::vector<Pair> flows;
  std::vector<double> rates;
};

class RateRound {
 public:
  RateRound(TrafficTrials& trials, Finding& finding)
      : trials_(trials), finding_(finding), view_(finding) {}
  void measure_host();
  void measure(std::size_t link, bool most_at_once);
  // Links whose flows were limited elsewhere.
  std::vector<std::size_t> find_who_limits();

 private:
  bool crosses(const Pair& flow, const LinkFound& link) const;
  std::size_t switches_of(const std::vector<std::uint32_t>& hosts) const;
  bool explained(const Measured& one, std::size_t flow) const;

  TrafficTrials& trials_;
  Finding& finding_;
  TreeView view_;
  std::vector<Measured> measured_;
};

void RateRound::measure_host() {
  std::vector<double> rates;
  for (std::uint32_t sw = 0; sw < finding_.switches.size() && rates.size() < 3; ++sw) {
    const auto& hosts = view_.hosts(sw);
    if (hosts.size() < 2 || trials_.over()) continue;
    rates.push_back(trials_.alone_bit_per_s(hosts[0], hosts[1]));
  }
  // No two hosts share a switch, so longer paths are all there is.
  if (rates.empty() && finding_.hosts.size() > 1 && !trials_.over()) {
    const auto all = view_.spread(0, false);
    if (all.size() > 1) rates.push_back(trials_.alone_bit_per_s(all[0], all[1]));
  }
  finding_.host_bit_per_s = median(std::move(rates));
}

// Adds flows over the link until their total no longer grows, or starts as many as possible at
// once.
void RateRound::measure(std::size_t index, bool most_at_once) {
  LinkFound& link = finding_.links[index];
  std::vector<std::uint32_t> below = view_.spread(link.b, false);
  std::vector<std::uint32_t> others = view_.spread(link.b, true);
  // Send towards more switches: flows to several hosts of one switch may be limited inside it.
  if (switches_of(below) > switches_of(others)) std::swap(below, others);
  const std::size_t most = std::min({below.size(), others.size(), flows_max});
  const double host = finding_.host_bit_per_s;
  if (most == 0 || host <= 0) return;
  std::size_t count = most_at_once ? most : std::min<std::size_t>(2, most);
  for (;; count = std::min(2 * count, most)) {
    if (trials_.over()) return;
    Measured done{index, {}, {}};
    for (std::size_t i = 0; i < count; ++i) done.flows.push_back({below[i], others[i]});
    done.rates = trials_.rates_bit_per_s(done.flows);
    const double sum = std::accumulate(done.rates.begin(), done.rates.end(), 0.0);
    if (sum <= 0) return;
    const bool full = sum < full_below * host * static_cast<double>(count);
    if (!full && count < most) continue;
    link.rate_bit_per_s = sum;
    link.filled = full ? Filled::full : Filled::at_least;
    link.shared = link.shared || (full && count > 1);
    std::erase_if(measured_, [&](const Measured& one) { return one.link == index; });
    measured_.push_back(std::move(done));
    return;
  }
}

std::size_t RateRound::switches_of(const std::vector<std::uint32_t>& hosts) const {
  std::set<std::uint32_t> found;
  for (const std::uint32_t host : hosts) found.insert(finding_.hosts[host].on);
  return found.size();
}

bool RateRound::crosses(const Pair& flow, const LinkFound& link) const {
  return view_.below(finding_.hosts[flow.from].on, link.b) !=
         view_.below(finding_.hosts[flow.to].on, link.b);
}

// The flow has a host's full rate, or another link on its path was full.
bool RateRound::explained(const Measured& one, std::size_t flow) const {
  if (one.rates[flow] >= limits_from * finding_.host_bit_per_s) return true;
  for (std::size_t i = 0; i < finding_.links.size(); ++i) {
    const LinkFound& other = finding_.links[i];
    if (i == one.link || other.filled != Filled::full || !crosses(one.flows[flow], other)) continue;
    double load = 0;
    for (std::size_t f = 0; f < one.flows.size(); ++f)
      if (crosses(one.flows[f], other)) load += one.rates[f];
    if (load >= limits_from * other.rate_bit_per_s) return true;
  }
  return false;
}

// If all of its flows were limited elsewhere, a link may carry more.
std::vector<std::size_t> RateRound::find_who_limits() {
  std::vector<std::size_t> limited;
  for (const Measured& one : measured_) {
    if (finding_.links[one.link].filled != Filled::full) continue;
    bool all = true;
    for (std::size_t flow = 0; flow < one.flows.size(); ++flow) all = all && explained(one, flow);
    if (all) limited.push_back(one.link);
  }
  for (const std::size_t link : limited) finding_.links[link].filled = Filled::at_least;
  return limited;
}

}  // namespace

TreeView::TreeView(const Finding& finding)
    : children_(finding.switches.size()),
      hosts_(finding.switches.size()),
      parent_(finding.switches.size(), nowhere) {
  for (const LinkFound& link : finding.links) {
    children_[link.a].push_back(link.b);
    parent_[link.b] = link.a;
  }
  for (std::uint32_t host = 0; host < finding.hosts.size(); ++host)
    if (finding.hosts[host].on != nowhere) hosts_[finding.hosts[host].on].push_back(host);
}

bool TreeView::below(std::uint32_t sw, std::uint32_t top) const {
  while (sw != top && sw != nowhere) sw = parent_[sw];
  return sw == top;
}

std::vector<std::uint32_t> TreeView::spread(std::uint32_t top, bool outside) const {
  std::vector<std::uint32_t> out;
  for (std::size_t turn = 0, before = 1; out.size() != before; ++turn) {
    before = out.size();
    for (std::uint32_t sw = 0; sw < hosts_.size(); ++sw)
      if (below(sw, top) != outside && turn < hosts_[sw].size()) out.push_back(hosts_[sw][turn]);
  }
  return out;
}

void measure_rates(TrafficTrials& trials, Finding& finding,
                   const std::function<void(double share)>& progress) {
  RateRound round(trials, finding);
  if (finding.host_bit_per_s <= 0) round.measure_host();
  for (std::size_t i = 0; i < finding.links.size() && !trials.over(); ++i) {
    progress(static_cast<double>(i) / static_cast<double>(finding.links.size()));
    if (finding.links[i].filled == Filled::unknown) round.measure(i, false);
  }
  for (const std::size_t link : round.find_who_limits())
    if (!trials.over()) round.measure(link, true);
  static_cast<void>(round.find_who_limits());
}

}  // namespace weft::probe
