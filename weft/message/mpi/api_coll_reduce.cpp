// SPDX-License-Identifier: Apache-2.0
// Reductions.
#include <weft/message/mpi/coll_call.hpp>
#include <weft/message/mpi/forms.hpp>

using weft::mpi::Collective;
using weft::mpi::CollectiveCall;
using weft::mpi::Form;
using weft::mpi::Numbers;
using weft::mpi::Piece;
namespace coll = weft::coll;
namespace mp = weft::mp;

namespace {

struct Operands {
  const void* send;
  void* receive;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;

  Piece sent(MPI_Count elements) const { return {send, elements, type}; }
  Piece received(MPI_Count elements) const { return {receive, elements, type}; }
};

coll::Reduce reduce_of(const Collective& c) {
  return {c.send.data(), c.receive.data(), c.count, c.reduction.reducer(), c.root, c.in_place};
}

int reduce(const Form& form, const Operands& given, int root) {
  CollectiveCall call(form);
  call.root(root);
  if (call.failed()) return call.error();
  if (call.is_root() || call.faces_root()) call.reduction(given.op, given.type);
  if (call.is_root()) call.receive(given.received(given.count), 1);
  if (call.is_root() && !call.inter()) {
    call.send_or_in_place(given.sent(given.count), 1);
    call.apart();
  } else if (call.faces_root()) {
    call.send(given.sent(given.count), 1);
  }
  if (call.failed()) return call.error();
  call.operation().count = given.count;
  call.carry_if_small();
  return call.launch([](Collective& c) {
    if (!c.comm.inter) return coll::reduce(c.team(), reduce_of(c));
    // Ranks beside the root in its group have no operator.
    coll::Reduce args;
    if (c.bridge_root.role != coll::BridgeRoot::Role::beside) args = reduce_of(c);
    return coll::reduce(c.bridge(), args, c.bridge_root);
  });
}

// Allreduce and scans: every rank sends and receives.
int reduce_all(const Form& form, const Operands& given, bool scans, Collective::Begin begin) {
  CollectiveCall call(form);
  if (scans) call.no_inter();
  call.reduction(given.op, given.type);
  call.receive(given.received(given.count), 1);
  call.send_or_in_place(given.sent(given.count), 1);
  call.apart();
  if (call.failed()) return call.error();
  call.operation().count = given.count;
  call.carry_if_small();
  return call.launch(begin);
}

int allreduce(const Form& form, const Operands& given) {
  return reduce_all(form, given, false, [](Collective& c) {
    return c.comm.inter ? coll::allreduce(c.bridge(), reduce_of(c))
                        : coll::allreduce(c.team(), reduce_of(c));
  });
}

int scan(const Form& form, const Operands& given) {
  return reduce_all(form, given, true,
                    [](Collective& c) { return coll::scan(c.team(), reduce_of(c)); });
}

int exscan(const Form& form, const Operands& given) {
  return reduce_all(form, given, true, [](Collective& c) {
    c.stores = c.comm.rank != 0;  // Rank 0 receives nothing.
    return coll::exscan(c.team(), reduce_of(c));
  });
}

// Sends and receives, where a rank's result is part of what all contribute.
int scatter_result(CollectiveCall& call, const Operands& given, MPI_Count total, MPI_Count own,
                   Collective::Begin begin) {
  call.reduction(given.op, given.type);
  const bool in_place = given.send == MPI_IN_PLACE && !call.inter();
  call.receive(given.received(in_place ? total : own), 1);
  call.send_or_in_place(given.sent(total), 1);
  call.apart();
  if (call.failed()) return call.error();
  call.operation().result_elements = own;
  return call.launch(begin);
}

coll::Blocks::Block find_edge(const void* arg, int index) {
  const auto& edges = *static_cast<const std::vector<std::int64_t>*>(arg);
  const auto i = static_cast<std::size_t>(index);
  return {static_cast<std::ptrdiff_t>(edges[i]), static_cast<std::size_t>(edges[i + 1] - edges[i])};
}

mp::Task start_reduce_scatter(Collective& c) {
  const coll::Blocks blocks = coll::Blocks::described(&find_edge, &c.edges);
  const coll::Reducer reducer = c.reduction.reducer();
  if (c.comm.inter) {
    const coll::BridgeReduceScatter args{c.send.data(), c.receive.data(), c.edges.back(), blocks,
                                         reducer};
    return coll::reduce_scatter(c.bridge(), args);
  }
  return coll::reduce_scatter(c.team(),
                              {c.send.data(), c.receive.data(), blocks, reducer, c.in_place});
}

int reduce_scatter(const Form& form, const Operands& given, Numbers counts) {
  CollectiveCall call(form);
  if (call.failed()) return call.error();
  if (counts.missing()) {
    call.fail(MPI_ERR_ARG, "counts are null");
    return call.error();
  }
  std::vector<std::int64_t>& edges = call.operation().edges;
  edges.push_back(0);
  for (int i = 0; i < call.comm().size(); ++i) {
    if (counts[i] < 0) {
      call.fail(MPI_ERR_COUNT, std::to_string(counts[i]));
      return call.error();
    }
    edges.push_back(0);
    if (__builtin_add_overflow(edges[edges.size() - 2], counts[i], &edges.back())) {
      call.fail(MPI_ERR_COUNT, "the sum of counts is more than can be counted");
      return call.error();
    }
  }
  return scatter_result(call, given, edges.back(), counts[call.comm().rank], &start_reduce_scatter);
}

mp::Task start_reduce_scatter_block(Collective& c) {
  if (!c.comm.inter) return coll::reduce_scatter_block(c.team(), reduce_of(c));
  const coll::BridgeReduceScatter args{c.send.data(), c.receive.data(), c.count * c.comm.size(),
                                       coll::Blocks::equal(static_cast<std::size_t>(c.count)),
                                       c.reduction.reducer()};
  return coll::reduce_scatter(c.bridge(), args);
}

int reduce_scatter_block(const Form& form, const Operands& given) {
  CollectiveCall call(form);
  if (call.failed()) return call.error();
  call.operation().count = given.count;
  MPI_Count total = 0;
  if (__builtin_mul_overflow(given.count, call.comm().size(), &total)) {
    call.fail(MPI_ERR_COUNT, std::to_string(given.count) + " for each rank are too many");
    return call.error();
  }
  return scatter_result(call, given, total, given.count, &start_reduce_scatter_block);
}

}  // namespace

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)

