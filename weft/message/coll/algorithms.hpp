// SPDX-License-Identifier: Apache-2.0
// All algorithms by name, for dispatch.cpp and for each other. Arguments are copied into the
// coroutine; sizes and blocks are not empty unless a comment says so.
#pragma once

#include <weft/message/coll/collectives.hpp>
#include <weft/message/coll/participant.hpp>
#include <weft/message/coll/team.hpp>
#include <weft/message/mp/task.hpp>

namespace weft::coll {

mp::Task barrier_dissemination(Team team);
mp::Task barrier_tree(Team team);
mp::Task barrier_linear(Team team);

mp::Task bcast_binomial(Team team, Bcast args);
mp::Task bcast_scatter_allgather(Team team, Bcast args);
mp::Task bcast_pipeline(Team team, Bcast args);
mp::Task bcast_linear(Team team, Bcast args);
mp::Task bcast_bucket(Team team, Bcast args);

mp::Task reduce_binomial(Team team, Reduce args);
mp::Task reduce_rabenseifner(Team team, Reduce args);
mp::Task reduce_linear(Team team, Reduce args);

mp::Task allreduce_recursive_doubling(Team team, Reduce args);
mp::Task allreduce_rabenseifner(Team team, Reduce args);
mp::Task allreduce_ring(Team team, Reduce args);
mp::Task allreduce_reduce_bcast(Team team, Reduce args);
mp::Task allreduce_bucket(Team team, Reduce args);

mp::Task gather_binomial(Team team, Exchange args);
mp::Task scatter_binomial(Team team, Exchange args);
mp::Task gather_linear(Team team, Gatherv args);    // Blocks may be empty.
mp::Task scatter_linear(Team team, Scatterv args);  // Blocks may be empty.

mp::Task allgather_bruck(Team team, Gatherv args);   // Blocks may be empty.
mp::Task allgather_ring(Team team, Gatherv args);    // Blocks may be empty.
mp::Task allgather_linear(Team team, Gatherv args);  // Blocks may be empty.
mp::Task allgather_recursive_doubling(Team team, Exchange args);
mp::Task allgather_bucket(Team team, Exchange args);

mp::Task alltoall_bruck(Team team, Exchange args);
mp::Task alltoall_bucket(Team team, Exchange args);
mp::Task alltoall_pairwise(Team team, Alltoallv args);  // Blocks may be empty.
mp::Task alltoall_linear(Team team, Alltoallv args);    // Blocks may be empty.
// Blocks may be empty unless `equal` is set.
mp::Task alltoall_grouped(Team team, Alltoallv args, bool equal);
void copy_own_block(Participant& s,
                    const Alltoallv& args);  // Copies the block from this rank to itself.

// Blocks may be empty.
mp::Task reduce_scatter_halving(Team team, ReduceScatter args);
mp::Task reduce_scatter_pairwise(Team team, ReduceScatter args);
mp::Task reduce_scatter_ring(Team team, ReduceScatter args);
mp::Task reduce_scatter_at_root(Team team, ReduceScatter args);
mp::Task reduce_scatter_bucket(Team team, ReduceScatter args);  // Blocks of equal size.

mp::Task scan_recursive_doubling(Team team, Reduce args, bool exclusive);
mp::Task scan_linear(Team team, Reduce args, bool exclusive);

// The elements that position `place` of a power of two keeps after some halvings.
struct Part {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};
inline Part halved(std::int64_t count, int place, int halvings) {
  Part part{0, count};
  for (int i = 0; i < halvings; ++i) {
    const std::int64_t middle = part.first + part.count() / 2;
    ((place >> i) & 1) == 0 ? part.last = middle : part.first = middle;
  }
  return part;
}

}  // namespace weft::coll
