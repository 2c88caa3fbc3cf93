// SPDX-License-Identifier: Apache-2.0
// Queries on communicators, and freeing them.
#include <algorithm>
#include <cstring>
#include <string>

#include <weft/message/mpi/buffering.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/meeting.hpp>
#include <weft/message/mpi/transfer.hpp>

using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Process;
using weft::mpi::Request;

namespace {

int compare(const Communicator& a, const Communicator& b) {
  if (&a == &b) return MPI_IDENT;
  if (a.inter != b.inter) return MPI_UNEQUAL;
  const int local = weft::mpi::compare(a.local, b.local);
  const int remote = a.inter ? weft::mpi::compare(a.remote, b.remote) : MPI_IDENT;
  if (local == MPI_UNEQUAL || remote == MPI_UNEQUAL) return MPI_UNEQUAL;
  return local == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
}

int free_communicator(Call& call, MPI_Comm* handle) {
  if (!handle) return call.result(MPI_ERR_ARG);
  Communicator* comm = call.communicator(*handle);
  if (!comm) return call.error();
  Process& process = call.process();
  if (comm == &process.world || comm->handle == MPI_COMM_SELF) {
    return call.result(comm, MPI_ERR_COMM, "predefined");
  }
  if (const int error = comm->attributes.clear(process, comm->handle)) {
    return call.result(comm, error);
  }
  // What its own buffer holds is sent first; the buffer belongs to the program again.
  if (const weft::mpi::Buffering* const buffering = comm->buffering.get()) {
    process.wait_until([&] { return buffering->sent(); });
  }
  const bool connects = !comm->worlds.empty();
  comm->freed = true;
  if (process.parent == *handle) process.parent = MPI_COMM_NULL;
  release(process, comm);
  process.consider_losses();
  if (connects) {
    if (const auto ticket = tell_connected(process)) process.runtime.desk()->ignore(*ticket);
  }
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

// The launcher knows before any member goes on: one that ends after that takes no other with it.
void separate(Process& process, Communicator& comm) {
  comm.parting = true;
  if (const auto ticket = tell_connected(process)) await(process, *ticket);
  if (!comm.revoked) process.run(all_max(scope_of(process, comm), {}));
}

}  // namespace

WEFT_MPI(Comm_size)(MPI_Comm comm, int* size) {
  Call call("MPI_Comm_size", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!size) return call.result(c, MPI_ERR_ARG);
  *size = c->size();
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_rank)(MPI_Comm comm, int* rank) {
  Call call("MPI_Comm_rank", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!rank) return call.result(c, MPI_ERR_ARG);
  *rank = c->rank;
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_compare)(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  Call call("MPI_Comm_compare", Call::local);
  const Communicator* a = call.communicator(comm1);
  const Communicator* b = a ? call.communicator(comm2) : nullptr;
  if (!b) return call.error();
  if (!result) return call.result(a, MPI_ERR_ARG);
  *result = compare(*a, *b);
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_group)(MPI_Comm comm, MPI_Group* group) {
  Call call("MPI_Comm_group", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!group) return call.result(c, MPI_ERR_ARG);
  *group = make_group(call.process(), c->local, c->session);
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_test_inter)(MPI_Comm comm, int* flag) {
  Call call("MPI_Comm_test_inter", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!flag) return call.result(c, MPI_ERR_ARG);
  *flag = c->inter ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_remote_size)(MPI_Comm comm, int* size) {
  Call call("MPI_Comm_remote_size", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!c->inter) return call.result(c, MPI_ERR_COMM, "no intercommunicator");
  if (!size) return call.result(c, MPI_ERR_ARG);
  *size = c->remote.size();
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_remote_group)(MPI_Comm comm, MPI_Group* group) {
  Call call("MPI_Comm_remote_group", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!c->inter) return call.result(c, MPI_ERR_COMM, "no intercommunicator");
  if (!group) return call.result(c, MPI_ERR_ARG);
  *group = make_group(call.process(), c->remote, c->session);
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_free)(MPI_Comm* comm) {
  Call call("MPI_Comm_free", Call::local);
  if (call.error()) return call.error();
  return free_communicator(call, comm);
}

WEFT_MPI(Comm_disconnect)(MPI_Comm* comm) {
  Call call("MPI_Comm_disconnect", Call::communicates);
  Communicator* c = comm ? call.communicator(*comm) : nullptr;
  if (!c) return comm ? call.error() : call.result(MPI_ERR_ARG);
  Process& process = call.process();
  bool done = false;
  process.wait_until([&] {
    done = true;
    process.requests.for_each([&](const Request& request) {
      if (request.transfer.comm == c && !is_done(request)) done = false;
    });
    return done;
  });
  if (!c->worlds.empty()) separate(process, *c);
  return free_communicator(call, comm);
}

WEFT_MPI(Comm_get_parent)(MPI_Comm* parent) {
  Call call("MPI_Comm_get_parent", Call::local);
  if (call.error()) return call.error();
  if (!parent) return call.result(MPI_ERR_ARG);
  *parent = call.process().parent;
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_set_name)(MPI_Comm comm, const char* comm_name) {
  Call call("MPI_Comm_set_name", Call::local);
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!comm_name) return call.result(c, MPI_ERR_ARG);
  c->name.assign(comm_name, strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_get_name)(MPI_Comm comm, char* comm_name, int* resultlen) {
  Call call("MPI_Comm_get_name", Call::local);
  if (call.error()) return call.error();
  // The null handle has a name as well.
  const Communicator* c = comm == MPI_COMM_NULL ? nullptr : call.communicator(comm);
  if (call.error()) return call.error();
  if (!comm_name || !resultlen) return call.result(c, MPI_ERR_ARG);
  const std::string name = c ? c->name : "MPI_COMM_NULL";
  std::memcpy(comm_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_set_info)(MPI_Comm comm, MPI_Info info) {
  Call call("MPI_Comm_set_info", Call::local);
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (info == MPI_INFO_NULL) return MPI_SUCCESS;
  const weft::mpi::InfoTable* table = find_info(call.process(), info);
  if (!table) return call.result(c, MPI_ERR_INFO);
  c->info.merge(*table);
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_get_info)(MPI_Comm comm, MPI_Info* info_used) {
  Call call("MPI_Comm_get_info", Call::local);
  const Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  if (!info_used) return call.result(c, MPI_ERR_ARG);
  weft::mpi::InfoTable used;  // Not what is no hint of the standard: that is ignored.
  for (int i = 0; i < c->info.size(); ++i)
    if (const std::string& key = c->info.key(i); key.starts_with("mpi_"))
      used.set(key, *c->info.find(key));
  *info_used = make_info(call.process(), used);
  return MPI_SUCCESS;
}
