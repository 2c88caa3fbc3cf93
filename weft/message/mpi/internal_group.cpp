// SPDX-License-Identifier: Apache-2.0
#include "internal_group.hpp"

#include <algorithm>

namespace weft::mpi {

namespace {

// Members are addressed by their ranks in the world: messages of different groups with the same
// context and tag (MPI_Comm_create_group) are then distinguished by their senders.
Link link_to(const InternalGroup& internal, int member) {
  const RankId peer = internal.members[member];
  return {peer, internal.context, static_cast<int>(internal.members[internal.rank].index),
          static_cast<int>(peer.index), internal.tag};
}

mp::Request* send_words(mp::Messenger& messenger, const Link& link, const void* data,
                        std::size_t count) {
  mp::Sending sending;
  sending.to = link.peer;
  sending.context = link.context;
  sending.source = link.rank;
  sending.tag = link.tag;
  sending.data = data;
  sending.size = count * sizeof(std::uint32_t);
  sending.internal = true;
  return messenger.send(sending);
}

mp::Request* receive_words(mp::Messenger& messenger, const Link& link, void* data,
                           std::size_t count) {
  mp::Receiving receiving;
  receiving.context = link.context;
  receiving.source = link.remote_rank;
  receiving.tag = link.tag;
  receiving.data = data;
  receiving.size = count * sizeof(std::uint32_t);
  receiving.internal = true;
  return messenger.receive(receiving);
}

void raise_to(std::span<std::uint32_t> values, const Words& other) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], other[i]);
}

}  // namespace

// Dissemination: after step k each member has the values of the 2^(k+1) before it. Counting one
// twice does not change a maximum, so any number of members will do.
mp::Task all_max(InternalGroup internal, std::span<std::uint32_t> values) {
  const int size = internal.members.size();
  Words in(values.size());
  Words out(values.size());
  for (int distance = 1; distance < size; distance *= 2) {
    const int to = (internal.rank + distance) % size;
    const int from = (internal.rank - distance + size) % size;
    std::copy(values.begin(), values.end(), out.begin());
    mp::Request* receive =
        receive_words(internal.messenger, link_to(internal, from), in.data(), in.size());
    mp::Request* send =
        send_words(internal.messenger, link_to(internal, to), out.data(), out.size());
    const bool gone = (co_await mp::finished(internal.messenger, send)).failed;
    if ((co_await mp::finished(internal.messenger, receive)).failed || gone) co_return member_lost;
    raise_to(values, in);
  }
  co_return 0;
}

mp::Task all_max(InternalScope scope, std::span<std::uint32_t> values) {
  mp::Task inside = all_max(scope.own, values);
  const int error = co_await inside;
  if (error != 0 || !scope.linked) co_return error;
  Words agreed(values.begin(), values.end());
  if (scope.own.rank == scope.leader) {
    Words theirs;
    mp::Task traded = swap_words(scope.own.messenger, scope.link, agreed, theirs);
    if (const int lost = co_await traded) co_return lost;
    theirs.resize(agreed.size());
    raise_to(agreed, theirs);
  }
  mp::Task sent = broadcast(scope.own, scope.leader, agreed);
  if (const int lost = co_await sent) co_return lost;
  agreed.resize(values.size());
  std::copy(agreed.begin(), agreed.end(), values.begin());
  co_return 0;
}

mp::Task give(InternalGroup internal, int to, const Words& words) {
  const auto count = static_cast<std::uint32_t>(words.size());
  mp::Request* first = send_words(internal.messenger, link_to(internal, to), &count, 1);
  mp::Request* second =
      send_words(internal.messenger, link_to(internal, to), words.data(), words.size());
  const bool gone = (co_await mp::finished(internal.messenger, first)).failed;
  co_return (co_await mp::finished(internal.messenger, second)).failed || gone ? member_lost : 0;
}

mp::Task take(InternalGroup internal, int from, Words& words) {
  std::uint32_t count = 0;
  mp::Request* first = receive_words(internal.messenger, link_to(internal, from), &count, 1);
  if ((co_await mp::finished(internal.messenger, first)).failed) co_return member_lost;
  words.resize(count);
  mp::Request* second =
      receive_words(internal.messenger, link_to(internal, from), words.data(), words.size());
  co_return (co_await mp::finished(internal.messenger, second)).failed ? member_lost : 0;
}

