// SPDX-License-Identifier: Apache-2.0
// Who takes part in a collective operation, and what it works on. Everything is bytes; what they
// mean to the program is known to a Reducer alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/base/groups.hpp>
#include <weft/message/mp/members.hpp>
#include <weft/message/mp/messenger.hpp>

namespace weft::coll {

class Choices;

// What a collective's Task gives back.
inline constexpr int ok = 0;
inline constexpr int peer_lost = 1;
inline constexpr int truncated = 2;   // Ranks disagree about sizes: more came than was due,
inline constexpr int incomplete = 3;  // or less, also from a rank that had an error itself.

// A torus (or mesh) of which the team's ranks are the nodes, the last dimension fastest. The
// product of the extents is the size of the team.
struct Grid {
  std::vector<int> extents;
};

// A group of ranks, seen by one of them. What it points to must live until the operation is done.
struct Team {
  mp::Messenger& m;
  mp::ContextId context = 0;
  int rank = 0;
  const mp::Members& members;
  // Counts the collective calls of a communicator, so that calls under way never mix. 30 bits.
  int tag = 0;
  const Grid* grid = nullptr;        // Where known.
  bool internal = false;             // The library's own data: it travels always.
  const Choices* choices = nullptr;  // Null: by size alone.
  const Groups* groups = nullptr;    // Who is near to whom; where known, and of use.
};

// Two groups that talk across. `context` is for messages between them.
struct Bridge {
  Team local;
  const mp::Members& remote;
  mp::ContextId context = 0;
};

// Who a rank is in a rooted operation across a bridge.
struct BridgeRoot {
  enum class Role : std::uint8_t {
    root,    // The root itself.
    beside,  // In the root's group: takes no part.
    across,  // In the other group; `rank` is the root's in the remote group.
  };
  Role role = Role::across;
  int rank = 0;
};

// inout = in (of lower ranks) operated with inout, element by element.
struct Reducer {
  std::size_t element_size = 1;
  bool commutative = true;
  void (*apply)(const void* in, void* inout, std::int64_t count, void* arg) = nullptr;
  void* arg = nullptr;
};

// Where the block of each rank lies in a buffer: all of one size in the order of ranks, or as the
// caller's own description says, so that no rank keeps a list of all.
struct Blocks {
  struct Block {
    std::ptrdiff_t offset = 0;
    std::size_t size = 0;
  };
  using Find = Block (*)(const void* arg, int index);

  static Blocks equal(std::size_t size) { return {nullptr, nullptr, size}; }
  static Blocks described(Find find, const void* arg) { return {find, arg, 0}; }

  Block operator[](int index) const {
    if (find != nullptr) return find(arg, index);
    return {static_cast<std::ptrdiff_t>(size) * index, size};
  }

  Find find = nullptr;
  const void* arg = nullptr;
  std::size_t size = 0;
};

}  // namespace weft::coll
