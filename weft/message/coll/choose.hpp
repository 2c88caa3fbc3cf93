// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithm for a collective operation: by a table of rules over ranks and bytes, or as
// the user forces it. If an algorithm does not support a case (a non-commutative operator, no grid
// or groups known), the rules decide; the last rule for each operation supports everything.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/groups.hpp>
#include <weft/base/result.hpp>
#include <weft/message/coll/team.hpp>

namespace weft::coll {

enum class Operation : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  gatherv,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
};
inline constexpr std::size_t operation_count = 16;

enum class Algorithm : std::uint8_t {
  automatic,
  binomial,
  bruck,
  bucket,
  dissemination,
  groups,
  linear,
  pairwise,
  pipeline,
  rabenseifner,
  recursive_doubling,
  recursive_halving,
  reduce_bcast,
  reduce_scatterv,
  ring,
  scatter_allgather,
  tree,
};
inline constexpr std::size_t algorithm_count = 17;

// What is known when an operation starts. It must be the same at all ranks, since they all choose
// separately. `bytes` is what one rank holds at the end of the operation (gather, scatter and
// alltoall: one block).
struct Case {
  Operation operation = Operation::barrier;
  int ranks = 1;
  std::size_t bytes = 0;
  std::int64_t elements = 0;  // For reductions.
  bool commutative = true;
  bool grid = false;
  bool groups = false;
};

// Which blocks ranks had better send to their own group and to one rank of each other group, which
// forwards them: these are the ranks to which managed connections (conn) exist.
enum class Bundling : std::uint8_t {
  nothing,
  short_blocks,  // Shortcuts reach everybody, so only blocks that are known to be short.
  most_blocks,   // Blocks for which forwarding is faster than opening a connection.
};

// The largest block that is bundled: longer ones would take longer to forward than opening a
// connection takes.
inline constexpr std::size_t bundled_block_max = std::size_t{128} << 10;

// How often each algorithm was used by the ranks of this process. A call counts once, at the first
// rank of its team; calls without data and in teams of one do not count. A call
// between two groups has no algorithm to choose; what its groups do inside counts.
class Usage {
 public:
  void add(Operation operation, Algorithm algorithm) {
    counts_[static_cast<std::size_t>(operation)][static_cast<std::size_t>(algorithm)].fetch_add(
        1, std::memory_order_relaxed);
  }
  // By "allreduce=recursive-doubling", the words that force it; without those never used.
  std::map<std::string, std::uint64_t> by_name() const;

 private:
  std::array<std::array<std::atomic<std::uint64_t>, algorithm_count>, operation_count> counts_ = {};
};

// What the user forces, and what is known about the machine; the same for all ranks.
class Choices {
 public:
  // "alltoall=bruck"; several separated by commas. The error for a wrong word names the valid ones.
  Status force(std::string_view text);
  void force(Operation operation, Algorithm algorithm) {
    forced_[static_cast<std::size_t>(operation)] = algorithm;
  }
  Algorithm forced(Operation operation) const {
    return forced_[static_cast<std::size_t>(operation)];
  }
  bool forces(Algorithm algorithm) const;  // For any operation.

  // The grid that all ranks of the job form; without extents: unknown, or no grid.
  const Grid& machine() const { return machine_; }
  void set_machine(Grid grid) { machine_ = std::move(grid); }
  // Which ranks of the job are near each other; null: unknown.
  const Groups* groups() const { return groups_; }
  bool may_bundle_by_group() const { return bundling_ != Bundling::nothing; }
  bool keeps_to_groups(const Case& given) const;
  void set_groups(const Groups& groups, Bundling bundling) {
    groups_ = &groups;
    bundling_ = bundling;
  }

  // Where to count which algorithms are used; null: nowhere.
  Usage* usage() const { return usage_; }
  void set_usage(Usage& usage) { usage_ = &usage; }

 private:
  std::array<Algorithm, operation_count> forced_ = {};
  Grid machine_;
  const Groups* groups_ = nullptr;
  Bundling bundling_ = Bundling::nothing;
  Usage* usage_ = nullptr;
};

// Never returns `automatic`; the result supports the case. `choices` may be null.
Algorithm choose(const Case& given, const Choices* choices);

struct AlgorithmEntry {
  Operation operation;
  Algorithm algorithm;
  std::string_view help;  // One line.
};
std::span<const AlgorithmEntry> algorithms();
std::string_view name(Operation operation);
std::string_view name(Algorithm algorithm);
// One line per operation: its algorithms, for help texts.
std::string list_algorithms();

}  // namespace weft::coll
