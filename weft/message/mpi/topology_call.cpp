// SPDX-License-Identifier: Apache-2.0
#include "topology_call.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/message/coll/collectives.hpp>

namespace weft::mpi {

int make_with(Process& process, Communicator& parent, mp::Members members,
              std::shared_ptr<const Topology> topology, MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  const std::optional<std::uint32_t> context = agree_context(process, parent);
  if (!context) return parent.failure();
  Communicator* comm =
      make_communicator(process, parent, {*context, std::move(members), {}, false});
  comm->topology = std::move(topology);
  *made = comm->handle;
  return MPI_SUCCESS;
}

int make_first(Process& process, Communicator& parent, int size,
               std::shared_ptr<const Topology> topology, MPI_Comm* made) {
  if (size == parent.size()) {
    return make_with(process, parent, parent.local, std::move(topology), made);
  }
  if (parent.rank >= size) {
    *made = MPI_COMM_NULL;
    return agree_context(process, parent) ? MPI_SUCCESS : parent.failure();
  }
  std::vector<RankId> ranks;
  ranks.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) ranks.push_back(parent.local[i]);
  return make_with(process, parent, mp::Members::of(ranks), std::move(topology), made);
}

namespace {

// An edge in a message to one of its ends.
struct EdgeNotice {
  std::int32_t outgoing = 0;
  std::int32_t peer = 0;
  std::int32_t weight = 0;
  std::int32_t sender = 0;
  std::int32_t number = 0;  // Position in the sender's list.

  // A deterministic order, as messages arrive in any.
  auto order() const { return std::tie(peer, sender, number); }
};

// No rank knows how many messages it will get. So each rank sends messages that must be
// acknowledged, and enters a barrier when all are: once all ranks have entered, nothing is in
// flight.
class EdgeExchange {
 public:
  EdgeExchange(Process& process, Communicator& comm)
      : process_(process),
        messenger_(process.messenger),
        context_(comm.context_of(Communicator::Traffic::collectives)),
        tag_(comm.next_collective_tag()),
        team_{process.messenger, context_, comm.rank, comm.local, comm.next_collective_tag()} {}

  void send(int rank, const std::vector<EdgeNotice>& notices) {
    mp::Sending sending;
    sending.to = team_.members[rank];
    sending.context = context_;
    sending.source = team_.rank;
    sending.tag = tag_;
    sending.data = notices.data();
    sending.size = notices.size() * sizeof(EdgeNotice);
    sending.synchronous = true;
    sending.internal = true;
    open_.push_back(messenger_.send(sending));
  }
  // Call until it returns true.
  bool done(std::vector<EdgeNotice>& received) {
    while (mp::UnexpectedRecord* message = messenger_.take(context_, mp::any_source, tag_)) {
      receive(message, received);
    }
    while (!open_.empty() && open_.back()->done) {
      messenger_.release(open_.back());
      open_.pop_back();
    }
    if (!open_.empty()) return false;
    if (!entered_) barrier_ = coll::barrier(team_);
    entered_ = true;
    return barrier_.done();
  }

 private:
  void receive(mp::UnexpectedRecord* message, std::vector<EdgeNotice>& received) {
    mp::Receiving receiving;
    receiving.size = messenger_.taken(message).size;
    receiving.internal = true;
    std::vector<EdgeNotice> notices(receiving.size / sizeof(EdgeNotice));
    receiving.data = notices.data();
    mp::Request* const request = messenger_.receive_taken(message, receiving);
    process_.wait_low(request);
    messenger_.release(request);
    received.insert(received.end(), notices.begin(), notices.end());
  }

  Process& process_;
  mp::Messenger& messenger_;
  mp::ContextId context_;
  int tag_;
  coll::Team team_;
  std::vector<mp::Request*> open_;
  bool entered_ = false;
  mp::Task barrier_;
};

}  // namespace

LocalGraph spread_edges(Process& process, Communicator& comm, std::span<const Edge> edges) {
  std::map<int, std::vector<EdgeNotice>> by_rank;
  std::int32_t number = 0;
  for (const Edge& edge : edges) {
    by_rank[edge.source].push_back({1, edge.destination, edge.weight, comm.rank, number});
    by_rank[edge.destination].push_back({0, edge.source, edge.weight, comm.rank, number});
    ++number;
  }
  std::vector<EdgeNotice> received = std::move(by_rank[comm.rank]);
  by_rank.erase(comm.rank);
  EdgeExchange exchange(process, comm);
  for (const auto& [rank, notices] : by_rank) exchange.send(rank, notices);
  process.wait_until_own([&] { return exchange.done(received); });
  std::sort(received.begin(), received.end(),
            [](const EdgeNotice& a, const EdgeNotice& b) { return a.order() < b.order(); });
  LocalGraph graph;
  for (const EdgeNotice& notice : received) {
    (notice.outgoing ? graph.destinations : graph.sources).push_back(notice.peer);
    (notice.outgoing ? graph.destination_weights : graph.source_weights).push_back(notice.weight);
  }
  return graph;
}

}  // namespace weft::mpi
