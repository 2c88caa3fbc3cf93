// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/paper.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace weft::probe {
namespace {

using Quad = std::array<std::uint32_t, 4>;

class Paper {
 public:
  Paper(Meter& meter, const ProbeSettings& settings)
      : settings_(settings),
        n_(static_cast<std::uint32_t>(settings.hosts.size())),
        instruments_(meter, settings.seconds_max) {}
  Finding run();

 private:
  void find_groups();
  std::vector<std::uint32_t> near(std::uint32_t host);
  void measure_relation();
  bool apart(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) const;
  void build();
  void put_aside();
  void turn_links();
  void join(const std::vector<std::uint32_t>& members);
  bool siblings(std::uint32_t a, std::uint32_t b) const;

  const ProbeSettings& settings_;
  std::uint32_t n_;
  Instruments instruments_;
  Finding found_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::set<Quad> slowed_;                         // By group: a-b and c-d slow each other.
  std::vector<std::uint32_t> open_, stands_for_;  // The paper's X; a group for each switch.
};

// d(i) - d(i-1) is largest at the first host of the next switch.
std::vector<std::uint32_t> Paper::near(std::uint32_t host) {
  std::vector<Pair> pairs;
  for (std::uint32_t other = 0; other < n_; ++other)
    if (other != host) pairs.push_back({host, other});
  const std::vector<double> times = instruments_.round_trips_ns(pairs);
  std::vector<std::uint32_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return times[a] < times[b]; });
  std::size_t end = order.size();
  double largest = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const double jump = times[order[i + 1]] - times[order[i]];
    const double before = i > 0 ? times[order[i]] - times[order[i - 1]] : 0;
    if (jump - before <= largest) continue;
    largest = jump - before;
    end = i + 1;
  }
  std::vector<std::uint32_t> hosts;
  for (std::size_t i = 0; i < end; ++i) hosts.push_back(pairs[order[i]].to);
  return hosts;
}

// Two hosts share a switch if each finds the other near.
void Paper::find_groups() {
  std::vector<std::vector<bool>> says(n_, std::vector<bool>(n_));
  for (std::uint32_t host = 0; host < n_; ++host)
    for (const std::uint32_t other : near(host)) says[host][other] = true;
  std::vector<std::uint32_t> group(n_, nowhere);
  for (std::uint32_t host = 0; host < n_; ++host) {
    if (group[host] != nowhere) continue;
    group[host] = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back({host});
    for (std::size_t i = 0; i < groups_.back().size(); ++i) {
      const std::uint32_t member = groups_.back()[i];
      for (std::uint32_t other = 0; other < n_; ++other) {
        if (group[other] != nowhere || !says[member][other] || !says[other][member]) continue;
        group[other] = group[host];
        groups_.back().push_back(other);
      }
    }
  }
  for (std::uint32_t host = 0; host < n_; ++host)
    found_.hosts.push_back({settings_.hosts[host], group[host], 1});
}

