// SPDX-License-Identifier: Apache-2.0
// Large messages over several rails as one, whatever each of them delivers now. A message is cut
// into parts; rail_choice.hpp gives each to the rail where it is expected to be through first, by
// rates measured here from what was delivered before and by what is in flight there. A part that
// did not arrive goes again, on another rail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/mp/header.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/message/mp/rail_choice.hpp>
#include <weft/message/mp/request.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

// What a rail delivers: bytes over time of its latest parts, the last ones counting most.
class RailMeter {
 public:
  // `busy`: how long the rail worked on these bytes alone.
  void delivered(std::size_t bytes, Duration busy);
  void set(double bytes_per_s);
  void forget() { *this = {}; }
  bool measured() const { return seconds_ > 0; }
  double bytes_per_s() const { return measured() ? bytes_ / seconds_ : 0; }

 private:
  double bytes_ = 0, seconds_ = 0;
};

class Trunk {
 public:
  Trunk(const Fabric& fabric, const Options& options) : fabric_(fabric), options_(options) {}
  Trunk(const Trunk&) = delete;
  Trunk& operator=(const Trunk&) = delete;

  struct Load {
    std::uint64_t id = 0;  // What delivered() gives back; 0: no completion is wanted.
    RankId peer;
    Payload data;
    std::uint64_t key = 0;   // Names the peer's memory,
    std::size_t offset = 0;  // and where in it the data begins.
    Header notice;           // Goes with every part; `key` says where the part begins.
    const Tuning* tuning = nullptr;
    bool frames = false;  // Parts go as frames, which carry copies: nothing is written there.
  };
  // True if measured rates are near nominal ones, so that frames may be split by these. Sometimes
  // false on purpose, so that a message measures them.
  bool alike(RankId peer);
  // true: all of it has been given to rails. For frames, no completion follows.
  bool begin(const Load& load);

  // Cookies of parts differ from those of requests.
  static bool owns(std::uint64_t cookie) { return (cookie >> 63) != 0; }
  // A part is through. The id of its message if that was the last one, else 0.
  std::uint64_t delivered(std::uint64_t cookie);
  void returned(std::uint64_t cookie);  // It must go again.
  void rail_changed(RankId peer, RailId rail);
  static constexpr Duration look_again = Duration::ms(1);
  void tend(Time now);  // Now and then: looks after rails that are late.
  bool busy() const { return !messages_.empty(); }
  // The memory of this request's head start is the program's again: what has not left is copied.
  void keep_head(std::uint64_t sender);
  void forget(RankId peer);  // It is lost, and all that was to go there.

 private:
  struct Message {
    Load load;
    std::unique_ptr<std::byte[]> kept;  // Its data, if the program has its memory back.
    std::uint64_t serial = 0;
    std::size_t next = 0;     // Nothing from here on has been given to a rail,
    std::size_t missing = 0;  // and this many bytes have not arrived yet.
    std::vector<Stretch> again;
    std::vector<std::size_t> given;  // Bytes given to each rail; frames only.
    bool waits = false;              // Stands in the line of its peer.
    std::vector<double> worth;       // Share of each rail's rate, if the memory is far; empty: all.
    struct Lap {
      RailId rail;
      Duration time;
    };
    std::vector<Lap> laps;    // Times of parts on rails that were idle before,
    bool crowded = false;     // and whether there were others.
    std::size_t doubled = 0;  // Bytes that went again because a rail was late.
  };
  struct Part {
    Message* message = nullptr;
    std::size_t offset = 0, size = 0;
    RailId rail;
    bool to_idle = false;  // The rail had nothing else to do.
    Time posted;
    std::uint32_t generation = 0;
  };
  struct Rail {
    RailMeter meter;
    std::size_t queued = 0;  // Bytes under way.
    Time last;               // When something was last delivered.
    Duration late;           // How long the oldest part is under way, if that is far too long.
    std::deque<std::uint64_t> outstanding;  // Parts, oldest first.
  };
  struct Peer {
    std::deque<Message*> line;  // Have something to give to rails.
    std::vector<Rail> rails;
    std::uint32_t frames = 0;  // Messages that went as such since one measured,
    Time measured;             // then.
  };

  void pump(RankId id, Peer& peer);
  std::optional<RailPart> choose(RankId id, const Peer& peer, const Message& message);
  std::span<const RailOffer> offers_of_all(RankId id, const Peer& peer);
  void give(Peer& peer, Message& message, const RailPart& part);
  bool relieve(RankId id, Peer& peer);
  void balance(RankId id, Peer& peer, const Message& message);
  void take_off(Peer& peer, std::uint64_t cookie);
  double rate(RankId id, const Peer& peer, std::size_t rail) const;
  double share_of_nominal(RankId id, const Peer& peer) const;
  Part* find(std::uint64_t cookie);
  void free(std::uint64_t cookie);
  Peer& peer_of(RankId id);

  const Fabric fabric_;
  const Options& options_;
  std::map<std::uint32_t, Peer> peers_;
  std::map<std::uint64_t, std::unique_ptr<Message>> messages_;
  std::uint64_t serials_ = 0;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> unused_;
  std::vector<RailOffer> offers_;  // Kept: making room costs time.
  Time tended_;
};

}  // namespace weft::mp
