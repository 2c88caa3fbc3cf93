// SPDX-License-Identifier: Apache-2.0
// Nodes between ranks and network: wakes ranks, and charges time for NICs and memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <weft/base/histogram.hpp>
#include <weft/simulate/nodes/rank.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

class Machinery final : public Host {
 public:
  Machinery(const WorldSetup& setup, RankBody& program);
  Status build();

  Time alarm(int worker, NodeId endpoint, Time now) override;
  void expect(NodeId endpoint) const override;
  void delivered(int worker, const Delivery& d) override;
  void departed(int worker, const Departure& d) override;
  void pack(std::uint64_t cookie, Packer& letter) override;
  std::uint64_t unpack(NodeId to, Unpacker& letter) override;
  void unpack_data(std::uint64_t cookie, Unpacker& letter) override;

  // Workers share no pool.
  Parcel* make_parcel() { return Parcel::make(setup.workers == 1 ? &parcels : nullptr); }
  void send(Parcel* parcel, const SendPath& path, Time now);
  // A copy by the processor of a rank, which takes it `alone` while no other copies: when it ends,
  // given when it could begin.
  struct CopyWork {
    std::size_t size;
    Duration alone;
    bool cached = false;  // It does not load the memory.
  };
  Time copy_end(RankId rank, Time from, const CopyWork& copy);
  // When a rank has done some work, given when it could begin: ranks may share cores.
  Time work_end(RankId rank, Time from, Duration work);
  bool shares_cores(RankId rank) const {
    return setup.node.cores > 0 &&
           setup.placement->count(node_of(rank)) > static_cast<std::uint32_t>(setup.node.cores);
  }
  // For the threads of a rank; 0: one for each.
  std::uint32_t cores_of(RankId rank) const;
  // Of a frame between two ranks of a node.
  Duration local_latency(RankId a, RankId b, std::size_t size) const;
  // Between a rank and a server of files.
  void send_request(Parcel* parcel, Time now);
  void send_answer(Parcel* parcel, std::uint32_t from, Time now);
  void ring(std::uint32_t node, Time at) { network->set_alarm(endpoint(node, RailId(0)), at); }
  // At a rank of the same node as the sender.
  void hand_over_locally(Parcel* parcel, Time at);
  void report_sent(RankId sender, RankId peer, std::uint64_t cookie, Time at);
  bool shares_memory(RankId rank) const { return setup.placement->count(node_of(rank)) > 1; }
  std::uint32_t node_of(RankId rank) const { return setup.placement->node(rank); }
  int socket_of(RankId rank) const;
  // Of this memory of a rank.
  int socket_of(RankId rank, const void* address) const;
  NodeId endpoint(std::uint32_t node, RailId rail) const {
    return NodeId(node * rails() + rail.index);
  }
  std::uint32_t rails() const { return static_cast<std::uint32_t>(setup.node.rails); }
  void start(SimRank& rank);
  void rank_ended(SimRank& rank);
  void stop(Time at);  // The earliest counts.
  // The rank has written below its stack: the run ends.
  void note_overflow(RankId rank, Time now);
  Status check_stacks() const;

  static constexpr std::uint32_t nobody = 0xffff'ffff;
  WorldSetup setup;
  ParcelPool parcels;  // Outlives all that may have one.
  RankBody& program;
  std::unique_ptr<Network> network;
  std::unique_ptr<Stacks> stacks;
  StorageServers storage{*this};
  std::vector<std::unique_ptr<SimRank>> ranks;  // Null: of another process.
  // Where a rank that waits will go on, by rank: to be loaded before it does.
  struct WaitingRank {
    const void* frame = nullptr;  // The lowest of its stack.
    const void* layer = nullptr;
  };
  std::vector<WaitingRank> waiting_ranks;
  std::atomic<std::int64_t> stop_ps{Time::never().in_ps()};
  std::atomic<std::uint32_t> overflowed{nobody};
  RankId without_thread;
  int thread_error = 0;
  bool in_order = true;
  struct alignas(128) Tally {
    Histogram latencies_ps;  // Messages over the network.
  };
  std::vector<Tally> tallies;  // By worker.

 private:
  struct Card {
    Time since, free;  // Begin and end of its last write to memory.
    Time far_free;     // When far memory has taken what came until now.
    int socket = 0;    // Where the last write went.
  };
  struct Landing {
    Parcel* parcel;
    Delivery delivery;
  };
  Status check_rails() const;
  void start_thread(SimRank& rank);
  NetworkOptions network_options();
  Time last_turn() const;  // Ranks take turns before it.
  void send_locally(Parcel* parcel, Time now);
  void hand_over(int worker, Parcel* parcel, Time born, Time at);
  Time land(int worker, std::uint32_t node, Time now);
  Time far_end(std::uint32_t node, const Landing& landing);

  std::vector<Time> memory_free_;               // By node and socket.
  std::vector<Time> core_free_;                 // By node and core; empty: ranks share none.
  std::vector<Card> cards_;                     // By node and rail.
  std::vector<std::vector<Landing>> landings_;  // By node; empty where all memory is near.
};

}  // namespace weft