void Paper::measure_relation() {
  constexpr double slowed_below = 0.75;
  const auto count = static_cast<std::uint32_t>(groups_.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> alone;
  // Both directions, so that it does not matter in which direction a link is shared.
  const auto both = [&](std::uint32_t a, std::uint32_t b, std::vector<Pair>& flows) {
    const auto &from = groups_[a], &to = groups_[b];
    flows.push_back({from[0], to[0]});
    flows.push_back({to[to.size() > 1 ? 1 : 0], from[from.size() > 1 ? 1 : 0]});
  };
  const auto sum = [&](const std::vector<Pair>& flows) {
    const auto rates = instruments_.flows_bit_per_s(flows);
    return std::accumulate(rates.begin(), rates.end(), 0.0);
  };
  for (std::uint32_t a = 0; a < count; ++a)
    for (std::uint32_t b = a + 1; b < count; ++b) {
      std::vector<Pair> flows;
      both(a, b, flows);
      alone[{a, b}] = sum(flows);
    }
  for (auto one = alone.begin(); one != alone.end(); ++one)
    for (auto other = std::next(one); other != alone.end(); ++other) {
      const auto [a, b] = one->first;
      const auto [c, d] = other->first;
      if (a == c || a == d || b == c || b == d || instruments_.over()) continue;
      std::vector<Pair> flows;
      both(a, b, flows);
      both(c, d, flows);
      if (sum(flows) < slowed_below * (one->second + other->second)) slowed_.insert({a, b, c, d});
    }
}

bool Paper::apart(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) const {
  if (a > b) std::swap(a, b);
  if (c > d) std::swap(c, d);
  return !slowed_.contains({a, b, c, d}) && !slowed_.contains({c, d, a, b});
}

// The path between them shares no link with any other.
bool Paper::siblings(std::uint32_t a, std::uint32_t b) const {
  for (const std::uint32_t c : open_)
    for (const std::uint32_t d : open_) {
      if (c >= d || c == a || c == b || d == a || d == b) continue;
      if (!apart(stands_for_[a], stands_for_[b], stands_for_[c], stands_for_[d])) return false;
    }
  return true;
}

void Paper::join(const std::vector<std::uint32_t>& members) {
  const auto made = static_cast<std::uint32_t>(found_.switches.size());
  found_.switches.push_back({"t" + std::to_string(made), 0});
  stands_for_.push_back(stands_for_[members[0]]);
  for (const std::uint32_t member : members) {
    LinkFound link;
    link.a = made;
    link.b = member;
    found_.links.push_back(link);
    open_.erase(std::find(open_.begin(), open_.end(), member));
  }
  open_.push_back(made);
}

void Paper::build() {
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    found_.switches.push_back({"s" + std::to_string(i), 0});
    stands_for_.push_back(i);
    open_.push_back(i);
  }
  while (open_.size() > 3) {
    std::vector<std::vector<std::uint32_t>> sets;
    for (const std::uint32_t sw : open_) {
      const auto with = std::find_if(sets.begin(), sets.end(), [&](const auto& set) {
        return std::all_of(set.begin(), set.end(), [&](auto other) { return siblings(other, sw); });
      });
      if (with == sets.end())
        sets.push_back({sw});
      else
        with->push_back(sw);
    }
    if (sets.size() == open_.size()) break;  // No host has a sibling: not a tree.
    if (sets.size() == 1) return join(sets[0]);
    for (const auto& set : sets)
      if (set.size() > 1) join(set);
  }
  if (open_.size() > 3) found_.tree = false;
  if (open_.size() == 2) {
    LinkFound link;
    link.a = open_[0];
    link.b = open_[1];
    found_.links.push_back(link);
  } else if (open_.size() > 2) {
    join(std::vector<std::uint32_t>(open_));
  }
}

// Gives up the tree and keeps only the groups.
void Paper::put_aside() {
  found_.tree = false;
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    found_.switches.push_back({"s" + std::to_string(i), 0});
    if (i == 0) continue;
    LinkFound link;
    link.b = i;
    found_.links.push_back(link);
  }
}

// Makes links lead from the first switch outwards, whichever was created last.
void Paper::turn_links() {
  std::vector<bool> reached(found_.switches.size());
  std::vector<std::uint32_t> open = {0};
  std::vector<LinkFound> turned, left = found_.links;
  for (std::size_t i = 0; i < open.size(); ++i) {
    reached[open[i]] = true;
    for (LinkFound link : left) {
      if (link.b == open[i]) std::swap(link.a, link.b);
      if (link.a != open[i] || reached[link.b]) continue;
      turned.push_back(link);
      open.push_back(link.b);
    }
  }
  found_.links = std::move(turned);
}

Finding Paper::run() {
  find_groups();
  if (settings_.trials == Trials::never) {
    put_aside();
  } else {
    measure_relation();
    build();
  }
  turn_links();
  found_.complete = !instruments_.over();
  found_.counts = instruments_.counts();
  return std::move(found_);
}

}  // namespace

Finding find_by_paper(Meter& meter, const ProbeSettings& settings) {
  return Paper(meter, settings).run();
}

}  // namespace weft::probe
