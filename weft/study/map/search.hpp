// SPDX-License-Identifier: Apache-2.0
// The best map that can be found in given time or work. Maps made at once are judged; linear maps
// are searched where they fit; the best of all are annealed; the best that was ever seen is kept.
// So the result is never worse than identity, Scotch's map, or a map that was given to start from.
//
// All that is searched is cut into chains whose number and length the budget says. Each has random
// numbers of its own, so the result depends on seed and budget, and not on threads or processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/study/map/candidates.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

struct Budget {
  std::uint64_t evaluations = 0;     // Whole maps to evaluate in the search for linear ones.
  std::uint64_t tries = 0;           // Swaps to try in annealing.
  std::uint32_t chains = 4;          // Parallel chains of annealing.
  std::uint32_t trial_effort = 100;  // Percent of the usual effort of trial runs.
  // True: what is better spent otherwise may be, as seen after the first tries.
  bool flexible = true;

  bool operator==(const Budget&) const = default;
};

// "fast", "balanced" or "best".
Result<Budget> preset_budget(std::string_view name, const Problem& problem);

// How far a search has come.
struct Standing {
  double share = 0;            // Share of the planned work that is done; below 0: unknown.
  double first = 0, best = 0;  // Values of the identity, and of the best map so far.
  double acceptance = 0;       // Share of the latest moves that were kept.
  std::string doing;
};

struct SearchOptions {
  Objective objective;
  std::uint64_t seed = 1;
  int threads = 1;
  Budget budget;
  double seconds = 0;  // Above 0: as much as can be done in this time, whatever the budget says.
  CandidateChoice choice;
  bool anneal = true;
  double goal = 0;               // A value that no map can beat: a chain that reaches it ends.
  std::vector<Candidate> given;  // Also candidates; no values needed.

  // All may be empty. Called by the calling thread.
  std::function<double()> clock;  // Seconds from any start; needed where time matters.
  std::function<void(const Standing&)> report;
  std::function<void(const Candidate&)> checkpoint;  // The best so far, now and then.
  // Seconds that a map takes on the simulator, or the limit if it is more: the last word where the
  // objective is time. Ends soon, with any number, when `stop` is raised. One call at a time.
  std::function<Result<double>(const RankMap&, double limit, const std::atomic<bool>& stop)> play;

  const std::atomic<bool>* stop = nullptr;  // Raised: end soon, with the best so far.
  ProcessGroup* peers = nullptr;            // The processes that share the work; null: alone.
};

struct Found {
  Candidate best;
  std::vector<Candidate>
      candidates;  // What was made or found, best first; the first few with maps.
  Budget used;     // As a budget that repeats it all, if it was not stopped.
  bool stopped = false;
  bool late = false;     // The time was over before the work was done: nothing repeats it.
  bool perfect = false;  // The goal was reached.
  std::uint64_t evaluations = 0, tries = 0;  // Done.
};

Result<Found> search(const Problem& problem, const SearchOptions& options);

}  // namespace weft::map
