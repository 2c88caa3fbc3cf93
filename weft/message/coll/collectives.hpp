// SPDX-License-Identifier: Apache-2.0
// Collective operations over messages. Each call starts one and returns a Task: mp::run() makes it
// blocking; otherwise it progresses whenever its rank is inside the message layer. choose.hpp
// selects the algorithm. Buffers belong to the operation until it is done.
// in_place: this rank's contribution already lies where its result goes, and `send` is not read.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/message/coll/team.hpp>
#include <weft/message/mp/task.hpp>

namespace weft::coll {

struct Bcast {
  void* data = nullptr;
  std::size_t size = 0;
  int root = 0;
};

struct Reduce {  // Also allreduce, scan and exscan, without a root.
  const void* send = nullptr;
  void* receive = nullptr;  // At the root.
  std::int64_t count = 0;
  Reducer reducer;
  int root = 0;
  bool in_place = false;
};

struct Exchange {  // Blocks of equal size: gather, scatter, allgather, alltoall.
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t block = 0;
  int root = 0;  // For gather and scatter.
  bool in_place = false;
};

struct Gatherv {
  const void* send = nullptr;
  std::size_t send_size = 0;
  void* receive = nullptr;  // The rest is significant at the root, or everywhere for allgatherv.
  Blocks blocks;
  int root = 0;
  bool in_place = false;
};

struct Scatterv {
  const void* send = nullptr;  // At the root, with its blocks.
  Blocks blocks;
  void* receive = nullptr;
  std::size_t receive_size = 0;
  int root = 0;
  bool in_place = false;
};

struct Alltoallv {  // Also alltoallw, since types are handled by packing.
  const void* send = nullptr;
  Blocks send_blocks;
  void* receive = nullptr;
  Blocks receive_blocks;
  bool in_place = false;
};

struct ReduceScatter {
  const void* send = nullptr;
  void* receive = nullptr;
  Blocks blocks;  // In elements, contiguous: block i is the result of rank i.
  Reducer reducer;
  bool in_place = false;
};

mp::Task barrier(const Team& team);
mp::Task bcast(const Team& team, const Bcast& args);
mp::Task reduce(const Team& team, const Reduce& args);
mp::Task allreduce(const Team& team, const Reduce& args);
mp::Task scan(const Team& team, const Reduce& args);
mp::Task exscan(const Team& team, const Reduce& args);
mp::Task gather(const Team& team, const Exchange& args);
mp::Task scatter(const Team& team, const Exchange& args);
mp::Task allgather(const Team& team, const Exchange& args);
mp::Task alltoall(const Team& team, const Exchange& args);
mp::Task gatherv(const Team& team, const Gatherv& args);
mp::Task scatterv(const Team& team, const Scatterv& args);
mp::Task allgatherv(const Team& team, const Gatherv& args);
mp::Task alltoallv(const Team& team, const Alltoallv& args);
mp::Task reduce_scatter(const Team& team, const ReduceScatter& args);
// `count` elements for every rank.
mp::Task reduce_scatter_block(const Team& team, const Reduce& args);

// Across a bridge (intercommunicator): each group receives what the other contributes. Roots inside
// args are not read.
mp::Task barrier(const Bridge& bridge);
mp::Task bcast(const Bridge& bridge, const Bcast& args, BridgeRoot root);
mp::Task reduce(const Bridge& bridge, const Reduce& args, BridgeRoot root);
mp::Task allreduce(const Bridge& bridge, const Reduce& args);
mp::Task gatherv(const Bridge& bridge, const Gatherv& args, BridgeRoot root);
mp::Task scatterv(const Bridge& bridge, const Scatterv& args, BridgeRoot root);
mp::Task allgatherv(const Bridge& bridge, const Gatherv& args);
mp::Task alltoallv(const Bridge& bridge, const Alltoallv& args);
struct BridgeReduceScatter {
  const void* send = nullptr;
  void* receive = nullptr;
  std::int64_t total = 0;  // Elements contributed by every rank.
  Blocks blocks;           // In elements: what each rank of the own group receives.
  Reducer reducer;
};
mp::Task reduce_scatter(const Bridge& bridge, const BridgeReduceScatter& args);

}  // namespace weft::coll
