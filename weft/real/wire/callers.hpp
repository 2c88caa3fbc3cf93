// SPDX-License-Identifier: Apache-2.0
// Peers that connect but have not proved themselves yet, for kinds of rails that listen. A thread
// of its own takes them in, so that they never wait in the kernel, whose queue strangers could fill
// while the rank computes. It sleeps unless somebody calls.
//
// Anybody may call, so callers get a limited number of places, and none is kept for long:
// - a caller that has proved to know the secret leaves its place and waits for the rank;
// - addresses at which no peer is get half of the places, and each of them a few;
// - when places are short, the oldest caller goes, of unknown addresses first. A peer answers at
//   once, and calls again if it was sent away.
//
// What the thread hears may overtake what the rank has not read yet: a kind answers a call after it
// has read the connection before it to its end (Link::may_reconnect).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <poll.h>

#include <weft/base/result.hpp>
#include <weft/real/locality/address.hpp>
#include <weft/real/wire/dial.hpp>
#include <weft/real/wire/rail_kinds.hpp>

namespace weft::wire {

// The places of callers, and who has to leave when they are short.
class CallerPlaces {
 public:
  static constexpr std::size_t most_per_stranger = 8;
  static constexpr std::size_t none = ~std::size_t{0};
  struct Origin {
    locality::Address address;
    bool known = false;  // A peer has this address.
  };

  explicit CallerPlaces(std::size_t places) : places_(places) {}
  // The place for one more caller. `leaves` has to be removed first, unless it is `none`.
  std::size_t find(const Origin& origin, std::size_t& leaves) const;
  void put(std::size_t place, std::unique_ptr<Caller> caller, const Origin& origin);
  std::unique_ptr<Caller> remove(std::size_t place);
  Caller* at(std::size_t place) const { return places_[place].caller.get(); }
  std::size_t oldest() const;  // Of unknown addresses if there are any; `none` if all are free.
  std::size_t count() const { return count_; }
  std::size_t size() const { return places_.size(); }

 private:
  struct Place {
    std::unique_ptr<Caller> caller;
    Origin origin;
    std::uint64_t order = 0;
  };
  template <typename Matches>
  std::size_t oldest_of(Matches matches, std::size_t& found) const;

  std::vector<Place> places_;
  std::size_t count_ = 0;
  std::uint64_t next_order_ = 0;
};

class Callers {
 public:
  Callers(const RailKind& kind, KindHost& host, const JobSecret& secret)
      : kind_(kind), host_(host), secret_(secret) {}
  ~Callers() { close(); }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // RailKind::stir is called with the token when somebody has proved itself.
  Status open(std::vector<Descriptor> listeners, std::uint32_t token);
  const std::vector<Descriptor>& listeners() const { return listeners_; }
  // The most descriptors that callers take.
  std::uint32_t places() const { return static_cast<std::uint32_t>(places_.size()); }
  // A peer may call from this address.
  void know(const locality::Address& address);
  // Leave this many descriptors unused.
  void keep_free(std::uint32_t descriptors) { keep_free_ = descriptors; }
  // A caller that has proved its claim, and awaits the verdict. Null: none for now.
  std::unique_ptr<Caller> next();
  void close();

 private:
  void run();
  void wait_and_answer();
  void accept(const Descriptor& listener);
  bool accept_one(const Descriptor& listener);
  void take(Descriptor socket, const CallerPlaces::Origin& origin);
  void hear(std::size_t place);
  void send_away(std::size_t place);
  void end_late_ones();
  bool is_known(const locality::Address& address, bool local);

  const RailKind& kind_;
  KindHost& host_;
  const JobSecret secret_;
  std::vector<Descriptor> listeners_;
  Descriptor proved_;  // Readable while somebody waits for the verdict.
  Descriptor spare_;   // To turn callers away when there is no other.
  CallerPlaces places_{0};
  std::vector<pollfd> watched_;  // Listeners, then places.
  std::atomic<std::uint32_t> keep_free_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // For what follows.
  std::set<locality::Address> known_;
  std::deque<std::unique_ptr<Caller>> ready_;
  std::thread thread_;
};

}  // namespace weft::wire
