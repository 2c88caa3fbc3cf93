// SPDX-License-Identifier: Apache-2.0
// A job on a simulated machine: every rank is a fiber with a processor clock, and sees the network
// through a Fabric. A rank runs at one moment of virtual time until it spends time or waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/histogram.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/message/port/counts.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/message/port/storage.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/models/network_model.hpp>
#include <weft/simulate/nodes/node_model.hpp>
#include <weft/simulate/nodes/placement.hpp>
#include <weft/simulate/nodes/rank_threads.hpp>
#include <weft/simulate/nodes/storage_model.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {

struct WorldSetup {
  const Topology* topology = nullptr;
  const Policy* policy = nullptr;
  NetworkHardware machine;
  NetworkModel model;
  NodeModel node;
  StorageModel storage;
  const Placement* placement = nullptr;
  int workers = 1;  // Threads; one in each of several processes.
  Cut cut = Cut::automatic;
  ProcessGroup* peers = nullptr;  // The processes that share this world; null: it is alone.
  std::uint64_t seed = 1;
  Duration start_skew;  // Ranks start within this time, each at a moment of its own.
  bool carry_data = false;
  double compute_factor = 0;    // Factor for the program's measured time; 0: it does not count.
  std::size_t stack_bytes = 0;  // 0: as much as the address space bears, 64 KiB to 8 MiB.
  bool guard_stacks = true;     // As well as the system can.
  // Ranks are threads of the system, each with thread-local variables of its own.
  bool own_threads = false;
  std::uint32_t cores_per_rank = 0;  // 0: an even share of the node's, or one for every thread.
  bool count_pairs = false;          // Bytes and messages per pair of ranks.
  bool measure_waits = false;        // How long packets wait for links.
  // Ranks have address spaces of their own: data of writes comes with their completions.
  bool own_memory = false;
};

// What a rank executes.
class RankBody {
 public:
  virtual ~RankBody() = default;
  // In the rank's fiber; Current is set.
  virtual void run(const Fabric& fabric) = 0;
  // Around every turn of a rank on its worker's thread.
  virtual void enter(RankId) {}
  virtual void leave(RankId) {}
  // In each thread of the system that belongs to a rank, first; `main`: it will call run().
  virtual void begin_thread(RankId, bool /*main*/) {}
  // A server of files reads or writes. On any worker.
  virtual void access_file(FileOperation&) {}
};

class SimRank;

class World {
 public:
  static Result<std::unique_ptr<World>> make(const WorldSetup& setup, RankBody& program);
  ~World();

  // Executes everything before `until`; false when nothing remains to be done. All processes make
  // this call.
  Result<bool> run(Time until);

  // From inside a rank, or between runs: ranks take no turn once all have heard of it. The earliest
  // stop counts (then the lowest rank), so nothing depends on workers.
  void stop(RankId rank, Time at);
  Time stopped_at() const;

  // A rank runs in one process; what follows is about those of this one.
  bool is_here(RankId rank) const;
  bool done(RankId rank) const;
  // Waits, for no particular moment.
  bool blocked(RankId rank) const;
  std::uint32_t ranks_open() const;
  const RankCounts& counts(RankId rank) const;
  const WaitTeller* teller(RankId rank) const;
  // What threads of a rank with several wait for.
  std::vector<RankThreads::Wait> threads_waiting(RankId rank) const;
  // The threads of the rank whose turn it is.
  static RankThreads& current_threads();
  static RankThreads* current_threads_if_any();
  Time now(RankId rank) const;
  std::vector<PairCount> pairs() const;  // By sender, then receiver.
  Histogram latencies_ps() const;        // Network messages, from post to memory.
  Network& network();
  // The rank in whose stack an address lies, and whether beyond its end.
  bool find_stack(const void* address, RankId& owner, bool& beyond) const;
  std::size_t stack_bytes() const;
  // Where stacks lie, and how many ranks and routers there are in all; to count memory.
  struct Memory {
    std::uintptr_t begin = 0;
    std::size_t size = 0;
  };
  Memory stack_memory() const;
  std::uint32_t ranks() const;
  std::uint32_t routers() const;
  // The rank whose turn it is on this thread; false: none.
  static bool current(RankId& rank, Time& now);
  // Ends the rank whose turn it is; it never comes back.
  [[noreturn]] static void end_current();

  // Servers of files, as this rank sees them; null: there are none.
  Storage* storage(RankId rank) const;

  // For extensions: where a rank's memory lies, when a program has placed it itself.
  void place_memory(RankId rank, const void* data, std::size_t size, int socket);

 private:
  struct State;
  explicit World(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft
