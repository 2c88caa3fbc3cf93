// SPDX-License-Identifier: Apache-2.0
// What a search does one after the other, once there are first maps.
#include <algorithm>
#include <utility>

#include <weft/base/pack.hpp>
#include <weft/study/map/run_jobs.hpp>
#include <weft/study/map/search_run.hpp>

namespace weft::map::detail {

std::unique_ptr<Chain> Search::linear_chain(std::size_t index, const LinearTask& task) {
  return make_linear_chain(ground_, task,
                           rng_.stream(task.from == 0 ? "linear" : "linear, on", index));
}

// A short search of each kind: tells what this pattern is like, and how fast this machine.
void Search::probe() {
  // Not more than a small part of a short time.
  constexpr double long_enough = 20;  // Seconds.
  budget_.trial_effort = options_.budget.trial_effort;
  if (timed() && options_.seconds < long_enough)
    budget_.trial_effort = static_cast<std::uint32_t>(1 + 99 * options_.seconds / long_enough);
  const auto part = [&](std::uint64_t n) {
    return std::max<std::uint64_t>(n * budget_.trial_effort / 100, 16);
  };
  const std::uint64_t evaluations = part(std::clamp<std::uint64_t>(
      150'000'000 / std::max<std::uint64_t>(problem_.pairs(), 1), 64, 3000));
  const std::uint64_t tries = part(std::min<std::uint64_t>(30ull * problem_.slots(), 100'000));
  Chains chains;
  constexpr std::size_t own = 1'000'000;  // Random numbers of no other chain.
  if (!linear_.empty())
    chains.push_back(linear_chain(
        own, {linear_[0], LinearSearch::Start::plain, 0, evaluations, evaluations, nullptr}));
  chains.push_back(make_anneal_chain(ground_, {candidates_.front(), {0.05, 0.002, 8, 32}, tries},
                                     rng_.stream("anneal", own)));
  std::vector<double> seconds(chains.size(), 0);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i]->run = [this, &seconds, i, inner = std::move(chains[i]->run)](Chain& self) {
      const double begun = now();
      Candidate made = inner(self);
      seconds[i] = now() - begun;
      return made;
    };
  }
  go(chains, "first tries");
  double linear = nothing;
  if (chains.size() == 2) linear = chains[0]->made.value;
  for (const Candidate& c : candidates_)
    if (c.name.starts_with("linear")) linear = std::min(linear, c.value);
  const double annealed = chains.back()->made.value;
  found_.evaluations += chains.size() == 2 ? chains[0]->done.load() : 0;
  found_.tries += chains.back()->done.load();
  linear_share_ = 0.45;
  // Linear maps have only begun to be good after so few: they may be somewhat worse as yet.
  if (linear < 1.5 * annealed) linear_share_ = 0.85;
  if (linear > 4 * annealed) linear_share_ = 0.05;
  if (linear_.empty()) linear_share_ = 0;
  // A process that had no chain of a kind learns its time from processes that had one.
  if (options_.peers != nullptr) {
    std::vector<std::int64_t> longest;
    for (const double s : seconds) longest.push_back(-static_cast<std::int64_t>(s * 1e9));
    options_.peers->all_reduce_min(longest);
    for (std::size_t i = 0; i < seconds.size(); ++i)
      seconds[i] = -static_cast<double>(longest[i]) * 1e-9;
  }
  const auto evaluated = static_cast<double>(std::max<std::uint64_t>(chains[0]->done.load(), 1));
  choose_budget(chains.size() == 2 ? seconds[0] / evaluated : 0);
}

void Search::choose_budget(double seconds_evaluation) {
  const std::uint32_t trial_effort = budget_.trial_effort;
  budget_ = options_.budget;
  budget_.trial_effort = trial_effort;
  if (timed()) {
    const int workers =
        options_.threads * (options_.peers == nullptr ? 1 : options_.peers->count());
    const double time = std::max(0.0, left()) * workers * linear_share_;
    budget_.evaluations =
        seconds_evaluation > 0 ? static_cast<std::uint64_t>(time / seconds_evaluation) : 0;
    budget_.chains = std::max(4u, static_cast<std::uint32_t>(2 * workers));
  } else if (budget_.flexible) {
    budget_.evaluations =
        static_cast<std::uint64_t>(static_cast<double>(budget_.evaluations) * linear_share_ / 0.5);
    budget_.tries =
        static_cast<std::uint64_t>(static_cast<double>(budget_.tries) * (1 - linear_share_) / 0.5);
  }
  budget_.flexible = false;
  agree(budget_.evaluations);
}

// What can be tried in the time that is left, by how long a few take from where the best map
// stands.
void Search::choose_tries() {
  if (!timed()) return;
  constexpr std::uint64_t few = 4096;
  const int workers = options_.threads * (options_.peers == nullptr ? 1 : options_.peers->count());
  // Hot, once a chain has melted what it began with and keeps most, which costs most; and cold. A
  // chain that cools is half-way between.
  const auto pace = [&](double heat) {
    Annealer annealer(problem_, options_.objective, ground_.paths(), rng_.stream("pace"));
    annealer.start(candidates_.front().map, {heat, heat, 8, 8});
    annealer.run(3 * few, 4 * few, &halt_);
    const double begun = now();
    annealer.run(few, 4 * few, &halt_);
    return (now() - begun) / few;
  };
  const double each = (pace(0.1) + pace(0.003)) / 2;
  // Some of the time is for the end: judging, writing, and chains that do not end together.
  const double time = std::max(0.0, 0.85 * left()) * workers;
  budget_.tries = each > 0 ? static_cast<std::uint64_t>(time / each) : 0;
  agree(budget_.tries);
}

void Search::agree(std::uint64_t& number) {
  if (options_.peers == nullptr) return;
  Packer letter;
  letter.put(number);
  const PeerBytes agreed = options_.peers->broadcast(letter.take());
  number = Unpacker(agreed).take<std::uint64_t>();
}

// Eight chains until it is clear which basins they are in, then copies of the best two.
void Search::search_linear() {
  constexpr std::uint64_t population = 8;
  constexpr std::uint64_t best = 2;
  constexpr std::uint64_t copies = 3;
  constexpr double turn = 0.55;
  constexpr std::uint64_t length_min = 200;
  const auto length = static_cast<std::uint64_t>(
      static_cast<double>(budget_.evaluations) /
      (static_cast<double>(population) * turn + static_cast<double>(best * copies) * (1 - turn)));
  if (linear_.empty() || length < length_min || over()) return;
  const auto half = static_cast<std::uint64_t>(static_cast<double>(length) * turn);
  Chains chains;
  for (std::uint64_t i = 0; i < population; ++i)
    // Most from plain numbers, as they lead to more places.
    chains.push_back(
        linear_chain(i, {linear_[i % linear_.size()],
                         i % 4 == 3 ? LinearSearch::Start::best : LinearSearch::Start::plain, 0,
                         half, length, nullptr}));
  go(chains, "linear maps");
  for (const auto& chain : chains) found_.evaluations += chain->done.load();
  if (over()) return;
  std::vector<std::size_t> order(chains.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return chains[a]->made.value < chains[b]->made.value;
  });
  Chains second;
  for (std::uint64_t k = 0; k < copies; ++k) {
    for (std::uint64_t i = 0; i < best; ++i) {
      const Numbering& numbering = linear_[order[i] % linear_.size()];
      second.push_back(linear_chain(k * best + i, {numbering, LinearSearch::Start::plain, half,
                                                   length, length, &chains[order[i]]->state}));
    }
  }
  go(second, "linear maps");
  for (const auto& chain : second) found_.evaluations += chain->done.load();
}

