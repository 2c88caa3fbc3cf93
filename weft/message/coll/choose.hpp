// SPDX-License-Identifier: Apache-2.0
// Which algorithm does a collective operation: a table of rules by ranks and bytes, or what the
// user forces. An algorithm that cannot do the case at hand (an operator that does not commute, no
// grid or groups known) gives way to the rules, whose last line for each operation can do
// everything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// What is known when an operation begins; the same at all ranks, or they would not understand each
// other. `bytes` is what one rank holds of the operation at its end (of gather and scatter: one
// block; of alltoall: one block).
struct Case {
  Operation operation = Operation::barrier;
  int ranks = 1;
  std::size_t bytes = 0;
  std::int64_t elements = 0;  // Of reductions.
  bool commutative = true;
  bool grid = false;
  bool groups = false;
};

// What ranks better send to their own group and to one of each other group, who pass it on: these
// are whom they are connected to (conn).
enum class Keeping : std::uint8_t {
  nothing,
  short_blocks,  // Shortcuts do for everybody: only what is short, and known to be so.
  most_blocks,   // Up to where passing on takes longer than to open a connection.
};

// What the user forces, and what is known of the machine; the same for all ranks.
class Choices {
 public:
  // "alltoall=bruck"; several with commas. A wrong word is an error that names the right ones.
  Status force(std::string_view text);
  void force(Operation operation, Algorithm algorithm) {
    forced_[static_cast<std::size_t>(operation)] = algorithm;
  }
  Algorithm forced(Operation operation) const {
    return forced_[static_cast<std::size_t>(operation)];
  }
  bool forces(Algorithm algorithm) const;  // For any operation.

  // How all ranks of the job stand in the machine; without extents: unknown, or in no grid.
  const Grid& machine() const { return machine_; }
  void set_machine(Grid grid) { machine_ = std::move(grid); }
  // Which ranks of the job are near to each other; null: unknown.
  const Groups* groups() const { return groups_; }
  bool may_keep_to_groups() const { return keeping_ != Keeping::nothing; }
  bool keeps_to_groups(const Case& given) const;
  void set_groups(const Groups& groups, Keeping keeping) {
    groups_ = &groups;
    keeping_ = keeping;
  }

 private:
  std::array<Algorithm, operation_count> forced_ = {};
  Grid machine_;
  const Groups* groups_ = nullptr;
  Keeping keeping_ = Keeping::nothing;
};

// Never automatic, and able to do the case. `choices` may be null.
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
