// SPDX-License-Identifier: Apache-2.0
// Intercommunicators, and communicators made from groups without a parent.
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/meeting.hpp>

using weft::RankId;
using weft::mp::Members;
using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::InternalScope;
using weft::mpi::Process;
using weft::mpi::Words;
namespace mp = weft::mp;

namespace {

// Communicators that are made from groups have no parent that could be revoked.
constexpr int member_failed = MPI_ERR_PROC_FAILED;

struct Leaders {
  int local;
  MPI_Comm peer_comm;
  int remote;
  int tag;
};

// The link is significant at the leader only, so only there its arguments are checked.
int find_link(Call& call, const Communicator& local, const Leaders& leaders, InternalScope& scope) {
  if (leaders.local < 0 || leaders.local >= local.size()) {
    return call.result(&local, MPI_ERR_RANK, "local leader");
  }
  scope.leader = leaders.local;
  scope.linked = true;
  if (local.rank != leaders.local) return MPI_SUCCESS;
  const Communicator* peer = call.communicator(leaders.peer_comm);
  if (!peer) return call.error();
  if (leaders.remote < 0 || leaders.remote >= peer->peers().size()) {
    return call.result(&local, MPI_ERR_RANK, "remote leader");
  }
  if (leaders.tag < 0) return call.result(&local, MPI_ERR_TAG);
  scope.link = {peer->peers()[leaders.remote], peer->context_of(Communicator::Traffic::creation),
                peer->rank, leaders.remote, leaders.tag};
  return MPI_SUCCESS;
}

Members united(const Members& first, const Members& second) {
  std::vector<RankId> ranks;
  for (const Members* part : {&first, &second}) {
    for (int i = 0; i < part->size(); ++i) ranks.push_back((*part)[i]);
  }
  return Members::of(ranks);
}

// What a communicator made from groups alone takes from its call.
struct Origin {
  const char* stringtag;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Session session;
};

// Concurrent calls are distinguished by their strings. The contexts of MPI_COMM_SELF are the same
// at all ranks, and no other rank sends there.
InternalScope scope_from(Process& process, const Members& group, int rank, const char* stringtag) {
  std::uint32_t hash = 2166136261;
  for (const char* c = stringtag; *c != 0; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619;
  }
  const mp::ContextId traffic = process.self_only().context_of(Communicator::Traffic::creation);
  const int tag = static_cast<int>(hash & 0x3fffffff);
  return {{process.messenger, group, rank, traffic, tag}, 0, false, {}};
}

int check_origin(Process& process, const Origin& origin, const MPI_Comm* made) {
  using weft::mpi::ErrorHandler;
  if (!origin.stringtag || !made) return MPI_ERR_ARG;
  if (origin.info != MPI_INFO_NULL && !find_info(process, origin.info)) return MPI_ERR_INFO;
  if (!valid_handler(process, origin.handler, ErrorHandler::Kind::comm)) return MPI_ERR_ERRHANDLER;
  return MPI_SUCCESS;
}

MPI_Comm make_from_groups(Process& process, weft::mpi::NewCommunicator wanted,
                          const Origin& origin) {
  Communicator* made = make_communicator(process, process.self_only(), std::move(wanted));
  retain_handler(process, origin.handler);
  release_handler(process, made->handler);
  made->handler = origin.handler;
  made->session = origin.session;
  if (origin.info != MPI_INFO_NULL) made->info = *find_info(process, origin.info);
  return made->handle;
}

}  // namespace