// First from several starts, gently and hotter; then the better half of what came out.
void Search::anneal() {
  const Cooling gentle{0.03, 0.001, 8, 32};
  const Cooling warm{0.1, 0.001, 8, 32};
  if (over()) return;
  choose_tries();
  const std::uint64_t tries = budget_.tries * 4 / 10 / budget_.chains;
  if (tries == 0) return;
  // Different maps: of those that come from one source, the best.
  std::vector<const Candidate*> starts;
  for (const Candidate& c : candidates_) {
    const auto same = [&](const Candidate* other) { return other->value == c.value; };
    if (std::none_of(starts.begin(), starts.end(), same)) starts.push_back(&c);
    if (starts.size() == budget_.chains) break;
  }
  Chains chains;
  for (std::uint32_t i = 0; i < budget_.chains; ++i) {
    const Candidate& start = *starts[(i / 2) % starts.size()];
    chains.push_back(make_anneal_chain(ground_, {start, i % 2 == 0 ? gentle : warm, tries},
                                       rng_.stream("anneal", i)));
  }
  go(chains, "annealing");
  for (const auto& chain : chains) found_.tries += chain->done.load();
  if (over()) return;
  const std::uint32_t kept = std::max(1u, budget_.chains / 2);
  const std::uint64_t rest = (budget_.tries - tries * budget_.chains) / kept;
  std::stable_sort(chains.begin(), chains.end(),
                   [](const auto& a, const auto& b) { return a->made.value < b->made.value; });
  Chains second;
  for (std::uint32_t i = 0; i < kept; ++i) {
    // From where the best stands; every other one from the best of all.
    const Candidate& start = i % 2 == 1 ? candidates_.front() : chains[i / 2]->made;
    second.push_back(make_anneal_chain(ground_, {start, {0.03, 0.0005, 8, 32}, rest},
                                       rng_.stream("anneal, on", i)));
  }
  go(second, "annealing");
  for (const auto& chain : second) found_.tries += chain->done.load();
}

// The best few, each of another value, and those that no result may be worse than; the quickest
// wins.
Status Search::choose_by_time() {
  if (options_.peers != nullptr && options_.peers->self() != 0) return {};  // One reports.
  constexpr std::size_t best_few = 6;
  seconds_ = options_.seconds;
  if (!(options_.stop != nullptr && options_.stop->load())) halt_ = found_.late = false;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& c = candidates_[i];
    const bool floor = c.name == "identity" || c.name == "scotch" || c.name.starts_with("given (");
    const bool known = i > 0 && c.value == candidates_[i - 1].value;
    if (floor || (!known && order.size() < best_few)) order.push_back(i);
  }
  double quickest = nothing;
  std::size_t winner = 0;
  for (const std::size_t i : order) {
    Result<double> time = nothing;
    const auto job = [&](std::size_t) {
      time = options_.play(candidates_[i].map, quickest, halt_);
    };
    run_jobs(1, 1, job, [&] { or_halt([&] { look({}, "simulating the best maps"); }); });
    if (!time) return Error(time.error());
    if (over()) break;
    if (*time >= quickest) continue;
    quickest = candidates_[i].seconds = *time;
    winner = i;
  }
  const auto at = candidates_.begin() + static_cast<std::ptrdiff_t>(winner);
  std::rotate(candidates_.begin(), at, at + 1);
  return {};
}

}  // namespace weft::map::detail
