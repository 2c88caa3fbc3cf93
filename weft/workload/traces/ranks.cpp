// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/traces/ranks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace weft::detail {
namespace {

template <typename... Values>
Error problem(fmt::format_string<const Values&...> text, const Values&... values) {
  return Error::input(fmt::format(text, values...));
}

}  // namespace

Status TraceRanks::define_group(std::uint32_t id, const TraceGroup& group,
                                std::span<const std::uint64_t> members) {
  Group made{group, {}};
  if (group.kind == TraceGroup::Kind::world) {
    if (members.size() > TrafficMatrix::ranks_max)
      return problem("{} ranks; at most {} are possible", members.size(), TrafficMatrix::ranks_max);
    if (world_.empty()) world_.assign(members.begin(), members.end());
    made.ranks.resize(members.size());
    std::iota(made.ranks.begin(), made.ranks.end(), 0u);
  } else if (group.kind == TraceGroup::Kind::members) {
    made.ranks.reserve(members.size());
    for (const std::uint64_t rank : members) {
      if (rank >= world_.size())
        return problem("a group has rank {}, but there are {} ranks", rank, world_.size());
      made.ranks.push_back(static_cast<std::uint32_t>(rank));
    }
  }
  groups_[id] = std::move(made);
  return {};
}

Status TraceRanks::finish_definitions() {
  if (world_.empty()) return problem("the trace has no MPI ranks, so this is not all of it");
  for (std::uint32_t rank = 0; rank < world_.size(); ++rank) rank_of_location_[world_[rank]] = rank;
  // Other threads of a process may call MPI as well.
  for (const TraceLocation& location : locations_)
    if (const auto found = rank_of_location_.find(location.id); found != rank_of_location_.end())
      rank_of_process_[location.process] = found->second;
  return {};
}

void TraceRanks::enter(const TraceLocation& location) {
  here_.reset();
  member_here_.clear();
  if (const auto rank = rank_of_location_.find(location.id); rank != rank_of_location_.end())
    here_ = rank->second;
  else if (const auto of = rank_of_process_.find(location.process); of != rank_of_process_.end())
    here_ = of->second;
}

const TraceRanks::Group* TraceRanks::find_group(std::uint32_t id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : &found->second;
}

const TraceRanks::Group* TraceRanks::find_peers(const Comm& comm) const {
  const Group* const group = find_group(comm.group);
  if (!comm.other || group == nullptr) return group;
  const bool is_mine =
      std::find(group->ranks.begin(), group->ranks.end(), *here_) != group->ranks.end();
  return is_mine ? find_group(*comm.other) : group;
}

TraceRanks::Rank TraceRanks::find_rank(const Group& group, std::uint32_t rank) const {
  if (group.kind == TraceGroup::Kind::self) return here_;
  if (group.uses_world_ranks) return rank < world_.size() ? Rank(rank) : Rank();
  return rank < group.ranks.size() ? Rank(group.ranks[rank]) : Rank();
}

TraceRanks::Rank TraceRanks::find_member(std::uint32_t comm, const Group& group) {
  if (const auto known = member_here_.find(comm); known != member_here_.end()) return known->second;
  std::uint32_t member = *here_;  // As in the world itself.
  if (member >= group.ranks.size() || group.ranks[member] != *here_) {
    const auto found = std::find(group.ranks.begin(), group.ranks.end(), *here_);
    if (found == group.ranks.end()) return {};
    member = static_cast<std::uint32_t>(found - group.ranks.begin());
  }
  return member_here_[comm] = member;
}

Status TraceRanks::send(std::uint32_t comm, std::uint32_t receiver, std::uint64_t bytes) {
  if (!here_) return problem("a location that is no MPI rank sends a message");
  const auto found = comms_.find(comm);
  const Group* const peers = found == comms_.end() ? nullptr : find_peers(found->second);
  if (peers == nullptr) return problem("rank {} sends in an undefined communicator", *here_);
  const Rank to = find_rank(*peers, receiver);
  if (!to)
    return problem("rank {} sends to rank {}, which its communicator does not have", *here_,
                   receiver);
  tally_.add(*here_, *to, bytes);
  return {};
}

Status TraceRanks::collect(std::uint32_t comm, CollectivePart part) {
  if (part.spread == Spread::none || (part.sent == 0 && part.received == 0)) return {};
  if (!here_) return problem("a location that is no MPI rank does what only ranks can");
  const auto found = comms_.find(comm);
  if (found != comms_.end() && found->second.other) return collect_between(found->second, part);
  const Group* const group = found == comms_.end() ? nullptr : find_group(found->second.group);
  if (group == nullptr) return problem("rank {} uses an undefined communicator", *here_);
  if (group->kind == TraceGroup::Kind::self) return {};
  const Rank member = find_member(comm, *group);
  if (!member) return problem("rank {} uses a communicator that does not have it", *here_);
  part.member = *member;
  if (part.spread == Spread::from_root || part.spread == Spread::to_root) {
    if (part.root == root_is_self) {
      part.root = part.member;
    } else if (group->uses_world_ranks) {
      const auto at = std::find(group->ranks.begin(), group->ranks.end(), part.root);
      part.root = static_cast<std::uint32_t>(at - group->ranks.begin());
    }
    if (part.root >= group->ranks.size())
      return problem("rank {} names a root that its communicator does not have", *here_);
  }
  tally_.add(CommMembers{found->second.group, group->ranks}, part);
  return {};
}

// Between two groups only operations with a root are counted: the others are hardly used.
Status TraceRanks::collect_between(const Comm& comm, const CollectivePart& part) {
  const bool is_from = part.spread == Spread::from_root;
  if (!is_from && part.spread != Spread::to_root) return {};
  // Then the other side tells.
  if (part.root == root_is_self || part.root == root_is_on_this_side) return {};
  const Group* const peers = find_peers(comm);
  const Rank root = peers == nullptr ? Rank() : find_rank(*peers, part.root);
  if (!root) return problem("rank {} names a root that its communicator does not have", *here_);
  if (is_from && part.received != 0) tally_.add(*root, *here_, part.received);
  if (!is_from && part.sent != 0) tally_.add(*here_, *root, part.sent);
  return {};
}

}  // namespace weft::detail
