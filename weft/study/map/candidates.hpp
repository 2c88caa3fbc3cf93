// SPDX-License-Identifier: Apache-2.0
// Maps that can be made at once, without search.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include <weft/study/map/judge.hpp>
#include <weft/study/map/problem.hpp>
#include <weft/study/map/structure.hpp>

namespace weft::map {

struct Candidate {
  std::string name;
  RankMap map;
  double value = 0;    // Value of the objective; less is better.
  double seconds = 0;  // On the simulator, if it was played to its end.
};

struct CandidateChoice {
  bool scotch = true, bisection = true, structure = true;
  std::uint64_t seed = 1;
};

// Identity first, which is always there; then Scotch's map, those by bisection, and rows of ranks
// laid along curves, for the given order and for every numbering. Not yet judged.
std::vector<Candidate> make_candidates(const Problem& problem, const Objective& objective,
                                       const std::vector<Numbering>& numberings,
                                       const CandidateChoice& choice,
                                       const std::atomic<bool>* stop);

}  // namespace weft::map
