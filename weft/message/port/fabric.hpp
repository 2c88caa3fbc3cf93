// SPDX-License-Identifier: Apache-2.0
// The only door between a message layer and a network. A rank has one Fabric; calls never block
// (except wait) and never call back. Completions come through poll, in the order of the clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/base/units.hpp>
#include <weft/message/port/rank.hpp>

namespace weft {

using RailId = Id<struct RailTag>;  // One of the cards (or ways) of a rank.

// Small and always carried; what it means is the message layer's affair. But the highest bit of its
// first byte is 0: a layer between message layer and network knows its own frames by it.
using FrameHead = std::array<std::byte, 56>;

// Bytes that go with a head, or only their number: data is null where nobody needs them.
struct Payload {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  // Of a frame on a network that carries sizes alone: only the first so many bytes are there and
  // travel. 0: all.
  std::size_t given = 0;
  std::size_t held() const { return given == 0 ? size : given; }
};

// How a frame or write shall go.
struct Way {
  RankId peer;
  RailId rail;
  Duration gap;       // Silence between packets. A wish: real networks do not hear it.
  bool more = false;  // Another frame for the peer follows at once: both may go together.
};

struct RemoteMemory {
  std::uint64_t key = 0;  // As the owner's register_memory gave it.
  std::size_t offset = 0;
};

struct Completion {
  enum class Kind : std::uint8_t {
    frame,      // A frame came: head, peer, rail, size, data if it carried any.
    written,    // A peer's write into our memory is complete: head is its notice.
    sent,       // Our frame or write with this cookie has left: its data is needed no longer, and
                // will not be asked for again.
    unsent,     // Our write with this cookie may not have arrived: send it again, on another rail.
    rail_up,    // A way to the peer is open (again); once per rail.
    rail_down,  // It is closed. Frames find another way by themselves; writes come back as unsent.
    peer_lost,  // No way leads to it any more.
    refused,    // A connect led nowhere: no room for another connection, here or at the peer.
  };
  Kind kind = Kind::frame;
  RankId peer;
  RailId rail;
  std::uint64_t cookie = 0;
  std::size_t size = 0;
  FrameHead head = {};
  // The data of a frame: the fabric's own, to be read before the next poll, or given away.
  const std::byte* lent = nullptr;
  std::unique_ptr<std::byte[]> data;
};

struct RailFacts {
  Rate rate;
  Duration latency;
  bool up = true;
  bool frames = true;  // false: it carries writes alone; frames go another way.
};

// Who waits for what; asked when nothing can move any more.
struct Waiting {
  std::string call;  // "MPI_Recv"
  std::string what;  // "a message from rank 3 with tag 7"
  std::vector<RankId> on;
};
class WaitTeller {
 public:
  virtual ~WaitTeller() = default;
  virtual Waiting waiting() const = 0;
  // How long it has done nothing but ask whether something came.
  virtual Duration idle() const { return {}; }
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  virtual RankId self() const = 0;
  virtual std::uint32_t ranks() const = 0;
  virtual int rails(RankId peer) const = 0;
  virtual RailFacts rail(RankId peer, RailId rail) const = 0;
  // Rates of the rails, in bytes per second: lowers those that deliver less of data that lies
  // there.
  virtual void weigh(RankId /*peer*/, const std::byte* /*data*/,
                     std::span<double> /*rates*/) const {}
  // Frames between two ranks come in the order they were posted, over whatever rails.
  virtual bool ordered() const = 0;
  // false: of the program's data only the size travels.
  virtual bool carries_data() const = 0;

  virtual Time now() const = 0;
  // Opens the ways to a peer, if it does not: `rail_up` tells both sides when, or `refused` who
  // asked. (A frame or write to a peer without a way opens one, too.)
  virtual void connect(RankId peer) = 0;
  // Lets go of the ways to a peer. Both sides do, and have agreed that nothing is under way; the
  // peer is not lost by it, and a connect leads there again.
  virtual void disconnect(RankId /*peer*/) {}
  virtual bool connected(RankId /*peer*/) const { return true; }
  // false: the way there costs nothing to hold (this rank itself, memory that is shared).
  virtual bool needs_connection(RankId peer) const { return peer != self(); }
  // Sends a frame. `stable`: the data stays as it is until `sent` comes for the cookie; else the
  // fabric takes what it needs before it returns. A cookie of 0 asks for no completion.
  virtual void post(const Way& way, const FrameHead& head, Payload payload, bool stable,
                    std::uint64_t cookie) = 0;
  // Writes into a peer's memory; the peer sees `written` with the notice when all of it is there,
  // and may see it twice after an `unsent`.
  virtual void write(const Way& way, Payload payload, RemoteMemory target, const FrameHead& notice,
                     std::uint64_t cookie) = 0;
  // Lets go of a write. true: its data is needed no longer and nothing will be told of it; it may
  // arrive or not. false: too late, or it is just leaving.
  virtual bool take_back(RankId /*peer*/, std::uint64_t /*cookie*/) { return false; }
  // Opens memory for writes of this peer; what comes after deregister_memory is dropped.
  virtual std::uint64_t register_memory(RankId peer, std::byte* data, std::size_t size) = 0;
  virtual void deregister_memory(std::uint64_t key) = 0;
  // The next completion whose time has come; false when there is none.
  virtual bool poll(Completion& out) = 0;
  // Returns when poll has something, or at `until`.
  virtual void wait(Time until) = 0;

  // What the processor does for the library; takes time where time is simulated. `to` or `from` may
  // be null: then nothing is copied, and the cost is the same.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t size) = 0;
  virtual void spend(Duration processor_time) = 0;
  // A call of the library begins; it ends. What lies between an end and the next begin is the
  // program's own.
  virtual void enter_call() = 0;
  virtual void leave_call() {}
  // The program looks at the clock, outside of any call: what it did so far has taken time too.
  virtual void catch_up() {}
  // A message of this size is about to be sent, in whatever frames.
  virtual void note_message(RankId /*to*/, std::size_t /*size*/) {}

  virtual void set_teller(const WaitTeller* teller) = 0;
};

// The rank that this thread executes now; null outside of any. Set by who switches between ranks.
class Current {
 public:
  // What is everywhere is asked first: it is found without looking for the thread's own.
  static Fabric* fabric() { return everywhere_fabric_ != nullptr ? everywhere_fabric_ : fabric_; }
  static void set(Fabric* fabric, void* layer) {
    fabric_ = fabric;
    layer_ = layer;
  }
  // A process that is one rank: its threads take turns.
  static void set_everywhere(Fabric* fabric, void* layer) {
    set(nullptr, nullptr);
    everywhere_fabric_ = fabric;
    everywhere_layer_ = layer;
  }
  // What stands on the fabric for this rank (an MPI library's state).
  static void* layer() { return everywhere_layer_ != nullptr ? everywhere_layer_ : layer_; }

 private:
  static Fabric* everywhere_fabric_;
  static void* everywhere_layer_;
  static thread_local Fabric* fabric_;
  static thread_local void* layer_;
};

}  // namespace weft
