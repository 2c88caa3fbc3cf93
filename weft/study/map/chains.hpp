// SPDX-License-Identifier: Apache-2.0
// Searches that run beside each other in one phase, on threads and processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/study/map/anneal.hpp>
#include <weft/study/map/candidates.hpp>
#include <weft/study/map/linear.hpp>

namespace weft::map {

// What all chains of a search share.
struct ChainGround {
  const Problem& problem;
  const Objective& objective;
  double goal = 0;                          // A value that cannot be beaten.
  const std::atomic<bool>* halt = nullptr;  // Raised: all end soon.

  bool is_perfect(double value) const { return value > 0 && value <= goal * (1 + 1e-12); }
  std::unique_ptr<Paths> paths() const;
};

// What was planned, how far it is, and what it made.
struct Chain {
  std::string name;
  std::function<Candidate(Chain&)> run;
  std::uint64_t planned = 1;
  std::atomic<std::uint64_t> done = 0;
  std::atomic<double> best = std::numeric_limits<double>::infinity();
  std::atomic<double> acceptance = 0;
  Candidate made;
  PeerBytes state;  // State of a linear search, to continue it.

  // The first chain of a phase that has reached the goal; those after it need not go on. Those
  // before it do, as one of them might get there, too: so the result does not depend on threads.
  std::size_t index = 0;
  std::atomic<std::size_t>* winner = nullptr;

  // A copy of the best so far, made when asked for.
  std::atomic<bool> asked = false;
  std::mutex mutex;
  Candidate shown;

  // Told by the chain itself; false: it need not go on.
  bool tell(const ChainGround& ground, double value, const RankMap& map);
};
using Chains = std::vector<std::unique_ptr<Chain>>;

struct LinearTask {
  const Numbering& numbering;
  LinearSearch::Start start = LinearSearch::Start::plain;
  std::uint64_t from = 0, to = 0, total = 0;  // Evaluations: those of `total` to be done here.
  const PeerBytes* state = nullptr;           // State of the chain that did those before `from`.
};
std::unique_ptr<Chain> make_linear_chain(const ChainGround& ground, const LinearTask& task,
                                         Rng rng);

struct AnnealTask {
  const Candidate& start;
  Cooling cooling;
  std::uint64_t tries = 0;
};
std::unique_ptr<Chain> make_anneal_chain(const ChainGround& ground, const AnnealTask& task,
                                         Rng rng);

// Chain i belongs to process i modulo their number. Each tells the others what its own have made;
// true if anybody was told to halt.
bool exchange(Chains& chains, ProcessGroup& peers, bool halted);

}  // namespace weft::map
