// SPDX-License-Identifier: Apache-2.0
// Reductions.
#include <weft/mpi/coll_call.hpp>

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
  return call.launch([](Collective& c) {
    if (!c.comm.inter) return coll::reduce(c.team(), reduce_of(c));
    // Who stands beside the root has no operator.
    coll::Reduce args;
    if (c.bridge_root.role != coll::BridgeRoot::Role::beside) args = reduce_of(c);
    return coll::reduce(c.bridge(), args, c.bridge_root);
  });
}

// Allreduce and scans: all have both sides.
int reduce_all(const Form& form, const Operands& given, bool scans, Collective::Begin begin) {
  CollectiveCall call(form);
  if (scans) call.no_inter();
  call.reduction(given.op, given.type);
  call.receive(given.received(given.count), 1);
  call.send_or_in_place(given.sent(given.count), 1);
  call.apart();
  if (call.failed()) return call.error();
  call.operation().count = given.count;
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
    c.stores = c.comm.rank != 0;  // There nothing is received.
    return coll::exscan(c.team(), reduce_of(c));
  });
}

// Both sides, where the result of a rank is a part of what all give.
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
    edges.push_back(edges.back() + counts[i]);
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
  return scatter_result(call, given, given.count * call.comm().size(), given.count,
                        &start_reduce_scatter_block);
}

}  // namespace

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)
WEFT_MPI(Reduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
 MPI_Comm comm) {
  return reduce(Form::blocking("MPI_Reduce", comm), {sendbuf, recvbuf, count, datatype, op}, root);
}

WEFT_MPI(Reduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
 MPI_Comm comm) {
  return reduce(Form::blocking("MPI_Reduce_c", comm), {sendbuf, recvbuf, count, datatype, op},
                root);
}

WEFT_MPI(Ireduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
 MPI_Comm comm, MPI_Request* request) {
  return reduce(Form::started("MPI_Ireduce", comm, request),
                {sendbuf, recvbuf, count, datatype, op}, root);
}

WEFT_MPI(Ireduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
 MPI_Comm comm, MPI_Request* request) {
  return reduce(Form::started("MPI_Ireduce_c", comm, request),
                {sendbuf, recvbuf, count, datatype, op}, root);
}

WEFT_MPI(Reduce_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return reduce(Form::kept("MPI_Reduce_init", comm, request),
                {sendbuf, recvbuf, count, datatype, op}, root);
}

WEFT_MPI(Reduce_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return reduce(Form::kept("MPI_Reduce_init_c", comm, request),
                {sendbuf, recvbuf, count, datatype, op}, root);
}

WEFT_MPI(Allreduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return allreduce(Form::blocking("MPI_Allreduce", comm), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Allreduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return allreduce(Form::blocking("MPI_Allreduce_c", comm),
                   {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Iallreduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  return allreduce(Form::started("MPI_Iallreduce", comm, request),
                   {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Iallreduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  return allreduce(Form::started("MPI_Iallreduce_c", comm, request),
                   {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Allreduce_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Info /*info*/, MPI_Request* request) {
  return allreduce(Form::kept("MPI_Allreduce_init", comm, request),
                   {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Allreduce_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return allreduce(Form::kept("MPI_Allreduce_init_c", comm, request),
                   {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Scan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return scan(Form::blocking("MPI_Scan", comm), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Scan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return scan(Form::blocking("MPI_Scan_c", comm), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Iscan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  return scan(Form::started("MPI_Iscan", comm, request), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Iscan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  return scan(Form::started("MPI_Iscan_c", comm, request), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Scan_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Info /*info*/, MPI_Request* request) {
  return scan(Form::kept("MPI_Scan_init", comm, request), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Scan_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return scan(Form::kept("MPI_Scan_init_c", comm, request),
              {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Exscan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return exscan(Form::blocking("MPI_Exscan", comm), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Exscan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return exscan(Form::blocking("MPI_Exscan_c", comm), {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Iexscan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  return exscan(Form::started("MPI_Iexscan", comm, request),
                {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Iexscan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  return exscan(Form::started("MPI_Iexscan_c", comm, request),
                {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Exscan_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Info /*info*/, MPI_Request* request) {
  return exscan(Form::kept("MPI_Exscan_init", comm, request),
                {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Exscan_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return exscan(Form::kept("MPI_Exscan_init_c", comm, request),
                {sendbuf, recvbuf, count, datatype, op});
}

WEFT_MPI(Reduce_scatter)
(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return reduce_scatter(Form::blocking("MPI_Reduce_scatter", comm),
                        {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
}

WEFT_MPI(Reduce_scatter_c)
(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return reduce_scatter(Form::blocking("MPI_Reduce_scatter_c", comm),
                        {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
}

WEFT_MPI(Ireduce_scatter)
(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  return reduce_scatter(Form::started("MPI_Ireduce_scatter", comm, request),
                        {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
}

WEFT_MPI(Ireduce_scatter_c)
(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  return reduce_scatter(Form::started("MPI_Ireduce_scatter_c", comm, request),
                        {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
}

WEFT_MPI(Reduce_scatter_init)
(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return reduce_scatter(Form::kept("MPI_Reduce_scatter_init", comm, request),
                        {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
}

WEFT_MPI(Reduce_scatter_init_c)
(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return reduce_scatter(Form::kept("MPI_Reduce_scatter_init_c", comm, request),
                        {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
}

WEFT_MPI(Reduce_scatter_block)
(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return reduce_scatter_block(Form::blocking("MPI_Reduce_scatter_block", comm),
                              {sendbuf, recvbuf, recvcount, datatype, op});
}

WEFT_MPI(Reduce_scatter_block_c)
(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return reduce_scatter_block(Form::blocking("MPI_Reduce_scatter_block_c", comm),
                              {sendbuf, recvbuf, recvcount, datatype, op});
}

WEFT_MPI(Ireduce_scatter_block)
(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  return reduce_scatter_block(Form::started("MPI_Ireduce_scatter_block", comm, request),
                              {sendbuf, recvbuf, recvcount, datatype, op});
}

WEFT_MPI(Ireduce_scatter_block_c)
(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  return reduce_scatter_block(Form::started("MPI_Ireduce_scatter_block_c", comm, request),
                              {sendbuf, recvbuf, recvcount, datatype, op});
}

WEFT_MPI(Reduce_scatter_block_init)
(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Info /*info*/, MPI_Request* request) {
  return reduce_scatter_block(Form::kept("MPI_Reduce_scatter_block_init", comm, request),
                              {sendbuf, recvbuf, recvcount, datatype, op});
}

WEFT_MPI(Reduce_scatter_block_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return reduce_scatter_block(Form::kept("MPI_Reduce_scatter_block_init_c", comm, request),
                              {sendbuf, recvbuf, recvcount, datatype, op});
}
// NOLINTEND(readability-function-size)
