// SPDX-License-Identifier: Apache-2.0
// Going on after ranks are lost: revoke, shrink, agree, and who has failed. Each function also has
// the name with MPIX_ under which it is known from other libraries.
#include <algorithm>
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/recovery.hpp>
#include <weft/message/mpi/request.hpp>

using weft::RankId;
using weft::mp::Members;
using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Consensus;
using weft::mpi::Process;
using weft::mpi::Verdict;
namespace mp = weft::mp;

namespace {

Members without(const Members& members, const std::vector<RankId>& failed) {
  std::vector<RankId> left;
  for (int i = 0; i < members.size(); ++i) {
    if (!std::binary_search(failed.begin(), failed.end(), members[i])) left.push_back(members[i]);
  }
  return Members::of(left);
}

// A communicator of all members, until it is known who is left.
Communicator* make_whole(Process& process, const Communicator& parent) {
  return make_communicator(process, parent, {0, parent.local, parent.remote, parent.inter});
}

mp::Task shrink(Process& process, Communicator& parent, Communicator& made) {
  Verdict verdict;
  mp::Task reached =
      consensus_of(process).reach(parent, ~0U, Consensus::Makes::communicator, verdict);
  co_await reached;
  made.context = verdict.context;
  made.local = without(made.local, verdict.failed);
  made.remote = without(made.remote, verdict.failed);
  made.rank = made.local.find(process.rank()).value_or(0);
  catch_up(process, made);
  co_return MPI_SUCCESS;
}

mp::Task agree(Process& process, Communicator& comm, int* value) {
  Verdict verdict;
  mp::Task reached = consensus_of(process).reach(comm, static_cast<std::uint32_t>(*value),
                                                 Consensus::Makes::nothing, verdict);
  co_await reached;
  *value = static_cast<int>(verdict.value);
  co_return verdict.unacknowledged ? MPI_ERR_PROC_FAILED : MPI_SUCCESS;
}

class Shrinking final : public weft::mpi::Operation {
 public:
  Shrinking(Process& process, Communicator& parent, Communicator& made)
      : process_(process), parent_(parent), made_(made) {
    made_.retain();
  }
  ~Shrinking() override { release(process_, &made_); }
  Shrinking(const Shrinking&) = delete;
  Shrinking& operator=(const Shrinking&) = delete;
  mp::Task start() override { return shrink(process_, parent_, made_); }

 private:
  Process& process_;
  Communicator& parent_;
  Communicator& made_;
};

class Agreeing final : public weft::mpi::Operation {
 public:
  Agreeing(Process& process, Communicator& comm, int* value)
      : process_(process), comm_(comm), value_(value) {}
  mp::Task start() override { return agree(process_, comm_, value_); }

 private:
  Process& process_;
  Communicator& comm_;
  int* value_;
};

// Null: an error has been reported.
Communicator* find(Call& call, MPI_Comm comm) {
  Communicator* const found = call.communicator(comm);
  if (found) call.process().recover();
  return found;
}

// Those that are known by now.
Members failed_members(Process& process, const Communicator& comm, std::size_t most) {
  std::vector<RankId> failed = lost_members(process, comm);
  failed.resize(std::min(failed.size(), most));
  return Members::of(failed);
}

}  // namespace

// Defines MPI_Comm_X, PMPI_Comm_X and MPIX_Comm_X.
#define WEFT_MPIX(name)                                                               \
  extern "C" __attribute__((alias("PMPI_" #name))) decltype(PMPI_##name) MPIX_##name; \
  WEFT_MPI(name)

WEFT_MPIX(Comm_revoke)(MPI_Comm comm) {
  Call call("MPI_Comm_revoke", Call::communicates);
  const Communicator* c = find(call, comm);
  if (!c) return call.error();
  revoke(call.process(), c->context);
  return MPI_SUCCESS;
}

WEFT_MPIX(Comm_is_revoked)(MPI_Comm comm, int* flag) {
  Call call("MPI_Comm_is_revoked", Call::local);
  const Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (!flag) return call.result(c, MPI_ERR_ARG);
  call.process().progress();
  *flag = c->revoked ? 1 : 0;
  if (!c->revoked) call.process().found_nothing();
  return MPI_SUCCESS;
}

WEFT_MPIX(Comm_shrink)(MPI_Comm comm, MPI_Comm* newcomm) {
  Call call("MPI_Comm_shrink", Call::communicates);
  Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (!newcomm) return call.result(c, MPI_ERR_ARG);
  Process& process = call.process();
  Communicator* const made = make_whole(process, *c);
  process.run(shrink(process, *c, *made));
  *newcomm = made->handle;
  return MPI_SUCCESS;
}

WEFT_MPIX(Comm_ishrink)(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  Call call("MPI_Comm_ishrink", Call::communicates);
  Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (!newcomm || !request) return call.result(c, MPI_ERR_ARG);
  Process& process = call.process();
  Communicator* const made = make_whole(process, *c);
  *newcomm = made->handle;
  *request =
      handle_of(start_operation(process, *c, std::make_unique<Shrinking>(process, *c, *made)));
  return MPI_SUCCESS;
}

WEFT_MPIX(Comm_agree)(MPI_Comm comm, int* value) {
  Call call("MPI_Comm_agree", Call::communicates);
  Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (!value) return call.result(c, MPI_ERR_ARG);
  return call.result(c, call.process().run(agree(call.process(), *c, value)));
}

WEFT_MPIX(Comm_iagree)(MPI_Comm comm, int* value, MPI_Request* request) {
  Call call("MPI_Comm_iagree", Call::communicates);
  Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (!value || !request) return call.result(c, MPI_ERR_ARG);
  Process& process = call.process();
  *request =
      handle_of(start_operation(process, *c, std::make_unique<Agreeing>(process, *c, value)));
  return MPI_SUCCESS;
}

WEFT_MPIX(Comm_get_failed)(MPI_Comm comm, MPI_Group* failedgrp) {
  Call call("MPI_Comm_get_failed", Call::local);
  const Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (!failedgrp) return call.result(c, MPI_ERR_ARG);
  Process& process = call.process();
  process.progress();
  *failedgrp = make_group(process, failed_members(process, *c, c->lost_members), c->session);
  return MPI_SUCCESS;
}

WEFT_MPIX(Comm_ack_failed)(MPI_Comm comm, int num_to_ack, int* num_acked) {
  Call call("MPI_Comm_ack_failed", Call::local);
  Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (num_to_ack < 0 || !num_acked) return call.result(c, MPI_ERR_ARG);
  call.process().progress();
  const std::uint32_t wanted = std::min(static_cast<std::uint32_t>(num_to_ack), c->lost_members);
  c->acknowledged = std::max(c->acknowledged, wanted);
  *num_acked = static_cast<int>(c->acknowledged);
  return MPI_SUCCESS;
}

// Older names, with other arguments.
extern "C" int MPIX_Comm_failure_ack(MPI_Comm comm) {
  Call call("MPIX_Comm_failure_ack", Call::local);
  Communicator* c = find(call, comm);
  if (!c) return call.error();
  call.process().progress();
  c->acknowledged = c->lost_members;
  return MPI_SUCCESS;
}

extern "C" int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failedgrp) {
  Call call("MPIX_Comm_failure_get_acked", Call::local);
  const Communicator* c = find(call, comm);
  if (!c) return call.error();
  if (!failedgrp) return call.result(c, MPI_ERR_ARG);
  *failedgrp =
      make_group(call.process(), failed_members(call.process(), *c, c->acknowledged), c->session);
  return MPI_SUCCESS;
}
