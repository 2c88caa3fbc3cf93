// SPDX-License-Identifier: Apache-2.0
// One rank of a simulated job: its fiber or threads, its processor's clock, and what has arrived
// for it.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <unordered_map>
#include <vector>

#include <weft/parallel/fiber/fiber.hpp>
#include <weft/simulate/nodes/local_messages.hpp>
#include <weft/simulate/nodes/parcel_pool.hpp>
#include <weft/simulate/nodes/rank_threads.hpp>
#include <weft/simulate/nodes/storage_servers.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

// A frame or write under way. Made by the sender's worker, freed by the receiver's.
struct Parcel {
  // What opens a connection, one each way; and news of it at a rank itself.
  enum class Greeting : std::uint8_t { none, hello, up };

  RankId from, to;
  RailId rail;
  bool is_write = false;
  Greeting greeting = Greeting::none;
  std::uint32_t sequence = 0;
  std::uint64_t cookie = 0;           // The sender's, if it wants a completion.
  std::size_t size = 0, held = 0;     // Bytes of the data that are there, if any are.
  const std::byte* source = nullptr;  // Data still in the sender's memory.
  std::byte* target = nullptr;        // Where a write goes.
  std::unique_ptr<std::byte[]> data;
  std::shared_ptr<LocalCopy> copy;  // Null: the data is where it should be.
  FrameHead head = {};
  std::unique_ptr<StorageTask> task;  // Null: nothing of files.

  // From this pool, to which its memory goes back; null: from the heap.
  static Parcel* make(ParcelPool* pool);
  static void operator delete(Parcel* parcel, std::destroying_delete_t);

 private:
  ParcelPool* pool_ = nullptr;
};

class Machinery;

// Plays all roles of the rank's network. Transport comes first: its calls need no adjustment.
class SimRank final : public Transport,
                      public Connections,
                      public Rails,
                      public Processor,
                      public MessageObserver {
 public:
  SimRank(Machinery& machinery, RankId self);

  const Fabric& fabric() const { return fabric_; }
  RankId self() const { return self_; }

  int rail_count(RankId peer) const override;
  RailFacts rail_facts(RankId peer, RailId rail) const override;
  void lower_rates(RankId, const std::byte*, std::span<double>) const override {}
  Time now() const override { return clock_ + lag_; }
  void connect(RankId peer) override;
  void disconnect(RankId peer) override;
  bool connected(RankId peer) const override;
  bool needs_connection(RankId peer) const override;
  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId, std::uint64_t) override { return false; }
  // All ranks live in one address space: the key is the address.
  std::uint64_t register_memory(RankId, std::byte* data, std::size_t) override {
    return reinterpret_cast<std::uint64_t>(data);
  }
  void deregister_memory(std::uint64_t) override {}
  bool poll(Completion& out) override;
  void wait(Time until) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size) override;
  void spend(Duration time) override {
    lag_ += time;
    counts.spent += time;
  }
  // What the library costs its rank, in contrast to what the program computes.
  void spend_in_mpi(Duration time) {
    counts.in_mpi += time;
    spend(time);
  }
  void charge(Work work, std::size_t bytes) override;
  void enter_call() override;
  void leave_call() override;
  void catch_up() override;
  void compute(Duration time) override;
  std::uint32_t thread() const override;
  void sending(const MessageFacts& message) override;
  void set_teller(const WaitTeller* who) override { teller = who; }

  // For the machinery, on this rank's worker.
  Time next_turn() const;
  void take_turn(Time now);
  void push(Time at, std::uint32_t peer, std::uint32_t sequence, Parcel* parcel);
  void push_sent(Time at, RankId peer, std::uint64_t cookie);
  bool waits() const {
    return threads == nullptr ? state_ == State::waiting : threads->in_network();
  }
  void settle();  // Spends what was spent: others go on until our clock is there.
  // Ends the rank from inside of it.
  [[noreturn]] void end();
  void drop_parcels();
  Machinery& machinery_of() { return machinery_; }

  struct Placed {
    const std::byte* data;
    std::size_t size;
    int socket;
  };
  struct Pair {
    std::uint64_t messages = 0, bytes = 0;
  };

  bool done = false;
  RankCounts counts;
  const WaitTeller* teller = nullptr;
  std::unique_ptr<Fiber> fiber;
  std::unique_ptr<RankThreads> threads;    // Null: the rank is one flow, its fiber.
  std::unique_ptr<StorageClient> storage;  // Null: there are no servers of files.
  std::unique_ptr<std::vector<Placed>> placed;
  std::unique_ptr<std::unordered_map<std::uint32_t, Pair>> pairs;
  LocalMessages local{*this};

 private:
  friend class RankThreads;
  enum class State : std::uint8_t { fresh, running, busy, waiting };
  struct Event {
    Time at;
    std::uint32_t peer = 0, sequence = 0;
    Parcel* parcel = nullptr;  // Null: our own frame or write has left.
    std::uint64_t cookie = 0;
    // Heaps have the greatest in front.
    friend bool operator<(const Event& a, const Event& b) {
      if (a.at != b.at) return a.at > b.at;
      if (a.peer != b.peer) return a.peer > b.peer;
      return a.sequence > b.sequence;
    }
  };
  struct Connection {
    bool greets = false, heard = false;  // Each side greets once.
    bool late = false;  // The peer's greeting for the previous connection is still due.
    bool open() const { return greets && heard; }
  };
  using ConnectionTable = std::unordered_map<std::uint32_t, Connection>;
  Connection& connection(RankId peer);
  void sleep(State state, Time until);
  Parcel* make_parcel(const SendPath& path, std::uint64_t cookie);
  void push(const Event& event);
  void greet(RankId peer);
  void hear(RankId peer, Time at);
  void tell_up(RankId peer, Time at);

  Machinery& machinery_;
  const Fabric fabric_;
  RankId self_;
  State state_ = State::fresh;
  bool has_waited_ = false;
  std::uint32_t sequence_ = 0;
  Time clock_, until_;
  // Of the thread that runs: spent beyond the clock, and its processor time when the program went
  // on.
  Duration lag_;
  std::int64_t user_since_ns_ = -1;
  void* layer_ = nullptr;
  std::vector<Event> inbox_;
  std::unique_ptr<ConnectionTable> connections_;
};

}  // namespace weft