#define WEFT_REDUCTION(Count, Place) \
  const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op
WEFT_COLLECTIVE(Allreduce, Iallreduce, WEFT_REDUCTION,
                allreduce(form, {sendbuf, recvbuf, count, datatype, op}))
WEFT_COLLECTIVE(Scan, Iscan, WEFT_REDUCTION, scan(form, {sendbuf, recvbuf, count, datatype, op}))
WEFT_COLLECTIVE(Exscan, Iexscan, WEFT_REDUCTION,
                exscan(form, {sendbuf, recvbuf, count, datatype, op}))
WEFT_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, WEFT_REDUCTION,
                reduce_scatter_block(form, {sendbuf, recvbuf, count, datatype, op}))

#define WEFT_REDUCE(Count, Place) WEFT_REDUCTION(Count, Place), int root
WEFT_COLLECTIVE(Reduce, Ireduce, WEFT_REDUCE,
                reduce(form, {sendbuf, recvbuf, count, datatype, op}, root))

#define WEFT_REDUCE_SCATTER(Count, Place) \
  const void *sendbuf, void *recvbuf, const Count *recvcounts, MPI_Datatype datatype, MPI_Op op
WEFT_COLLECTIVE(Reduce_scatter, Ireduce_scatter, WEFT_REDUCE_SCATTER,
                reduce_scatter(form, {sendbuf, recvbuf, 0, datatype, op}, recvcounts))
