// SPDX-License-Identifier: Apache-2.0
// Splits a communicator. Colours and keys go up a tree to member 0 (of each group), which forms the
// new groups; only groups with members in a subtree travel down to it, as runs of ranks.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/internal_group.hpp>
#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

namespace {

// Two words per member of a group, in its order.
using Choices = Words;

struct Choice {
  int colour;
  int key;
};
Choice choice_of(const Choices& choices, std::size_t member) {
  return {static_cast<int>(choices[2 * member]), static_cast<int>(choices[2 * member + 1])};
}

// The members of each colour, ordered by key, then by rank.
std::map<int, std::vector<std::uint32_t>> by_colour(const Choices& choices,
                                                    const mp::Members& members) {
  std::vector<std::size_t> order(choices.size() / 2);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return choice_of(choices, a).key < choice_of(choices, b).key;
  });
  std::map<int, std::vector<std::uint32_t>> groups;
  for (const std::size_t member : order) {
    const int colour = choice_of(choices, member).colour;
    if (colour == MPI_UNDEFINED) continue;
    groups[colour].push_back(members[static_cast<int>(member)].index);
  }
  return groups;
}

// What travels down the tree: groups, and for each member of the subtree the index of its group.
struct Assignment {
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Pair {
    Words local, remote;  // Runs.
  };
  std::vector<Pair> groups;
  Words of_member;

  // The part for a range of members, with the groups that they need.
  Assignment part(std::size_t from, std::size_t to) const {
    Assignment result;
    std::map<std::uint32_t, std::uint32_t> renumbered;
    for (std::size_t i = from; i < to; ++i) {
      const std::uint32_t group = of_member[i];
      if (group == none) {
        result.of_member.push_back(none);
        continue;
      }
      const auto number = static_cast<std::uint32_t>(result.groups.size());
      const auto [place, fresh] = renumbered.try_emplace(group, number);
      if (fresh) result.groups.push_back(groups[group]);
      result.of_member.push_back(place->second);
    }
    return result;
  }

  Words write() const {
    Words words = {static_cast<std::uint32_t>(groups.size())};
    for (const Pair& pair : groups) {
      for (const Words* runs : {&pair.local, &pair.remote}) {
        words.push_back(static_cast<std::uint32_t>(runs->size()));
        words.insert(words.end(), runs->begin(), runs->end());
      }
    }
    words.insert(words.end(), of_member.begin(), of_member.end());
    return words;
  }

  static Assignment read(const Words& words) {
    Assignment result;
    std::size_t at = 0;
    const auto take = [&] {
      const std::size_t count = words[at++];
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
      at += count;
      return Words(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    result.groups.resize(words[at++]);
    for (Pair& pair : result.groups) {
      pair.local = take();
      pair.remote = take();
    }
    result.of_member.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    return result;
  }
};

// At member 0. In an intercommunicator, a colour without members on the other side has no group.
Assignment assign(const Communicator& comm, const Choices& local, const Choices& remote) {
  Assignment result;
  const auto own = by_colour(local, comm.local);
  const auto others = comm.inter ? by_colour(remote, comm.remote) : decltype(own){};
  std::map<int, std::uint32_t> number;
  for (const auto& [colour, members] : own) {
    const auto other = others.find(colour);
    if (comm.inter && other == others.end()) continue;
    number[colour] = static_cast<std::uint32_t>(result.groups.size());
    result.groups.push_back({encode(members), comm.inter ? encode(other->second) : Words{}});
  }
  for (std::size_t i = 0; i < local.size() / 2; ++i) {
    const auto found = number.find(choice_of(local, i).colour);
    result.of_member.push_back(found == number.end() ? Assignment::none : found->second);
  }
  return result;
}

mp::Task share(InternalGroup internal, Assignment& assignment) {
  const int end = tree_end(internal.rank, internal.members.size());
  if (internal.rank != 0) {
    Words words;
    mp::Task taken = take(internal, tree_parent(internal.rank), words);
    if (const int lost = co_await taken) co_return lost;
    assignment = Assignment::read(words);
  }
  int step = 1;
  while (internal.rank + step < end) step *= 2;
  for (; step > 0; step /= 2) {
    const int child = internal.rank + step;
    if (child >= end) continue;
    const auto from = static_cast<std::size_t>(step);
    const auto to =
        static_cast<std::size_t>(tree_end(child, internal.members.size()) - internal.rank);
    const Words words = assignment.part(from, to).write();
    mp::Task given = give(internal, child, words);
    if (const int lost = co_await given) co_return lost;
  }
  co_return 0;
}

mp::Task form(Communicator& comm, InternalScope scope, Choice mine, Assignment& assignment) {
  Words own = {static_cast<std::uint32_t>(mine.colour), static_cast<std::uint32_t>(mine.key)};
  Choices local;
  mp::Task collected = collect(scope.own, own, local);
  if (const int lost = co_await collected) co_return lost;
  if (scope.own.rank == 0) {
    Choices remote;
    if (scope.linked) {
      mp::Task traded = swap_words(scope.own.messenger, scope.link, local, remote);
      if (const int lost = co_await traded) co_return lost;
    }
    assignment = assign(comm, local, remote);
  }
  mp::Task shared = share(scope.own, assignment);
  co_return co_await shared;
}

}  // namespace

int split(Process& process, Communicator& parent, int colour, int key, Communicator*& made) {
  made = nullptr;
  const std::optional<std::uint32_t> context = agree_context(process, parent);
  if (!context) return parent.failure();
  Assignment assignment;
  if (process.run(form(parent, scope_of(process, parent), {colour, key}, assignment)) != 0) {
    return parent.failure();
  }
  const std::uint32_t group = assignment.of_member[0];
  if (group == Assignment::none) return MPI_SUCCESS;
  NewCommunicator wanted;
  wanted.context = *context;
  wanted.inter = parent.inter;
  wanted.local = mp::Members::of(decode(assignment.groups[group].local));
  wanted.remote = mp::Members::of(decode(assignment.groups[group].remote));
  made = make_communicator(process, parent, std::move(wanted));
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
