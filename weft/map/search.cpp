// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include <weft/base/pack.hpp>
#include <weft/base/rng.hpp>
#include <weft/map/chains.hpp>
#include <weft/map/crew.hpp>
#include <weft/map/search.hpp>

namespace weft::map {

namespace {

constexpr double nothing = std::numeric_limits<double>::infinity();

class Search {
 public:
  Search(const Problem& problem, const SearchOptions& options)
      : problem_(problem),
        options_(options),
        rng_(options.seed),
        ground_{problem, options.objective, options.goal, &halt_} {}

  Result<Found> run();

 private:
  double now() const { return options_.clock ? options_.clock() : 0; }
  double left() const { return options_.seconds - (now() - begun_); }
  bool timed() const { return options_.seconds > 0; }
  bool over() const { return halt_.load(); }
  void look(const Chains& chains, const char* doing);
  void keep_checkpoint(const Chains& chains);
  void go(Chains& chains, const char* doing);
  void take(Candidate candidate);

  void make_first();
  void choose_numberings();
  void probe();
  void choose_budget(double seconds_evaluation);
  void choose_tries();
  void agree(std::uint64_t& number);  // On process 0's.
  void search_linear();
  void anneal();
  Status choose_by_time();

  std::unique_ptr<Chain> linear_chain(std::size_t index, const LinearTask& task);

