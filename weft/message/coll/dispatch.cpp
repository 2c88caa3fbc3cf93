// SPDX-License-Identifier: Apache-2.0
// From an operation to its algorithm. Empty operations and teams of one end here.
#include <weft/base/check.hpp>
#include <weft/message/coll/algorithms.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/message/coll/collectives.hpp>

namespace weft::coll {

namespace {

mp::Task nothing() {
  co_return ok;
}

// All that is left to do in a team of one.
mp::Task keep(Team team, void* to, const void* from, std::size_t size) {
  Participant s(team);
  s.copy(bytes(to), bytes(from), size);
  co_return ok;
}

mp::Task keep_unless(bool in_place, const Team& team, void* to, const void* from,
                     std::size_t size) {
  return in_place ? nothing() : keep(team, to, from, size);
}

Case case_of(const Team& team, Operation operation, std::size_t size) {
  Case given;
  given.operation = operation;
  given.ranks = team.members.size();
  given.bytes = size;
  given.grid = team.grid != nullptr;
  given.groups = team.groups != nullptr;
  return given;
}

Algorithm counted(const Team& team, Operation operation, Algorithm algorithm) {
  if (team.rank != 0 || team.members.size() == 1 || team.part || team.internal) return algorithm;
  Usage* const usage = team.choices == nullptr ? nullptr : team.choices->usage();
  if (usage != nullptr) usage->add(operation, algorithm);
  return algorithm;
}

Algorithm chosen(const Team& team, Operation operation, std::size_t size) {
  return counted(team, operation, choose(case_of(team, operation, size), team.choices));
}

Algorithm chosen(const Team& team, Operation operation, std::int64_t count,
                 const Reducer& reducer) {
  Case given = case_of(team, operation, scaled(count, reducer.element_size));
  given.elements = count;
  given.commutative = reducer.commutative;
  return counted(team, operation, choose(given, team.choices));
}

std::size_t reduced_size(const Reduce& args) {
  return scaled(args.count, args.reducer.element_size);
}

Gatherv with_blocks(const Exchange& args) {
  Gatherv made;
  made.send = args.send;
  made.send_size = args.block;
  made.receive = args.receive;
  made.blocks = Blocks::equal(args.block);
  made.root = args.root;
  made.in_place = args.in_place;
  return made;
}

}  // namespace

mp::Task barrier(const Team& team) {
  if (team.members.size() == 1) return nothing();
  switch (chosen(team, Operation::barrier, 0)) {
    case Algorithm::tree:
      return barrier_tree(team);
    case Algorithm::linear:
      return barrier_linear(team);
    default:
      return barrier_dissemination(team);
  }
}

mp::Task bcast(const Team& team, const Bcast& args) {
  if (team.members.size() == 1 || args.size == 0) return nothing();
  switch (chosen(team, Operation::bcast, args.size)) {
    case Algorithm::scatter_allgather:
      return bcast_scatter_allgather(team, args);
    case Algorithm::pipeline:
      return bcast_pipeline(team, args);
    case Algorithm::linear:
      return bcast_linear(team, args);
    case Algorithm::bucket:
      return bcast_bucket(team, args);
    default:
      return bcast_binomial(team, args);
  }
}

mp::Task reduce(const Team& team, const Reduce& args) {
  if (args.count == 0) return nothing();
  if (team.members.size() == 1) {
    return keep_unless(args.in_place, team, args.receive, args.send, reduced_size(args));
  }
  switch (chosen(team, Operation::reduce, args.count, args.reducer)) {
    case Algorithm::rabenseifner:
      return reduce_rabenseifner(team, args);
    case Algorithm::linear:
      return reduce_linear(team, args);
    default:
      return reduce_binomial(team, args);
  }
}

mp::Task allreduce(const Team& team, const Reduce& args) {
  if (args.count == 0) return nothing();
  if (team.members.size() == 1) {
    return keep_unless(args.in_place, team, args.receive, args.send, reduced_size(args));
  }
  switch (chosen(team, Operation::allreduce, args.count, args.reducer)) {
    case Algorithm::rabenseifner:
      return allreduce_rabenseifner(team, args);
    case Algorithm::ring:
      return allreduce_ring(team, args);
    case Algorithm::reduce_bcast:
      return allreduce_reduce_bcast(team, args);
    case Algorithm::bucket:
      return allreduce_bucket(team, args);
    default:
      return allreduce_recursive_doubling(team, args);
  }
}

mp::Task scan(const Team& team, const Reduce& args) {
  if (args.count == 0) return nothing();
  if (team.members.size() == 1) {
    return keep_unless(args.in_place, team, args.receive, args.send, reduced_size(args));
  }
  if (chosen(team, Operation::scan, args.count, args.reducer) == Algorithm::linear) {
    return scan_linear(team, args, false);
  }
  return scan_recursive_doubling(team, args, false);
}

mp::Task exscan(const Team& team, const Reduce& args) {
  if (args.count == 0 || team.members.size() == 1) return nothing();
  if (chosen(team, Operation::exscan, args.count, args.reducer) == Algorithm::linear) {
    return scan_linear(team, args, true);
  }
  return scan_recursive_doubling(team, args, true);
}

mp::Task gather(const Team& team, const Exchange& args) {
  if (args.block == 0) return nothing();
  if (chosen(team, Operation::gather, args.block) == Algorithm::binomial) {
    return gather_binomial(team, args);
  }
  return gather_linear(team, with_blocks(args));
}

mp::Task scatter(const Team& team, const Exchange& args) {
  if (args.block == 0) return nothing();
  if (chosen(team, Operation::scatter, args.block) == Algorithm::binomial) {
    return scatter_binomial(team, args);
  }
  Scatterv made;
  made.send = args.send;
  made.blocks = Blocks::equal(args.block);
  made.receive = args.receive;
  made.receive_size = args.block;
  made.root = args.root;
  made.in_place = args.in_place;
  return scatter_linear(team, made);
}

mp::Task gatherv(const Team& team, const Gatherv& args) {
  counted(team, Operation::gatherv, Algorithm::linear);
  return gather_linear(team, args);
}
mp::Task scatterv(const Team& team, const Scatterv& args) {
  counted(team, Operation::scatterv, Algorithm::linear);
  return scatter_linear(team, args);
}

mp::Task allgather(const Team& team, const Exchange& args) {
  if (args.block == 0) return nothing();
  const int p = team.members.size();
  if (p == 1) return keep_unless(args.in_place, team, args.receive, args.send, args.block);
  switch (chosen(team, Operation::allgather, scaled(p, args.block))) {
    case Algorithm::bruck:
      return allgather_bruck(team, with_blocks(args));
    case Algorithm::recursive_doubling:
      return allgather_recursive_doubling(team, args);
    case Algorithm::bucket:
      return allgather_bucket(team, args);
    case Algorithm::linear:
      return allgather_linear(team, with_blocks(args));
    default:
      return allgather_ring(team, with_blocks(args));
  }
}

mp::Task allgatherv(const Team& team, const Gatherv& args) {
  const int p = team.members.size();
  std::size_t total = 0;
  for (int i = 0; i < p; ++i) total += args.blocks[i].size;
  switch (chosen(team, Operation::allgatherv, total)) {
    case Algorithm::bruck:
      return allgather_bruck(team, args);
    case Algorithm::linear:
      return allgather_linear(team, args);
    default:
      return allgather_ring(team, args);
  }
}

mp::Task alltoall(const Team& team, const Exchange& args) {
  if (args.block == 0) return nothing();
  if (team.members.size() == 1) {
    return keep_unless(args.in_place, team, args.receive, args.send, args.block);
  }
  Alltoallv made;
  made.send = args.send;
  made.send_blocks = Blocks::equal(args.block);
  made.receive = args.receive;
  made.receive_blocks = Blocks::equal(args.block);
  made.in_place = args.in_place;
  switch (chosen(team, Operation::alltoall, args.block)) {
    case Algorithm::bruck:
      return alltoall_bruck(team, args);
    case Algorithm::bucket:
      return alltoall_bucket(team, args);
    case Algorithm::groups:
      return alltoall_grouped(team, made, true);
    case Algorithm::linear:
      return alltoall_linear(team, made);
    default:
      return alltoall_pairwise(team, made);
  }
}

mp::Task alltoallv(const Team& team, const Alltoallv& args) {
  switch (chosen(team, Operation::alltoallv, 0)) {
    case Algorithm::groups:
      return alltoall_grouped(team, args, false);
    case Algorithm::pairwise:
      return alltoall_pairwise(team, args);
    default:
      return alltoall_linear(team, args);
  }
}

namespace {

mp::Task reduce_scatter_by(Algorithm algorithm, const Team& team, const ReduceScatter& args) {
  switch (algorithm) {
    case Algorithm::recursive_halving:
      return reduce_scatter_halving(team, args);
    case Algorithm::ring:
      return reduce_scatter_ring(team, args);
    case Algorithm::reduce_scatterv:
      return reduce_scatter_at_root(team, args);
    case Algorithm::bucket:
      return reduce_scatter_bucket(team, args);
    default:
      return reduce_scatter_pairwise(team, args);
  }
}

}  // namespace

mp::Task reduce_scatter(const Team& team, const ReduceScatter& args) {
  const int p = team.members.size();
  const Blocks::Block last = args.blocks[p - 1];
  const std::int64_t total = last.offset + static_cast<std::int64_t>(last.size);
  if (total == 0) return nothing();
  if (p == 1) {
    return keep_unless(args.in_place, team, args.receive, args.send,
                       scaled(total, args.reducer.element_size));
  }
  return reduce_scatter_by(chosen(team, Operation::reduce_scatter, total, args.reducer), team,
                           args);
}

mp::Task reduce_scatter_block(const Team& team, const Reduce& args) {
  const int p = team.members.size();
  if (args.count == 0) return nothing();
  if (p == 1) {
    return keep_unless(args.in_place, team, args.receive, args.send, reduced_size(args));
  }
  ReduceScatter made;
  made.send = args.send;
  made.receive = args.receive;
  made.blocks = Blocks::equal(static_cast<std::size_t>(args.count));
  made.reducer = args.reducer;
  made.in_place = args.in_place;
  return reduce_scatter_by(
      chosen(team, Operation::reduce_scatter_block, args.count * p, args.reducer), team, made);
}

}  // namespace weft::coll
