// SPDX-License-Identifier: Apache-2.0
// Collectives between two groups (intercommunicators). Where one message can represent a group, its
// rank 0 sends it; blocks that differ by receiver go directly.
#include <algorithm>

#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

namespace {

using Role = BridgeRoot::Role;

Participant::Peer across(const Bridge& bridge, int rank) {
  return {bridge.remote[rank], bridge.context, rank};
}

// The two leaders exchange the data of their groups.
mp::Task swap_leaders(Participant& s, const Bridge& bridge, const std::byte* give, std::byte* take,
                      std::size_t size) {
  mp::Request* const in = s.receive(across(bridge, 0), take, size, Lane::forward);
  mp::Request* const out = s.send(across(bridge, 0), give, size, Lane::forward);
  co_await s.finish(in);
  co_await s.finish(out);
  co_return ok;
}

mp::Task barrier_across(Bridge bridge) {
  Participant s(bridge.local);
  mp::Task gathered = barrier(bridge.local);
  s.note(co_await gathered);
  if (s.rank() == 0) {
    mp::Task swapped = swap_leaders(s, bridge, nullptr, nullptr, 0);
    s.note(co_await swapped);
  }
  mp::Task released = barrier(bridge.local);
  s.note(co_await released);
  co_return s.error();
}

mp::Task bcast_across(Bridge bridge, Bcast args, BridgeRoot root) {
  Participant s(bridge.local);
  if (root.role == Role::beside || args.size == 0) co_return ok;
  if (root.role == Role::root) {
    co_await s.finish(s.send(across(bridge, 0), bytes(args.data), args.size, Lane::forward));
    co_return s.error();
  }
  if (s.rank() == 0) {
    co_await s.finish(
        s.receive(across(bridge, root.rank), bytes(args.data), args.size, Lane::forward));
  }
  args.root = 0;
  mp::Task spread = bcast(bridge.local, args);
  s.note(co_await spread);
  co_return s.error();
}

mp::Task reduce_across(Bridge bridge, Reduce args, BridgeRoot root) {
  Participant s(bridge.local);
  const std::size_t size = scaled(args.count, args.reducer.element_size);
  if (root.role == Role::beside || size == 0) co_return ok;
  if (root.role == Role::root) {
    co_await s.finish(s.receive(across(bridge, 0), bytes(args.receive), size, Lane::forward));
    co_return s.error();
  }
  Buffer result = s.rank() == 0 ? s.buffer(size) : nullptr;
  args.root = 0;
  args.in_place = false;
  args.receive = result.get();
  mp::Task reduced = reduce(bridge.local, args);
  s.note(co_await reduced);
  if (s.rank() == 0) {
    co_await s.finish(s.send(across(bridge, root.rank), result.get(), size, Lane::forward));
  }
  co_return s.error();
}

mp::Task allreduce_across(Bridge bridge, Reduce args) {
  Participant s(bridge.local);
  const std::size_t size = scaled(args.count, args.reducer.element_size);
  if (size == 0) co_return ok;
  Buffer result = s.rank() == 0 ? s.buffer(size) : nullptr;
  Reduce up = args;
  up.root = 0;
  up.in_place = false;
  up.receive = result.get();
  mp::Task reduced = reduce(bridge.local, up);
  s.note(co_await reduced);
  if (s.rank() == 0) {
    mp::Task swapped = swap_leaders(s, bridge, result.get(), bytes(args.receive), size);
    s.note(co_await swapped);
  }
  const Bcast down{args.receive, size, 0};
  mp::Task spread = bcast(bridge.local, down);
  s.note(co_await spread);
  co_return s.error();
}

mp::Task gatherv_across(Bridge bridge, Gatherv args, BridgeRoot root) {
  Participant s(bridge.local);
  if (root.role == Role::beside) co_return ok;
  if (root.role == Role::across) {
    if (args.send_size > 0) {
      co_await s.finish(
          s.send(across(bridge, root.rank), bytes(args.send), args.send_size, Lane::forward));
    }
    co_return s.error();
  }
  Window window;
  for (int i = 0; i < bridge.remote.size(); ++i) {
    const Blocks::Block block = args.blocks[i];
    if (block.size == 0) continue;
    if (window.full()) co_await s.finish(window.pop());
    window.push(s.receive(across(bridge, i), at(bytes(args.receive), block.offset), block.size,
                          Lane::forward));
  }
  while (!window.empty()) co_await s.finish(window.pop());
  co_return s.error();
}

mp::Task scatterv_across(Bridge bridge, Scatterv args, BridgeRoot root) {
  Participant s(bridge.local);
  if (root.role == Role::beside) co_return ok;
  if (root.role == Role::across) {
    if (args.receive_size > 0) {
      co_await s.finish(s.receive(across(bridge, root.rank), bytes(args.receive), args.receive_size,
                                  Lane::forward));
    }
    co_return s.error();
  }
  Window window;
  for (int i = 0; i < bridge.remote.size(); ++i) {
    const Blocks::Block block = args.blocks[i];
    if (block.size == 0) continue;
    if (window.full()) co_await s.finish(window.pop());
    window.push(
        s.send(across(bridge, i), at(bytes(args.send), block.offset), block.size, Lane::forward));
  }
  while (!window.empty()) co_await s.finish(window.pop());
  co_return s.error();
}

// In step t rank a meets rank t - a of the other group: both sides go through their partners in the
// same order, so that bounded windows cannot deadlock in a cycle.
mp::Task alltoallv_across(Bridge bridge, Alltoallv args) {
  Participant s(bridge.local);
  const int remote = bridge.remote.size();
  const int steps = std::max(s.size(), remote);
  Window receives;
  Window sends;
  for (int t = 0; t < steps; ++t) {
    const int partner = (t - s.rank() + steps) % steps;
    if (partner >= remote) continue;
    const Blocks::Block take = args.receive_blocks[partner];
    const Blocks::Block give = args.send_blocks[partner];
    if (take.size > 0) {
      if (receives.full()) co_await s.finish(receives.pop());
      receives.push(s.receive(across(bridge, partner), at(bytes(args.receive), take.offset),
                              take.size, Lane::forward));
    }
    if (give.size > 0) {
      if (sends.full()) co_await s.finish(sends.pop());
      sends.push(s.send(across(bridge, partner), at(bytes(args.send), give.offset), give.size,
                        Lane::forward));
    }
  }
  while (!receives.empty()) co_await s.finish(receives.pop());
  while (!sends.empty()) co_await s.finish(sends.pop());
  co_return s.error();
}

struct ElementBlocks {
  Blocks blocks;
  std::size_t element = 1;
  static Blocks::Block find(const void* arg, int rank) {
    const auto* self = static_cast<const ElementBlocks*>(arg);
    const Blocks::Block block = self->blocks[rank];
    return {block.offset * static_cast<std::ptrdiff_t>(self->element), block.size * self->element};
  }
};

mp::Task reduce_scatter_across(Bridge bridge, BridgeReduceScatter args) {
  Participant s(bridge.local);
  const ElementBlocks in_bytes{args.blocks, args.reducer.element_size};
  const std::size_t size = scaled(args.total, args.reducer.element_size);
  if (size == 0) co_return ok;
  Buffer ours = s.rank() == 0 ? s.buffer(size) : nullptr;
  Buffer theirs = s.rank() == 0 ? s.buffer(size) : nullptr;
  Reduce up;
  up.send = args.send;
  up.receive = ours.get();
  up.count = args.total;
  up.reducer = args.reducer;
  mp::Task reduced = reduce(bridge.local, up);
  s.note(co_await reduced);
  if (s.rank() == 0) {
    mp::Task swapped = swap_leaders(s, bridge, ours.get(), theirs.get(), size);
    s.note(co_await swapped);
  }
  Scatterv down;
  down.send = theirs.get();
  down.blocks = Blocks::described(&ElementBlocks::find, &in_bytes);
  down.receive = args.receive;
  down.receive_size = down.blocks[s.rank()].size;
  mp::Task scattered = scatterv(bridge.local, down);
  s.note(co_await scattered);
  co_return s.error();
}

// The same block for every receiver.
Blocks::Block same_block(const void* arg, int /*index*/) {
  return {0, *static_cast<const std::size_t*>(arg)};
}

mp::Task allgatherv_across(Bridge bridge, Gatherv args) {
  Participant s(bridge.local);
  Alltoallv all;
  all.send = args.send;
  all.send_blocks = Blocks::described(&same_block, &args.send_size);
  all.receive = args.receive;
  all.receive_blocks = args.blocks;
  mp::Task exchanged = alltoallv_across(bridge, all);
  s.note(co_await exchanged);
  co_return s.error();
}

}  // namespace

mp::Task barrier(const Bridge& bridge) {
  return barrier_across(bridge);
}
mp::Task bcast(const Bridge& bridge, const Bcast& args, BridgeRoot root) {
  return bcast_across(bridge, args, root);
}
mp::Task reduce(const Bridge& bridge, const Reduce& args, BridgeRoot root) {
  return reduce_across(bridge, args, root);
}
mp::Task allreduce(const Bridge& bridge, const Reduce& args) {
  return allreduce_across(bridge, args);
}
mp::Task gatherv(const Bridge& bridge, const Gatherv& args, BridgeRoot root) {
  return gatherv_across(bridge, args, root);
}
mp::Task scatterv(const Bridge& bridge, const Scatterv& args, BridgeRoot root) {
  return scatterv_across(bridge, args, root);
}
mp::Task allgatherv(const Bridge& bridge, const Gatherv& args) {
  return allgatherv_across(bridge, args);
}
mp::Task alltoallv(const Bridge& bridge, const Alltoallv& args) {
  return alltoallv_across(bridge, args);
}
mp::Task reduce_scatter(const Bridge& bridge, const BridgeReduceScatter& args) {
  return reduce_scatter_across(bridge, args);
}

}  // namespace weft::coll