  const Problem& problem_;
  const SearchOptions& options_;
  Rng rng_;
  double begun_ = 0;
  double checked_ = 0;
  std::atomic<bool> halt_ = false;
  ChainGround ground_;
  std::vector<Numbering> numberings_, linear_;  // All, and those that fit a linear search.
  std::vector<Candidate> candidates_;           // Best first.
  double identity_ = 0;
  Budget budget_;
  double linear_share_ = 0;  // Of the time, if it is to be shared out.
  Found found_;
};

void Search::take(Candidate candidate) {
  if (candidate.map.empty()) return;
  const auto place =
      std::upper_bound(candidates_.begin(), candidates_.end(), candidate,
                       [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
  candidates_.insert(place, std::move(candidate));
}

void Search::look(const Chains& chains, const char* doing) {
  if (options_.stop != nullptr && options_.stop->load()) halt_ = true;
  if (timed() && left() < 0) halt_ = true;
  Standing standing{-1, identity_, candidates_.empty() ? 0 : candidates_.front().value, 0, doing};
  std::uint64_t planned = 0;
  std::uint64_t done = 0;
  int active = 0;
  for (const auto& chain : chains) {
    planned += chain->planned;
    done += chain->done.load();
    standing.best = standing.best > 0 ? std::min(standing.best, chain->best.load()) : 0;
    if (chain->acceptance.load() > 0) {
      standing.acceptance += chain->acceptance.load();
      ++active;
    }
  }
  if (active > 0) standing.acceptance /= active;
  keep_checkpoint(chains);
  if (timed())
    standing.share = std::min(1.0, (now() - begun_) / options_.seconds);
  else if (planned > 0)
    standing.share = static_cast<double>(done) / static_cast<double>(planned);
  if (options_.report) options_.report(standing);
}

void Search::keep_checkpoint(const Chains& chains) {
  constexpr double every = 5;  // Seconds.
  if (!options_.checkpoint || candidates_.empty() || now() - checked_ < every) return;
  checked_ = now();
  Candidate best = candidates_.front();
  for (const auto& chain : chains) {
    chain->asked = true;  // For the next time.
    const std::lock_guard lock(chain->mutex);
    if (!chain->shown.map.empty() && chain->shown.value < best.value) best = chain->shown;
  }
  options_.checkpoint(best);
}

// Chains of this process's share, and then everybody's results.
void Search::go(Chains& chains, const char* doing) {
  Peers* const peers = options_.peers;
  const auto self = static_cast<std::size_t>(peers == nullptr ? 0 : peers->self());
  const auto count = static_cast<std::size_t>(peers == nullptr ? 1 : peers->count());
  std::atomic<std::size_t> winner = chains.size();
  std::vector<Chain*> mine;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i]->index = i;
    chains[i]->winner = &winner;
    if (i % count == self) mine.push_back(chains[i].get());
  }
  work_off(
      mine.size(), options_.threads, [&](std::size_t i) { mine[i]->made = mine[i]->run(*mine[i]); },
      [&] { look(chains, doing); });
  if (peers != nullptr && exchange(chains, *peers, halt_.load())) halt_ = true;
  for (const auto& chain : chains) {
    take(chain->made);
    if (!ground_.is_perfect(chain->made.value)) continue;
    halt_ = true;
    break;  // What those behind it made depends on when they were told.
  }
  if (options_.checkpoint && !candidates_.empty()) options_.checkpoint(candidates_.front());
}

// Those in which linear maps begin well.
void Search::choose_numberings() {
  constexpr double hopeless = 3;
  std::vector<std::pair<double, const Numbering*>> begun;
  double best = nothing;
  for (const Numbering& n : numberings_) {
    if (!LinearSearch::fits(problem_, n)) continue;
    const LinearSearch linear(problem_, options_.objective, n, LinearSearch::Start::best, rng_);
    begun.emplace_back(linear.best_value(), &n);
    best = std::min(best, linear.best_value());
  }
  for (const auto& [value, numbering] : begun)
    if (value <= hopeless * best) linear_.push_back(*numbering);
}

// Everything that needs no search, judged by all threads.
void Search::make_first() {
  numberings_.push_back(as_given(problem_));
  if (options_.choice.structure) {
    for (Numbering& n : find_grids(problem_)) numberings_.push_back(std::move(n));
    choose_numberings();
  }
  CandidateChoice choice = options_.choice;
  choice.seed = options_.seed;
  std::vector<Candidate> made =
      make_candidates(problem_, options_.objective, numberings_, choice, &halt_);
  for (const Candidate& given : options_.given) made.push_back(given);
  work_off(
      made.size(), options_.threads,
      [&](std::size_t i) {
        const auto own = ground_.ways();
        made[i].value = judge(problem_, made[i].map, options_.objective, *own).value;
      },
      [&] { look({}, "first maps"); });
  identity_ = made.front().value;
  for (Candidate& one : made) take(std::move(one));
  if (ground_.is_perfect(candidates_.front().value)) halt_ = true;
  // Processes see a stop sign, or the end of the time, at different moments.
  if (options_.peers != nullptr) halt_ = options_.peers->least(halt_.load() ? 0 : 1) == 0;
}

std::unique_ptr<Chain> Search::linear_chain(std::size_t index, const LinearTask& task) {
  return make_linear_chain(ground_, task,
                           rng_.stream(task.from == 0 ? "linear" : "linear, on", index));
}

// A short search of each kind: tells what this pattern is like, and how fast this machine.
void Search::probe() {
  const std::uint64_t evaluations = std::clamp<std::uint64_t>(
      150'000'000 / std::max<std::uint64_t>(problem_.pairs(), 1), 64, 3000);
  const std::uint64_t tries = std::min<std::uint64_t>(30ull * problem_.slots(), 100'000);
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
  double linear = chains.size() == 2 ? chains[0]->made.value : nothing;
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
  // Who had no chain of a kind learns the time from those who had.
  if (options_.peers != nullptr) {
    std::vector<std::int64_t> longest;
    for (const double s : seconds) longest.push_back(-static_cast<std::int64_t>(s * 1e9));
    options_.peers->least(longest);
    for (std::size_t i = 0; i < seconds.size(); ++i)
      seconds[i] = -static_cast<double>(longest[i]) * 1e-9;
  }
  const auto evaluated = static_cast<double>(std::max<std::uint64_t>(chains[0]->done.load(), 1));
  choose_budget(chains.size() == 2 ? seconds[0] / evaluated : 0);
}

void Search::choose_budget(double seconds_evaluation) {
  budget_ = options_.budget;
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
  Annealer annealer(problem_, options_.objective, ground_.ways(), rng_.stream("pace"));
  annealer.start(candidates_.front().map, {});
  const double begun = now();
  annealer.run(few, few, &halt_);
  const double each = (now() - begun) / few;
  // Some of the time is for the end: judging, writing, and chains that do not end together.
  const double time = std::max(0.0, 0.93 * left()) * workers;
  budget_.tries = each > 0 ? static_cast<std::uint64_t>(time / each) : 0;
  agree(budget_.tries);
}

void Search::agree(std::uint64_t& number) {
  if (options_.peers == nullptr) return;
  Packer letter;
  letter.put(number);
  const PeerBytes agreed = options_.peers->spread(letter.take());
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

// The best few, each of another value, are played; the quickest wins.
Status Search::choose_by_time() {
  constexpr std::size_t played_max = 6;
  std::vector<std::pair<double, std::size_t>> times;
  double last = -1;
  for (std::size_t i = 0; i < candidates_.size() && times.size() < played_max; ++i) {
    if (candidates_[i].value == last) continue;
    last = candidates_[i].value;
    if (!times.empty() && options_.stop != nullptr && options_.stop->load()) break;
    if (options_.report)
      options_.report({-1, identity_, candidates_.front().value, 0, "simulating the best maps"});
    const auto time = options_.play(candidates_[i].map);
    if (!time) return Error(time.error());
    times.emplace_back(*time, i);
  }
  const std::size_t winner = std::min_element(times.begin(), times.end())->second;
  std::rotate(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(winner),
              candidates_.begin() + static_cast<std::ptrdiff_t>(winner) + 1);
  return {};
}

Result<Found> Search::run() {
  begun_ = now();
  make_first();
  if (options_.anneal && problem_.pairs() > 0 && !over()) {
    probe();
    search_linear();
    anneal();
  }
  if (options_.objective.by_time && options_.play) {
    if (Status s = choose_by_time(); !s) return std::move(s).error();
  }
  found_.stopped = options_.stop != nullptr && options_.stop->load();
  found_.best = candidates_.front();
  found_.perfect = ground_.is_perfect(found_.best.value);
  found_.used = budget_;
  constexpr std::size_t maps_kept = 8;
  for (std::size_t i = maps_kept; i < candidates_.size(); ++i) candidates_[i].map = {};
  found_.candidates = std::move(candidates_);
  return std::move(found_);
}

}  // namespace

Result<Found> search(const Problem& problem, const SearchOptions& options) {
  if (auto ways = make_ways(problem.topology(), problem.routing()); !ways)
    return std::move(ways).error();
  return Search(problem, options).run();
}

}  // namespace weft::map