WEFT_MPI(Comm_create_from_group)
(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
 MPI_Comm* newcomm) {
  Call call("MPI_Comm_create_from_group", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  const Origin origin{stringtag, info, errhandler, session_of(process, group)};
  if (const int error = check_origin(process, origin, newcomm)) return call.result(error);
  const Members* members = find_group(process, group);
  if (!members) return call.result(MPI_ERR_GROUP);
  *newcomm = MPI_COMM_NULL;
  if (members->size() == 0) return MPI_SUCCESS;
  const std::optional<int> rank = members->find(process.rank());
  if (!rank) return call.result(MPI_ERR_GROUP, "the calling process is not a member");
  std::uint32_t context = 0;
  const InternalScope scope = scope_from(process, *members, *rank, stringtag);
  if (process.run(agree(process, {scope, true}, context)) != 0) return call.result(member_failed);
  *newcomm = make_from_groups(process, {context, *members, {}, false}, origin);
  return MPI_SUCCESS;
}

WEFT_MPI(Intercomm_create_from_groups)
(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
 const char* stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  Call call("MPI_Intercomm_create_from_groups", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  const Origin origin{stringtag, info, errhandler, session_of(process, local_group)};
  if (const int error = check_origin(process, origin, newintercomm)) return call.result(error);
  const Members* local = find_group(process, local_group);
  const std::optional<int> rank = local ? local->find(process.rank()) : std::nullopt;
  if (!rank) return call.result(MPI_ERR_GROUP, "local group");
  if (local_leader < 0 || local_leader >= local->size()) {
    return call.result(MPI_ERR_RANK, "local leader");
  }
  InternalScope scope = scope_from(process, *local, *rank, stringtag);
  scope.leader = local_leader;
  scope.linked = true;
  if (*rank == local_leader) {
    const Members* remote = find_group(process, remote_group);
    if (!remote) return call.result(MPI_ERR_GROUP, "remote group");
    if (remote_leader < 0 || remote_leader >= remote->size()) {
      return call.result(MPI_ERR_RANK, "remote leader");
    }
    const RankId peer = (*remote)[remote_leader];
    scope.link = {peer, scope.own.context, static_cast<int>(process.rank().index),
                  static_cast<int>(peer.index), scope.own.tag};
  }
  std::uint32_t context = 0;
  Words remote;
  if (process.run(agree(process, {scope, true}, context)) != 0 ||
      process.run(trade_groups(scope, remote)) != 0) {
    return call.result(member_failed);
  }
  Members others = Members::of(weft::mpi::decode(remote));
  acquaint(process, others);
  *newintercomm = make_from_groups(process, {context, *local, std::move(others), true}, origin);
  return MPI_SUCCESS;
}

WEFT_MPI(Intercomm_create)
(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
 MPI_Comm* newintercomm) {
  Call call("MPI_Intercomm_create", Call::communicates);
  Communicator* local = call.communicator(local_comm);
  if (!local) return call.error();
  if (local->inter) return call.result(local, MPI_ERR_COMM, "an intercommunicator");
  if (!newintercomm) return call.result(local, MPI_ERR_ARG);
  Process& process = call.process();
  InternalScope scope = scope_of(process, *local);
  if (const int error =
          find_link(call, *local, {local_leader, peer_comm, remote_leader, tag}, scope)) {
    return error;
  }
  std::uint32_t context = 0;
  Words remote;
  if (process.run(agree(process, {scope, true}, context)) != 0 ||
      process.run(trade_groups(scope, remote)) != 0) {
    return call.result(local, local->failure());
  }
  Members others = Members::of(weft::mpi::decode(remote));
  acquaint(process, others);
  const Communicator* made =
      make_communicator(process, *local, {context, local->local, std::move(others), true});
  *newintercomm = made->handle;
  return MPI_SUCCESS;
}

WEFT_MPI(Intercomm_merge)(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  Call call("MPI_Intercomm_merge", Call::communicates);
  Communicator* parent = call.communicator(intercomm);
  if (!parent) return call.error();
  if (!parent->inter) return call.result(parent, MPI_ERR_COMM, "no intercommunicator");
  if (!newintracomm) return call.result(parent, MPI_ERR_ARG);
  Process& process = call.process();
  const std::optional<std::uint32_t> context = agree_context(process, *parent);
  if (!context) return call.result(parent, parent->failure());
  // Whether some rank wants to be high and some rank low; otherwise the lowest rank decides.
  std::array<std::uint32_t, 2> preferences = {high ? 1U : 0U, high ? 0U : 1U};
  if (process.run(all_max(scope_of(process, *parent), preferences)) != 0) {
    return call.result(parent, parent->failure());
  }
  const bool differ = preferences[0] == 1 && preferences[1] == 1;
  const bool first = differ ? !high : parent->local[0] < parent->remote[0];
  Members all =
      first ? united(parent->local, parent->remote) : united(parent->remote, parent->local);
  const Communicator* made =
      make_communicator(process, *parent, {*context, std::move(all), {}, false});
  *newintracomm = made->handle;
  return MPI_SUCCESS;
}
