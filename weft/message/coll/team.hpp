// SPDX-License-Identifier: Apache-2.0
// The ranks of a collective operation and its data. All data is bytes; only a Reducer knows what
// they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/base/groups.hpp>
#include <weft/message/mp/members.hpp>
#include <weft/message/mp/messenger.hpp>

namespace weft::coll {

class Choices;

// Results of a collective's Task.
inline constexpr int ok = 0;
inline constexpr int peer_lost = 1;
inline constexpr int truncated = 2;   // Ranks disagree about sizes: more arrived than expected,
inline constexpr int incomplete = 3;  // or less, also from a rank that had an error itself.

// A torus or mesh whose nodes are the team's ranks, the last dimension fastest. The product of the
// extents is the size of the team.
struct Grid {
  std::vector<int> extents;
};

// A group of ranks, as one of them sees it. Everything it points to must live until the operation
// is done.
struct Team {
  mp::Messenger& m;
  mp::ContextId context = 0;
  int rank = 0;
  const mp::Members& members;
  // Counts the collective calls of a communicator, so that concurrent calls never mix. 30 bits.
  int tag = 0;
  const Grid* grid = nullptr;        // If known.
  bool internal = false;             // The library's own data, which is always carried.
  const Choices* choices = nullptr;  // Null: choose by size alone.
  const Groups* groups = nullptr;    // Which ranks are near each other; if known and useful.
  bool part = false;                 // Of a larger operation, which counts in its place (Usage).
  bool carried = false;              // The program's data, which is carried in any case.

  Team part_of_it() const {
    Team team = *this;
    team.part = true;
    return team;
  }
};

// Two groups that communicate (an intercommunicator). `context` is for messages between them.
struct Bridge {
  Team local;
  const mp::Members& remote;
  mp::ContextId context = 0;
};

// A rank's role in a rooted operation across a bridge.
struct BridgeRoot {
  enum class Role : std::uint8_t {
    root,    // The root itself.
    beside,  // In the root's group: does not take part.
    across,  // In the other group; `rank` is the root's rank in the remote group.
  };
  Role role = Role::across;
  int rank = 0;
};

// inout = in (of lower ranks) op inout, element by element.
struct Reducer {
  std::size_t element_size = 1;
  bool commutative = true;
  void (*apply)(const void* in, void* inout, std::int64_t count, void* arg) = nullptr;
  void* arg = nullptr;
};

// Positions of all ranks' blocks in a buffer: equally sized in the order of ranks, or given by a
// function of the caller, so that no rank keeps a list of all.
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
