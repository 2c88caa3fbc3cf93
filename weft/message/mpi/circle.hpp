// SPDX-License-Identifier: Apache-2.0
// What the library itself must agree on to make and end communicators. Its messages carry data even
// where the program's do not, and no rank keeps more than it needs: at 65,536 ranks lists of all
// ranks at all ranks would not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/message/mp/members.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/task.hpp>

namespace weft::mpi {

// Ranks that do one thing together. `members` must live until it is done.
struct Circle {
  mp::Messenger& messenger;
  const mp::Members& members;
  int rank = 0;
  mp::ContextId context = 0;
  int tag = 0;
};

// The leader of a circle beside, for the leader of ours.
struct Link {
  RankId peer;
  mp::ContextId context = 0;
  int rank = 0;         // Ours, as the peer knows us.
  int remote_rank = 0;  // The peer's, as we know it.
  int tag = 0;
};

// A circle, or two that talk through their leaders.
struct Circles {
  Circle own;
  int leader = 0;
  bool linked = false;
  Link link;  // Used by the leader alone.
};

using Words = std::vector<std::uint32_t>;

// Values become the greatest of all members'. Nobody is done before all have begun.
mp::Task greatest(Circle circle, std::span<std::uint32_t> values);
mp::Task greatest(Circles circles, std::span<std::uint32_t> values);
// The words of the root at all members; their number need not be known.
mp::Task broadcast(Circle circle, int root, Words& words);
// The same number of words from each member, in their order, at member 0.
mp::Task collect(Circle circle, Words mine, Words& all);
// Leaders trade words.
mp::Task trade(mp::Messenger& messenger, Link link, const Words& mine, Words& theirs);

// Words of any number, to or from one member.
mp::Task give(Circle circle, int to, const Words& words);
mp::Task take(Circle circle, int from, Words& words);

// Of the binomial tree rooted at member 0: the parent, and the end of the run of members that hang
// below `rank`, itself included.
int tree_parent(int rank);
int tree_end(int rank, int size);

// Lists of ranks as runs: (first, step, count) each.
Words encode(std::span<const std::uint32_t> ranks);
std::vector<RankId> decode(std::span<const std::uint32_t> runs);
std::vector<std::uint32_t> list(const mp::Members& members);

}  // namespace weft::mpi
