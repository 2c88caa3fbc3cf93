// SPDX-License-Identifier: Apache-2.0
#include "meeting.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/internal_group.hpp>

namespace weft::mpi {

namespace {

// Between the two ranks that have met: the context of MPI_COMM_SELF is the same at all ranks, and
// this part of it is used for nothing else. The number distinguishes meetings.
Link link_to(Process& process, const JobMeeting& meeting) {
  return {meeting.rank, process.self_only().context_of(Communicator::Traffic::local),
          static_cast<int>(process.rank().index), static_cast<int>(meeting.rank.index),
          static_cast<int>(meeting.number)};
}

// Whether the other one is there. Before its own group takes part: a group whose root waits in vain
// would wait for ever.
int greet(Process& process, const JobMeeting& meeting) {
  const std::array<RankId, 1> other = {meeting.rank};
  acquaint(process, mp::Members::of(other));
  const Words mine = {1};
  Words theirs;
  const mp::Task greeted = swap_words(process.messenger, link_to(process, meeting), mine, theirs);
  return process.run(greeted);
}

}  // namespace

JobDesk::Answer await(Process& process, JobDesk::Ticket ticket) {
  JobDesk::Answer answer;
  JobDesk& desk = *process.runtime.desk();
  bool here = false;
  process.wait_until([&] { return here = here || desk.answered(ticket, answer); });
  return answer;
}

void acquaint(Process& process, const mp::Members& members) {
  JobDesk* const desk = process.runtime.desk();
  if (desk == nullptr) return;
  constexpr std::size_t at_once = 64;
  std::vector<RankId> unknown;
  for (int i = 0; i <= members.size(); ++i) {
    if (i < members.size() && !desk->knows(members[i])) unknown.push_back(members[i]);
    if (unknown.empty() || (i < members.size() && unknown.size() < at_once)) continue;
    const JobDesk::Answer answer = await(process, desk->acquaint(unknown));
    if (answer.error != MPI_SUCCESS) {
      end_job(process, answer.error,
              "rank " + std::to_string(process.rank().index) + ": " + answer.text);
    }
    unknown.clear();
  }
}

mp::Task trade_groups(InternalScope scope, Words& remote) {
  if (scope.own.rank == scope.leader) {
    const Words mine = encode(list(scope.own.members));
    mp::Task traded = swap_words(scope.own.messenger, scope.link, mine, remote);
    if (const int lost = co_await traded) co_return lost;
  }
  mp::Task sent = broadcast(scope.own, scope.leader, remote);
  co_return co_await sent;
}

Communicator* meet(Process& process, Communicator& local, int root, Encounter& found) {
  const bool leads = local.rank == root;
  if (leads && found.error == MPI_SUCCESS && greet(process, found.meeting) != 0) {
    found.error = MPI_ERR_PROC_FAILED;
    found.why = "the other side has ended";
  }
  Words words = {static_cast<std::uint32_t>(found.error), found.count};
  if (process.run(broadcast(scope_of(process, local).own, root, words)) != 0) {
    found.error = local.failure();
    return nullptr;
  }
  found.error = static_cast<int>(words[0]);
  found.count = words[1];
  if (found.error != MPI_SUCCESS) return nullptr;
  InternalScope scope = scope_of(process, local);
  scope.leader = root;
  scope.linked = true;
  if (leads) scope.link = link_to(process, found.meeting);
  std::uint32_t context = 0;
  Words remote;
  if (process.run(agree(process, {scope, true}, context)) != 0 ||
      process.run(trade_groups(scope, remote)) != 0) {
    found.error = local.failure();
    return nullptr;
  }
  mp::Members others = mp::Members::of(decode(remote));
  acquaint(process, others);
  return make_communicator(process, local, {context, local.local, std::move(others), true});
}

void note_worlds(Process& process, Communicator& comm) {
  const JobDesk* const desk = process.runtime.desk();
  if (desk == nullptr) return;
  std::set<std::uint32_t> worlds;
  for (const mp::Members* const members : {&comm.local, &comm.remote}) {
    if (members->within(process.fabric.first, process.fabric.ranks)) continue;
    for (int i = 0; i < members->size(); ++i) {
      if (!process.fabric.started_together((*members)[i]))
        worlds.insert(desk->world_of((*members)[i]));
    }
  }
  if (worlds.empty()) return;
  comm.worlds.assign(worlds.begin(), worlds.end());
  if (const auto ticket = tell_connected(process)) process.runtime.desk()->ignore(*ticket);
}

std::optional<JobDesk::Ticket> tell_connected(Process& process) {
  std::set<std::uint32_t> worlds;
  process.communicators.for_each([&](const Communicator& comm) {
    if (!comm.freed && !comm.parting) worlds.insert(comm.worlds.begin(), comm.worlds.end());
  });
  std::vector<std::uint32_t> connected(worlds.begin(), worlds.end());
  if (connected == process.connected) return std::nullopt;
  process.connected = std::move(connected);
  return process.runtime.desk()->tell_connected(process.connected);
}

}  // namespace weft::mpi
