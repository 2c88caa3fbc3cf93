// SPDX-License-Identifier: Apache-2.0
// Internal collectives for creating and freeing communicators. Their messages carry data even where
// the program's do not, and no rank stores more than it needs: at 65,536 ranks, lists of all ranks
// at all ranks would not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/message/mp/members.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/task.hpp>

namespace weft::mpi {

// Ranks that run an internal collective together. `members` must live until it is done.
struct InternalGroup {
  mp::Messenger& messenger;
  const mp::Members& members;
  int rank = 0;
  mp::ContextId context = 0;
  int tag = 0;
};

// A connection from our leader to the leader of another group.
struct Link {
  RankId peer;
  mp::ContextId context = 0;
  int rank = 0;         // Our rank, as the peer knows it.
  int remote_rank = 0;  // The peer's rank, as we know it.
  int tag = 0;
};

// One group, or two that communicate through their leaders.
struct InternalScope {
  InternalGroup own;
  int leader = 0;
  bool linked = false;
  Link link;  // Used by the leader only.
};

using Words = std::vector<std::uint32_t>;

// What these tasks return if a member is lost, or the context revoked; otherwise 0. Other members
// may have come to the end all the same.
inline constexpr int member_lost = 1;

// Replaces the values by their maximum over all members. No member is done before all have started.
mp::Task all_max(InternalGroup internal, std::span<std::uint32_t> values);
mp::Task all_max(InternalScope scope, std::span<std::uint32_t> values);
// Broadcasts the words of the root; receivers need not know their number.
mp::Task broadcast(InternalGroup internal, int root, Words& words);
// Gathers the same number of words from each member, in order, at member 0.
mp::Task collect(InternalGroup internal, Words mine, Words& all);
// The leaders exchange words.
mp::Task swap_words(mp::Messenger& messenger, Link link, const Words& mine, Words& theirs);

// Sends any number of words to one member, or receives them from one.
mp::Task give(InternalGroup internal, int to, const Words& words);
mp::Task take(InternalGroup internal, int from, Words& words);

// In the binomial tree rooted at member 0: the parent, and the end of the range of members in the
// subtree of `rank`, itself included.
int tree_parent(int rank);
int tree_end(int rank, int size);

// Compresses lists of ranks to runs (first, step, count).
Words encode(std::span<const std::uint32_t> ranks);
std::vector<RankId> decode(std::span<const std::uint32_t> runs);
std::vector<std::uint32_t> list(const mp::Members& members);

}  // namespace weft::mpi
