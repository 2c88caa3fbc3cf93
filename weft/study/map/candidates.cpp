// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <utility>

#include <weft/study/map/bisect.hpp>
#include <weft/study/map/candidates.hpp>
#include <weft/study/map/curves.hpp>
#include <weft/study/map/scotch.hpp>

namespace weft::map {

std::vector<Candidate> make_candidates(const Problem& problem, const Objective& objective,
                                       const std::vector<Numbering>& numberings,
                                       const CandidateChoice& choice,
                                       const std::atomic<bool>* stop) {
  std::vector<Candidate> made;
  const auto stopped = [&] { return stop != nullptr && stop->load(); };
  made.push_back({"identity", problem.in_order(), 0});
  if (choice.scotch) {
    if (auto map = scotch_map(problem); map) made.push_back({"scotch", *std::move(map), 0});
  }
  if (choice.bisection) {
    for (const bool last : {false, true}) {
      if (stopped()) break;
      const BisectOptions options{static_cast<std::uint32_t>(choice.seed), last, stop};
      made.push_back({last ? "bisection, last axis first" : "bisection",
                      bisect(problem, objective, options), 0});
    }
  }
  if (!choice.structure) return made;
  std::vector<std::uint32_t> plain(problem.slots());
  std::iota(plain.begin(), plain.end(), 0u);
  const std::vector<std::pair<std::string, std::vector<std::uint32_t>>> rows = {
      {"in order", plain}, {"snake", snake(problem)}, {"blocks", blocks(problem)}};
  for (const Numbering& numbering : numberings) {
    for (const auto& [name, slots] : rows) {
      if (stopped()) return made;
      if (numbering.name == "given" && name == "in order") continue;  // The identity.
      made.push_back({numbering.name + ", " + name, problem.in_order(numbering.order, slots), 0});
    }
  }
  return made;
}

}  // namespace weft::map
