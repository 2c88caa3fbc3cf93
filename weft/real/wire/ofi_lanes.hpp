// SPDX-License-Identifier: Apache-2.0
// The RDMA rails of a link. Data goes by remote writes; all else (keys, "it has landed") goes in
// order over the proved connections of the link, so that no byte which comes through libfabric is
// ever parsed.
//
// A remote write that is given up may still land unnoticed. It must not land in memory
// that the program has got back. What makes that sure:
// - A card that is too late is renewed before its writes are called unsent: nothing reads the
//   sender's memory any more. What lands late is what the message has in this place anyway.
// - Bytes that may come twice never go by RDMA. As soon as a part of a message is in doubt, on
//   whatever rail, the rest of that message goes over connections. So as long as a remote write is
//   under way and not given up, the receiver lacks its bytes, and the message is not done.
// - Every part that goes over a connection after a remote write was given up says on which rails
//   that happened; the receiver closes (not caches) the memory's registration there before it takes
//   note of the part. Real cards let nothing pass from then on. Software that has looked at the key
//   already could still be receiving: there the endpoint is closed as well, and opened anew.
// So no registration stays that somebody may still use for an old message, and the cache is safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/ofi.hpp>
#include <weft/real/wire/record.hpp>

namespace weft::wire {

// The link, as its lanes see it.
class LaneHost {
 public:
  virtual ~LaneHost() = default;
  // Over a connection; in order with frames, if its kind has an order.
  virtual void send_control(const Record& record, const std::string& data) = 0;
  virtual void tell_lane(std::size_t lane, Completion::Kind kind, std::uint64_t cookie) = 0;
  virtual Time clock() const = 0;
};

class OfiLanes final : private OfiUser {
 public:
  static constexpr std::size_t most = 8;  // Limit of a link.
  struct Route {
    OfiCard* card = nullptr;
    std::string address;  // Address of the peer's card.
  };
  OfiLanes(Ofi& ofi, std::vector<Route> routes, LaneHost& host);
  OfiLanes(const OfiLanes&) = delete;
  OfiLanes& operator=(const OfiLanes&) = delete;
  ~OfiLanes() override;

  std::size_t count() const { return lanes_.size(); }
  bool up(std::size_t lane) const { return lanes_[lane].up; }
  bool any_up() const;
  bool busy() const;
  const std::string& domain(std::size_t lane) const { return lanes_[lane].card->place().domain; }
  Rate speed(std::size_t lane) const { return lanes_[lane].card->place().speed; }

  // false: this memory is not reached that way (any more); somebody else has to carry it.
  bool write(std::size_t lane, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie);
  // Something for this memory may arrive twice.
  void doubt(std::uint64_t region);
  // Where a write into this memory was given up, a bit per lane: goes with what follows.
  std::uint64_t revoked(std::uint64_t region) const;

  // Memory of ours.
  void share(std::uint64_t region, std::byte* data, std::size_t size);
  void unshare(std::uint64_t region);
  void revoke(std::uint64_t region, std::uint64_t lanes);

  // keys, renewed, ask, answer
  void hear(const Record& record, const std::byte* data);
  void tend(Time now);
  // The peer is gone.
  void end();

 private:
  struct Lane {
    OfiCard* card = nullptr;
    std::string address;
    std::optional<std::uint64_t> peer;
    bool up = false;
    int failures = 0;
    Time next_try;
    std::size_t pending = 0;
    Time progress;  // When something was last through, or begun after a pause.
    int answers = 0;
    bool asked = false;
    Time asked_at;
  };
  struct Key {
    std::uint64_t key = 0, base = 0;
  };
  // The peer's memory.
  struct Remote {
    std::uint64_t region = 0;
    std::size_t size = 0;
    std::uint64_t usable = 0, revoked = 0;  // A bit per lane.
    bool plain = false;                     // No more RDMA for this message.
    std::array<Key, most> keys = {};
  };
  using Shared = std::array<const Registration*, most>;

  void finished(const OfiJob& job, bool arrived) override;
  void renewed(const OfiCard& card) override;
  Remote* remote(std::uint64_t region);
  const Registration* hold_source(OfiCard& card, Payload payload, const Remote& there,
                                  std::size_t offset);
  void take_keys(const Record& record, const std::byte* data);
  void take_address(const Record& record, const std::byte* data);
  void tend_lane(std::size_t lane, Time now);
  void fail(std::size_t lane, Time now);

  Ofi& ofi_;
  LaneHost& host_;
  std::vector<Lane> lanes_;
  std::map<std::uint32_t, Remote> remotes_;  // By the place in the peer's table.
  std::map<std::uint64_t, Shared> shared_;
  bool ended_ = false;
};

}  // namespace weft::wire
