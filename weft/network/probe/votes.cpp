// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/votes.hpp"

#include <algorithm>
#include <cmath>

namespace weft::probe {
namespace {

constexpr std::size_t second_opinions = 3;
constexpr std::uint64_t seed = 8;

class Ballot {
 public:
  Ballot(Instruments& instruments, Placing& placing, std::size_t hosts)
      : instruments_(instruments), placing_(placing), sure_(hosts, 1.0) {}
  std::vector<double> run(const std::vector<std::uint32_t>& hosts);

 private:
  struct Question {
    std::uint32_t host;
    std::size_t for_it = 0, asked = 0;
  };
  const TreeNode& at(std::uint32_t host) const {
    return placing_.nodes()[static_cast<std::size_t>(placing_.node_of(host))];
  }
  void ask(std::vector<Question>& questions, std::size_t opinions);
  void move(std::uint32_t host);

  Instruments& instruments_;
  Placing& placing_;
  std::vector<double> sure_;
  Rng rng_{seed};
};

// Random other hosts of the same switch measure each host.
void Ballot::ask(std::vector<Question>& questions, std::size_t opinions) {
  std::vector<Pair> pairs;
  std::vector<Question*> whose;
  for (Question& question : questions) {
    const std::vector<std::uint32_t>& mates = at(question.host).hosts;
    const std::size_t count = std::min(opinions, mates.size() - 1);
    const std::size_t start = rng_.below(mates.size());
    for (std::size_t i = 0, taken = 0; taken < count; ++i) {
      const std::uint32_t mate = mates[(start + i) % mates.size()];
      if (mate == question.host) continue;
      pairs.push_back({mate, question.host});
      whose.push_back(&question);
      ++taken;
    }
  }
  const double same_ns = placing_.survey().same_ns;
  const std::vector<double> times = instruments_.round_trips_ns(pairs, same_ns);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ++whose[i]->asked;
    if (times[i] >= 0 && times[i] < same_ns) ++whose[i]->for_it;
  }
}

// Measures again from the base, as the noise may have passed, and places the host on its own.
void Ballot::move(std::uint32_t host) {
  const int before = placing_.node_of(host);
  const std::size_t mates = at(host).hosts.size();
  std::vector<Pair> pairs;
  for (const std::uint32_t base : placing_.survey().base)
    if (base != host) pairs.push_back({base, host});
  if (pairs.size() < placing_.survey().base.size()) return;
  double least = placing_.survey().from_base_ns[host];
  for (const double time : instruments_.round_trips_ns(pairs))
    if (time >= 0) least = std::min(least, time);
  placing_.set_from_base(host, least);
  placing_.remove(host);
  if (!placing_.insert({host})) return;
  // Alone before and after, or back where it was: the host belongs there.
  const bool stays = mates > 1 ? placing_.node_of(host) == before : at(host).hosts.size() == 1;
  sure_[host] = stays ? 0.75 : 0.6;
}

std::vector<double> Ballot::run(const std::vector<std::uint32_t>& hosts) {
  std::vector<Question> questions, doubted;
  std::vector<std::uint32_t> alone;
  for (const std::uint32_t host : hosts) {
    if (placing_.node_of(host) < 0) {
      sure_[host] = 0;
    } else if (at(host).hosts.size() == 1) {
      alone.push_back(host);
    } else {
      questions.push_back({host});
    }
  }
  if (instruments_.over()) return std::move(sure_);
  ask(questions, 1);
  for (const Question& question : questions)
    if (question.for_it == 0) doubted.push_back(question);
  ask(doubted, second_opinions);
  for (const Question& question : doubted) {
    const double share = static_cast<double>(question.for_it) / static_cast<double>(question.asked);
    sure_[question.host] = share;
    if (share < 0.5) alone.push_back(question.host);
  }
  for (const std::uint32_t host : alone) {
    if (instruments_.over()) break;
    move(host);
  }
  return std::move(sure_);
}

}  // namespace

std::vector<double> vote(Instruments& instruments, Placing& placing,
                         const std::vector<std::uint32_t>& hosts) {
  return Ballot(instruments, placing, placing.survey().from_base_ns.size()).run(hosts);
}

TreeCheck check_groups(Instruments& instruments, const Placing& placing) {
  std::vector<Pair> pairs;
  for (const TreeNode& node : placing.nodes()) {
    const std::size_t count = node.hosts.size();
    if (count > 1) pairs.push_back({node.hosts[0], node.hosts[count / 2]});
    if (count > 3) pairs.push_back({node.hosts[1], node.hosts[count - 1]});
  }
  TreeCheck check{pairs.size(), 0};
  const double same_ns = placing.survey().same_ns;
  for (const double time : instruments.round_trips_ns(pairs, same_ns))
    if (time < 0 || time >= same_ns) ++check.contradicting;
  return check;
}

TreeCheck check_tree(Instruments& instruments, const Placing& placing) {
  std::vector<std::uint32_t> some;  // One host of each switch.
  for (const TreeNode& node : placing.nodes())
    if (!node.hosts.empty()) some.push_back(node.hosts[node.hosts.size() / 2]);
  if (some.size() < 4 || instruments.over()) return {};
  Rng rng(seed);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::size_t other = rng.below(some.size() - 1);
    pairs.push_back({some[i], some[other < i ? other : other + 1]});
  }
  std::vector<double> times = instruments.round_trips_ns(pairs);
  const auto wrong = [&](std::size_t i) {
    const double expected = placing.tree_ns(pairs[i].from, pairs[i].to);
    const double way = expected - 2 * placing.survey().host_ns;
    const double slack = std::max(3 * placing.survey().slack_ns(), Placing::missing_ns(way));
    return times[i] >= 0 && std::abs(times[i] - expected) > slack;
  };
  std::vector<Pair> again;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!wrong(i)) continue;
    again.push_back(pairs[i]);
    which.push_back(i);
  }
  const std::vector<double> second = instruments.one_by_one_ns(again);
  TreeCheck check{pairs.size(), 0};
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (second[i] >= 0) times[which[i]] = std::min(times[which[i]], second[i]);
    if (wrong(which[i])) ++check.contradicting;
  }
  return check;
}

}  // namespace weft::probe
