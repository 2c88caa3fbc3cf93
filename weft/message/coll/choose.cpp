// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/base/text.hpp>
#include <weft/message/coll/choose.hpp>

namespace weft::coll {

namespace {

constexpr std::array<std::string_view, operation_count> operation_names = {
    "barrier",        "bcast",
    "reduce",         "allreduce",
    "gather",         "scatter",
    "gatherv",        "scatterv",
    "allgather",      "allgatherv",
    "alltoall",       "alltoallv",
    "reduce_scatter", "reduce_scatter_block",
    "scan",           "exscan"};

constexpr std::array<std::string_view, algorithm_count> algorithm_names = {"automatic",
                                                                           "binomial",
                                                                           "bruck",
                                                                           "bucket",
                                                                           "dissemination",
                                                                           "groups",
                                                                           "linear",
                                                                           "pairwise",
                                                                           "pipeline",
                                                                           "rabenseifner",
                                                                           "recursive-doubling",
                                                                           "recursive-halving",
                                                                           "reduce-bcast",
                                                                           "reduce-scatter",
                                                                           "ring",
                                                                           "scatter-allgather",
                                                                           "tree"};

using enum Operation;
using A = Algorithm;

constexpr std::array all_algorithms = {
    AlgorithmEntry{barrier, A::dissemination, "log2 p rounds, each rank sends in each"},
    AlgorithmEntry{barrier, A::tree, "up and down a binomial tree"},
    AlgorithmEntry{barrier, A::linear, "all notify rank 0, rank 0 notifies all"},
    AlgorithmEntry{bcast, A::binomial, "down a binomial tree"},
    AlgorithmEntry{bcast, A::scatter_allgather, "pieces down a tree, then round a ring"},
    AlgorithmEntry{bcast, A::pipeline, "segments along a chain of all ranks"},
    AlgorithmEntry{bcast, A::linear, "the root sends to everyone"},
    AlgorithmEntry{bcast, A::bucket, "pieces along the rings of a torus, both ways"},
    AlgorithmEntry{reduce, A::binomial, "up a binomial tree"},
    AlgorithmEntry{reduce, A::rabenseifner, "halves exchanged, then gathered"},
    AlgorithmEntry{reduce, A::linear, "everyone sends to the root"},
    AlgorithmEntry{allreduce, A::recursive_doubling, "whole vectors exchanged, log2 p rounds"},
    AlgorithmEntry{allreduce, A::rabenseifner, "halves exchanged, then doubled again"},
    AlgorithmEntry{allreduce, A::ring, "pieces twice round a ring"},
    AlgorithmEntry{allreduce, A::reduce_bcast, "to rank 0 and back"},
    AlgorithmEntry{allreduce, A::bucket, "pieces along the rings of a torus, both ways"},
    AlgorithmEntry{gather, A::binomial, "up a binomial tree"},
    AlgorithmEntry{gather, A::linear, "everyone sends to the root"},
    AlgorithmEntry{scatter, A::binomial, "down a binomial tree"},
    AlgorithmEntry{scatter, A::linear, "the root sends to everyone"},
    AlgorithmEntry{gatherv, A::linear, "everyone sends to the root"},
    AlgorithmEntry{scatterv, A::linear, "the root sends to everyone"},
    AlgorithmEntry{allgather, A::bruck, "log2 p rounds of doubling, and a rotation"},
    AlgorithmEntry{allgather, A::recursive_doubling, "log2 p exchanges of doubling"},
    AlgorithmEntry{allgather, A::ring, "round a ring"},
    AlgorithmEntry{allgather, A::linear, "everyone sends to everyone"},
    AlgorithmEntry{allgather, A::bucket, "round the rings of a torus, both ways"},
    AlgorithmEntry{allgatherv, A::bruck, "log2 p rounds of doubling, and a rotation"},
    AlgorithmEntry{allgatherv, A::ring, "round a ring"},
    AlgorithmEntry{allgatherv, A::linear, "everyone sends to everyone"},
    AlgorithmEntry{alltoall, A::bruck, "log2 p rounds of half of the blocks"},
    AlgorithmEntry{alltoall, A::pairwise, "one partner after the other"},
    AlgorithmEntry{alltoall, A::linear, "a few partners at a time"},
    AlgorithmEntry{alltoall, A::bucket, "one dimension of a torus after the other"},
    AlgorithmEntry{alltoall, A::groups, "to one rank of each group, which distributes"},
    AlgorithmEntry{alltoallv, A::pairwise, "one partner after the other"},
    AlgorithmEntry{alltoallv, A::linear, "a few partners at a time"},
    AlgorithmEntry{alltoallv, A::groups, "to one rank of each group, which distributes"},
    AlgorithmEntry{reduce_scatter, A::recursive_halving, "halves exchanged, log2 p rounds"},
    AlgorithmEntry{reduce_scatter, A::pairwise, "one partner after the other"},
    AlgorithmEntry{reduce_scatter, A::ring, "round a ring"},
    AlgorithmEntry{reduce_scatter, A::reduce_scatterv, "to rank 0, then scattered"},
    AlgorithmEntry{reduce_scatter_block, A::recursive_halving, "halves exchanged, log2 p rounds"},
    AlgorithmEntry{reduce_scatter_block, A::pairwise, "one partner after the other"},
    AlgorithmEntry{reduce_scatter_block, A::ring, "round a ring"},
    AlgorithmEntry{reduce_scatter_block, A::reduce_scatterv, "to rank 0, then scattered"},
    AlgorithmEntry{reduce_scatter_block, A::bucket, "round the rings of a torus, both ways"},
    AlgorithmEntry{scan, A::recursive_doubling, "log2 p exchanges"},
    AlgorithmEntry{scan, A::linear, "from rank to rank"},
    AlgorithmEntry{exscan, A::recursive_doubling, "log2 p exchanges"},
    AlgorithmEntry{exscan, A::linear, "from rank to rank"},
};

constexpr int any_ranks = std::numeric_limits<int>::max();
constexpr std::size_t any_bytes = std::numeric_limits<std::size_t>::max();

// The first rule that applies and whose algorithm supports the case is used.
struct Rule {
  Operation operation;
  int ranks_max;
  std::size_t bytes_max;
  Algorithm algorithm;
};

// The reasoning, in the model where a message costs a latency and a time per byte. Up to a few KB
// latency dominates: fewest rounds win (trees, doubling, Bruck). Above, bytes dominate: no rank
// should send its data more than about twice (scatter-allgather, Rabenseifner, rings). In between,
// the limits follow the usual eager limits of networks, as a rendezvous adds a round trip to each
// round. On a grid large messages go to neighbours only, so no two share a link.
constexpr std::array rules = {
    Rule{barrier, any_ranks, any_bytes, A::dissemination},

    Rule{bcast, any_ranks, 12288, A::binomial},
    Rule{bcast, 7, 524288, A::binomial},  // A ring of few ranks saves little.
    Rule{bcast, any_ranks, 65536, A::scatter_allgather},
    Rule{bcast, any_ranks, any_bytes, A::bucket},
    Rule{bcast, 1024, any_bytes, A::scatter_allgather},
    // A ring of p pieces would send tiny messages; a chain's segments keep their size.
    Rule{bcast, any_ranks, 4194304, A::binomial},
    Rule{bcast, any_ranks, any_bytes, A::pipeline},

    Rule{reduce, any_ranks, 4096, A::binomial},
    Rule{reduce, any_ranks, any_bytes, A::rabenseifner},
    Rule{reduce, any_ranks, any_bytes, A::binomial},  // Fewer elements than ranks.

    Rule{allreduce, any_ranks, 4096, A::recursive_doubling},
    Rule{allreduce, any_ranks, 65536, A::rabenseifner},
    Rule{allreduce, any_ranks, any_bytes, A::bucket},
    Rule{allreduce, any_ranks, 1048576, A::rabenseifner},
    Rule{allreduce, 64, any_bytes, A::ring},  // Neighbours only; its 2p rounds must stay few.
    Rule{allreduce, any_ranks, any_bytes, A::rabenseifner},
    Rule{allreduce, any_ranks, any_bytes, A::recursive_doubling},

    Rule{gather, any_ranks, 16384, A::binomial},
    Rule{gather, any_ranks, any_bytes, A::linear},  // Each byte crosses one link into the root.
    Rule{scatter, any_ranks, 16384, A::binomial},
    Rule{scatter, any_ranks, any_bytes, A::linear},
    Rule{gatherv, any_ranks, any_bytes, A::linear},
    Rule{scatterv, any_ranks, any_bytes, A::linear},

    Rule{allgather, any_ranks, 32768, A::bruck},
    Rule{allgather, any_ranks, any_bytes, A::bucket},
    Rule{allgather, any_ranks, 524288, A::recursive_doubling},
    Rule{allgather, any_ranks, any_bytes, A::ring},
    // The sizes of all blocks count, which every rank knows.
    Rule{allgatherv, any_ranks, 32768, A::bruck},
    Rule{allgatherv, any_ranks, any_bytes, A::ring},

    Rule{alltoall, any_ranks, any_bytes, A::groups},  // Relays would forward each block separately.
    // Few ranks hardly disturb each other; in turns they would wait.
    Rule{alltoall, 8, any_bytes, A::linear},
    Rule{alltoall, any_ranks, 256, A::bruck},  // Each block is sent log2 p / 2 times.
    Rule{alltoall, any_ranks, 32768, A::linear},
    Rule{alltoall, any_ranks, any_bytes, A::pairwise},  // One partner at a time saturates a link.
    // Only the sender knows the sizes of its blocks, so the choice cannot depend on size.
    Rule{alltoallv, any_ranks, any_bytes, A::groups},
    Rule{alltoallv, any_ranks, any_bytes, A::linear},

    Rule{reduce_scatter, any_ranks, 524288, A::recursive_halving},
    Rule{reduce_scatter, any_ranks, any_bytes, A::pairwise},
    Rule{reduce_scatter_block, any_ranks, 65536, A::recursive_halving},
    Rule{reduce_scatter_block, any_ranks, any_bytes, A::bucket},
    Rule{reduce_scatter_block, any_ranks, 524288, A::recursive_halving},
    Rule{reduce_scatter_block, any_ranks, any_bytes, A::pairwise},

    Rule{scan, any_ranks, any_bytes, A::recursive_doubling},
    Rule{exscan, any_ranks, any_bytes, A::recursive_doubling},
};

bool able(const Case& given, Algorithm algorithm) {
  const bool whole = given.operation == reduce || given.operation == allreduce;
  const bool reduces =
      whole || given.operation == reduce_scatter || given.operation == reduce_scatter_block;
  const bool in_any_order = !reduces || given.commutative;
  const bool enough = !whole || given.elements >= given.ranks;  // A piece for each rank.
  switch (algorithm) {
    case A::bucket:
      return given.grid && in_any_order && enough;
    case A::groups:
      return given.groups;
    case A::ring:
      return in_any_order && enough;
    case A::rabenseifner:
      return enough;
    case A::recursive_halving:
      return in_any_order;
    default:
      return true;
  }
}

Result<Operation> parse_operation(std::string_view word) {
  for (std::size_t i = 0; i < operation_count; ++i) {
    if (operation_names[i] == word) return static_cast<Operation>(i);
  }
  return Error::call("unknown collective operation '" + std::string(word) + "'" +
                     suggest(word, operation_names));
}

Result<Algorithm> parse_algorithm(Operation operation, std::string_view word) {
  std::vector<std::string_view> known = {name(Algorithm::automatic)};
  if (word == known[0]) return Algorithm::automatic;
  for (const AlgorithmEntry& entry : all_algorithms) {
    if (entry.operation != operation) continue;
    if (name(entry.algorithm) == word) return entry.algorithm;
    known.push_back(name(entry.algorithm));
  }
  return Error::call("unknown algorithm '" + std::string(word) + "' for " +
                     std::string(name(operation)) + suggest(word, known));
}

}  // namespace

std::span<const AlgorithmEntry> algorithms() {
  return all_algorithms;
}
std::string_view name(Operation operation) {
  return operation_names[static_cast<std::size_t>(operation)];
}
std::string_view name(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

std::string list_algorithms() {
  std::string text;
  for (std::size_t i = 0; i < operation_count; ++i) {
    const auto operation = static_cast<Operation>(i);
    text += std::string(name(operation)) + ":";
    for (const AlgorithmEntry& entry : all_algorithms) {
      if (entry.operation == operation) text += " " + std::string(name(entry.algorithm));
    }
    text += "\n";
  }
  return text;
}

std::map<std::string, std::uint64_t> Usage::by_name() const {
  std::map<std::string, std::uint64_t> used;
  for (std::size_t o = 0; o < operation_count; ++o) {
    for (std::size_t a = 0; a < algorithm_count; ++a) {
      const std::uint64_t count = counts_[o][a].load(std::memory_order_relaxed);
      if (count == 0) continue;
      used[std::string(operation_names[o]) + "=" + std::string(algorithm_names[a])] = count;
    }
  }
  return used;
}

bool Choices::forces(Algorithm algorithm) const {
  return std::find(forced_.begin(), forced_.end(), algorithm) != forced_.end();
}

Status Choices::force(std::string_view text) {
  for (const std::string_view item : split(text, ',')) {
    const std::string_view pair = trim(item);
    const std::size_t sign = pair.find('=');
    if (sign == std::string_view::npos) {
      return Error::call("'" + std::string(pair) + "' is not OPERATION=ALGORITHM, as in " +
                         "alltoall=bruck");
    }
    const Result<Operation> operation = parse_operation(trim(pair.substr(0, sign)));
    if (!operation) return operation.error();
    const Result<Algorithm> algorithm = parse_algorithm(*operation, trim(pair.substr(sign + 1)));
    if (!algorithm) return algorithm.error();
    force(*operation, *algorithm);
  }
  return {};
}

bool Choices::keeps_to_groups(const Case& given) const {
  // Bundles save messages and cost bytes, as they cross switches twice.
  constexpr std::size_t short_max = std::size_t{8} << 10;
  if (bundling_ == Bundling::short_blocks)
    return given.operation == Operation::alltoall && given.bytes <= short_max;
  return bundling_ == Bundling::most_blocks && given.bytes <= bundled_block_max;
}

Algorithm choose(const Case& given, const Choices* choices) {
  if (choices != nullptr) {
    const Algorithm forced = choices->forced(given.operation);
    if (forced != Algorithm::automatic && able(given, forced)) return forced;
  }
  const bool keeps = choices != nullptr && choices->keeps_to_groups(given);
  for (const Rule& rule : rules) {
    if (rule.algorithm == A::groups && !keeps) continue;
    if (rule.operation == given.operation && given.ranks <= rule.ranks_max &&
        given.bytes <= rule.bytes_max && able(given, rule.algorithm)) {
      return rule.algorithm;
    }
  }
  WEFT_CHECK(false);
  return Algorithm::automatic;
}

}  // namespace weft::coll
