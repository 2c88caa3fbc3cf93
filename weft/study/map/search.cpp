// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <weft/study/map/run_jobs.hpp>
#include <weft/study/map/search.hpp>
#include <weft/study/map/search_run.hpp>

namespace weft::map {

namespace detail {

void Search::take(Candidate candidate) {
  if (candidate.map.empty()) return;
  const auto place =
      std::upper_bound(candidates_.begin(), candidates_.end(), candidate,
                       [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
  candidates_.insert(place, std::move(candidate));
}

void Search::look(const Chains& chains, const char* doing) {
  if (options_.stop != nullptr && options_.stop->load()) halt_ = true;
  if (timed() && left() < 0) halt_ = found_.late = true;
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
  ProcessGroup* const peers = options_.peers;
  const auto self = static_cast<std::size_t>(peers == nullptr ? 0 : peers->self());
  const auto count = static_cast<std::size_t>(peers == nullptr ? 1 : peers->count());
  std::atomic<std::size_t> winner = chains.size();
  std::vector<Chain*> mine;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i]->index = i;
    chains[i]->winner = &winner;
    if (i % count == self) mine.push_back(chains[i].get());
  }
  run_jobs(
      mine.size(), options_.threads,
      [&](std::size_t i) { or_halt([&] { mine[i]->made = mine[i]->run(*mine[i]); }); },
      [&] { or_halt([&] { look(chains, doing); }); });
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
  std::vector<Candidate> made;
  const auto build = [&](std::size_t) {
    numberings_.push_back(as_given(problem_));
    if (options_.choice.structure && !over()) {
      for (Numbering& n : find_grids(problem_)) numberings_.push_back(std::move(n));
      if (!over()) choose_numberings();
    }
    CandidateChoice choice = options_.choice;
    choice.seed = options_.seed;
    made = make_candidates(problem_, options_.objective, numberings_, choice, &halt_);
  };
  // By a thread of its own, so that this one can look at the clock.
  run_jobs(1, 1, build, [&] { or_halt([&] { look({}, "first maps"); }); });
  for (const Candidate& given : options_.given) made.push_back(given);
  run_jobs(
      made.size(), options_.threads,
      [&](std::size_t i) {
        const auto own = ground_.paths();
        made[i].value = judge(problem_, made[i].map, options_.objective, *own).value;
      },
      [&] { look({}, "first maps"); });
  identity_ = made.front().value;
  for (Candidate& one : made) take(std::move(one));
  if (ground_.is_perfect(candidates_.front().value)) halt_ = true;
  // Processes see a stop sign, or the end of the time, at different moments.
  if (options_.peers != nullptr) halt_ = options_.peers->all_reduce_min(halt_.load() ? 0 : 1) == 0;
}

Result<Found> Search::run() {
  begun_ = now();
  // Where maps are played at the end, that takes time, too.
  const bool plays = options_.objective.by_time && options_.play;
  seconds_ = options_.seconds * (plays ? 0.6 : 1);
  make_first();
  if (options_.anneal && problem_.pairs() > 0 && !over()) {
    probe();
    search_linear();
    anneal();
  }
  if (plays) {
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

}  // namespace detail

Result<Found> search(const Problem& problem, const SearchOptions& options) {
  if (auto paths = make_paths(problem.topology(), problem.routing()); !paths)
    return std::move(paths).error();
  return detail::Search(problem, options).run();
}

}  // namespace weft::map