mp::Task swap_words(mp::Messenger& messenger, Link link, const Words& mine, Words& theirs) {
  const auto count = static_cast<std::uint32_t>(mine.size());
  std::uint32_t their_count = 0;
  mp::Request* receive_count = receive_words(messenger, link, &their_count, 1);
  mp::Request* send_count = send_words(messenger, link, &count, 1);
  mp::Request* send = send_words(messenger, link, mine.data(), mine.size());
  bool gone = (co_await mp::finished(messenger, receive_count)).failed;
  if (!gone) {
    theirs.resize(their_count);
    mp::Request* receive = receive_words(messenger, link, theirs.data(), theirs.size());
    gone = (co_await mp::finished(messenger, receive)).failed;
  }
  gone = (co_await mp::finished(messenger, send_count)).failed || gone;
  gone = (co_await mp::finished(messenger, send)).failed || gone;
  co_return gone ? member_lost : 0;
}

int tree_parent(int rank) {
  return rank & (rank - 1);
}

int tree_end(int rank, int size) {
  if (rank == 0) return size;
  return static_cast<int>(std::min<std::int64_t>(std::int64_t{rank} + (rank & -rank), size));
}

mp::Task broadcast(InternalGroup internal, int root, Words& words) {
  const int size = internal.members.size();
  const int place = (internal.rank - root + size) % size;  // Position in a tree rooted at 0.
  if (place != 0) {
    mp::Task taken = take(internal, (tree_parent(place) + root) % size, words);
    if (const int lost = co_await taken) co_return lost;
  }
  const int end = tree_end(place, size);
  int step = 1;
  while (place + step < end) step *= 2;
  for (; step > 0; step /= 2) {
    if (place + step >= end) continue;
    mp::Task given = give(internal, (place + step + root) % size, words);
    if (const int lost = co_await given) co_return lost;
  }
  co_return 0;
}

mp::Task collect(InternalGroup internal, Words mine, Words& all) {
  const int size = internal.members.size();
  const std::size_t each = mine.size();
  const int end = tree_end(internal.rank, size);
  all = std::move(mine);
  all.resize(each * static_cast<std::size_t>(end - internal.rank));
  std::vector<mp::Request*> receives;
  for (int step = 1; internal.rank + step < end; step *= 2) {
    const int child = internal.rank + step;
    const auto below = static_cast<std::size_t>(tree_end(child, size) - child);
    receives.push_back(receive_words(internal.messenger, link_to(internal, child),
                                     all.data() + each * static_cast<std::size_t>(step),
                                     each * below));
  }
  bool gone = false;
  for (mp::Request* receive : receives) {
    gone = (co_await mp::finished(internal.messenger, receive)).failed || gone;
  }
  if (gone) co_return member_lost;
  if (internal.rank != 0) {
    mp::Request* send = send_words(
        internal.messenger, link_to(internal, tree_parent(internal.rank)), all.data(), all.size());
    gone = (co_await mp::finished(internal.messenger, send)).failed;
  }
  co_return gone ? member_lost : 0;
}

Words encode(std::span<const std::uint32_t> ranks) {
  Words runs;
  std::size_t i = 0;
  while (i < ranks.size()) {
    std::size_t end = i + 1;
    const std::uint32_t step = end < ranks.size() ? ranks[end] - ranks[i] : 0;  // Modulo 2^32.
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == step) ++end;
    runs.push_back(ranks[i]);
    runs.push_back(step);
    runs.push_back(static_cast<std::uint32_t>(end - i));
    i = end;
  }
  return runs;
}

std::vector<RankId> decode(std::span<const std::uint32_t> runs) {
  std::vector<RankId> ranks;
  for (std::size_t i = 0; i + 2 < runs.size(); i += 3) {
    for (std::uint32_t k = 0; k < runs[i + 2]; ++k) ranks.emplace_back(runs[i] + k * runs[i + 1]);
  }
  return ranks;
}

std::vector<std::uint32_t> list(const mp::Members& members) {
  std::vector<std::uint32_t> ranks(static_cast<std::size_t>(members.size()));
  for (int i = 0; i < members.size(); ++i) ranks[static_cast<std::size_t>(i)] = members[i].index;
  return ranks;
}

}  // namespace weft::mpi
