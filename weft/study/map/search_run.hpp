// SPDX-License-Identifier: Apache-2.0
// One search as it goes on: private to search.cpp and search_phases.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/study/map/chains.hpp>
#include <weft/study/map/search.hpp>

namespace weft::map::detail {

inline constexpr double nothing = std::numeric_limits<double>::infinity();

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
  double left() const { return seconds_ - (now() - begun_); }
  bool timed() const { return options_.seconds > 0; }
  bool over() const { return halt_.load(); }
  void look(const Chains& chains, const char* doing);
  void keep_checkpoint(const Chains& chains);
  void go(Chains& chains, const char* doing);
  // If this fails, the other jobs end soon.
  template <typename Work>
  void or_halt(Work&& work) {
    try {
      work();
    } catch (...) {
      halt_ = true;
      throw;
    }
  }
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
  double seconds_ = 0;  // From then on, for what is being done.
  double checked_ = 0;
  std::atomic<bool> halt_ = false;
  ChainGround ground_;
  std::vector<Numbering> numberings_, linear_;  // All, and those that fit a linear search.
  std::vector<Candidate> candidates_;           // Best first.
  double identity_ = 0;
  Budget budget_;
  double linear_share_ = 0;  // Share of the time for linear maps, if time is limited.
  Found found_;
};

}  // namespace weft::map::detail
