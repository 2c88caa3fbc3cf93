// SPDX-License-Identifier: Apache-2.0
// Communicators between two groups.
#include <array>
#include <span>
#include <utility>

#include <weft/mpi/call.hpp>
#include <weft/mpi/contexts.hpp>
#include <weft/mpi/group.hpp>

using weft::RankId;
using weft::mp::Members;
using weft::mpi::Call;
using weft::mpi::Circles;
using weft::mpi::Communicator;
using weft::mpi::Process;
using weft::mpi::Words;
namespace mp = weft::mp;

namespace {

// Leaders trade their groups, and tell their own members. Ranks in messages on the way between the
// leaders are those of the peer communicator.
mp::Task trade_groups(Circles circles, Words& remote) {
  if (circles.own.rank == circles.leader) {
    const Words mine = weft::mpi::encode(weft::mpi::list(circles.own.members));
    mp::Task traded = trade(circles.own.messenger, circles.link, mine, remote);
    co_await traded;
  }
  mp::Task told = broadcast(circles.own, circles.leader, remote);
  co_await told;
  co_return 0;
}

struct Leaders {
  int local;
  MPI_Comm peer_comm;
  int remote;
  int tag;
};

// The link is meaningful at the leader only, and only there are its arguments looked at.
int find_link(Call& call, const Communicator& local, const Leaders& leaders, Circles& circles) {
  if (leaders.local < 0 || leaders.local >= local.size()) {
    return call.result(&local, MPI_ERR_RANK, "local leader");
  }
  circles.leader = leaders.local;
  circles.linked = true;
  if (local.rank != leaders.local) return MPI_SUCCESS;
  const Communicator* peer = call.communicator(leaders.peer_comm);
  if (!peer) return call.error();
  if (leaders.remote < 0 || leaders.remote >= peer->peers().size()) {
    return call.result(&local, MPI_ERR_RANK, "remote leader");
  }
  if (leaders.tag < 0) return call.result(&local, MPI_ERR_TAG);
  circles.link = {peer->peers()[leaders.remote], peer->context_of(Communicator::Traffic::creation),
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

}  // namespace

WEFT_MPI(Intercomm_create)
(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
 MPI_Comm* newintercomm) {
  Call call("MPI_Intercomm_create", Call::communicates);
  Communicator* local = call.communicator(local_comm);
  if (!local) return call.error();
  if (local->inter) return call.result(local, MPI_ERR_COMM, "an intercommunicator");
  if (!newintercomm) return call.result(local, MPI_ERR_ARG);
  Process& process = call.process();
  Circles circles = circles_of(process, *local);
  if (const int error =
          find_link(call, *local, {local_leader, peer_comm, remote_leader, tag}, circles)) {
    return error;
  }
  std::uint32_t context = 0;
  process.run(agree(process, {circles, true}, context));
  Words remote;
  process.run(trade_groups(circles, remote));
  Members others = Members::of(weft::mpi::decode(remote));
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
  const std::uint32_t context = agree_context(process, *parent);
  // Whether somebody wants to be high, and somebody low; else the lowest rank decides.
  std::array<std::uint32_t, 2> wishes = {high ? 1U : 0U, high ? 0U : 1U};
  process.run(greatest(circles_of(process, *parent), wishes));
  const bool differ = wishes[0] == 1 && wishes[1] == 1;
  const bool first = differ ? !high : parent->local[0] < parent->remote[0];
  Members all =
      first ? united(parent->local, parent->remote) : united(parent->remote, parent->local);
  const Communicator* made =
      make_communicator(process, *parent, {context, std::move(all), {}, false});
  *newintracomm = made->handle;
  return MPI_SUCCESS;
}
