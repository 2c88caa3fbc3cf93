// SPDX-License-Identifier: Apache-2.0
// What the steps of one collective operation do at one rank: messages to team mates, copies and
// reductions in memory. Whether data is really carried is known here alone; the time of copies and
// reductions is charged in any case, with the same calls, so that times do not depend on it.
#pragma once

#include <array>
#include <bit>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <weft/message/coll/team.hpp>
#include <weft/message/mp/task.hpp>

namespace weft::coll {

using Buffer = std::unique_ptr<std::byte[]>;

// Null stays null: a buffer that is not there has no places either.
inline std::byte* at(std::byte* base, std::ptrdiff_t offset) {
  return base == nullptr ? nullptr : base + offset;
}
inline const std::byte* at(const std::byte* base, std::ptrdiff_t offset) {
  return base == nullptr ? nullptr : base + offset;
}
inline std::byte* at(std::byte* base, std::size_t offset) {
  return at(base, static_cast<std::ptrdiff_t>(offset));
}
inline const std::byte* at(const std::byte* base, std::size_t offset) {
  return at(base, static_cast<std::ptrdiff_t>(offset));
}
inline std::byte* bytes(void* data) {
  return static_cast<std::byte*>(data);
}
inline const std::byte* bytes(const void* data) {
  return static_cast<const std::byte*>(data);
}

inline std::size_t scaled(std::int64_t count, std::size_t size) {
  return static_cast<std::size_t>(count) * size;
}

// Two kinds of messages between one pair that must not meet within one operation.
enum class Lane : std::uint8_t { forward = 0, backward = 1 };

class Station {
 public:
  explicit Station(const Team& team)
      : team_(team), carries_(team.internal || team.m.fabric().carries_data()) {}
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  int rank() const { return team_.rank; }
  int size() const { return team_.members.size(); }
  bool carries() const { return carries_; }
  const Team& team() const { return team_; }

  mp::Request* send(int to, const std::byte* data, std::size_t size, Lane lane = Lane::forward) {
    return send({team_.members[to], team_.context}, data, size, lane);
  }
  mp::Request* receive(int from, std::byte* data, std::size_t size, Lane lane = Lane::forward) {
    return receive({{}, team_.context, from}, data, size, lane);
  }
  // For peers outside of the team.
  struct Peer {
    RankId id;
    mp::ContextId context = 0;
    int rank = 0;  // For receiving: how its messages name it.
  };
  mp::Request* send(const Peer& to, const std::byte* data, std::size_t size, Lane lane);
  mp::Request* receive(const Peer& from, std::byte* data, std::size_t size, Lane lane);

  // co_await finish(request): waits, lets go of it, remembers an error.
  class Finish {
   public:
    Finish(Station& station, mp::Request* request, std::size_t* arrived)
        : station_(station), request_(request), arrived_(arrived) {}
    bool await_ready() const { return request_->done; }
    void await_suspend(std::coroutine_handle<> waiter) const { request_->waiter = waiter; }
    void await_resume() const { station_.settle(request_, arrived_); }

   private:
    Station& station_;
    mp::Request* request_;
    std::size_t* arrived_;
  };
  Finish finish(mp::Request* request) { return {*this, request, nullptr}; }
  // What arrives may be shorter than what was asked for.
  Finish finish_short(mp::Request* request, std::size_t& arrived) {
    return {*this, request, &arrived};
  }

  // Of a part of the operation.
  void note(int error) {
    if (error_ == ok) error_ = error;
  }
  int error() const { return error_; }

  // Null where nothing is carried.
  Buffer buffer(std::size_t size) const {
    return carries_ && size > 0 ? std::make_unique_for_overwrite<std::byte[]>(size) : nullptr;
  }
  // Not from a place to itself: the caller knows, where addresses may be missing.
  void copy(std::byte* to, const std::byte* from, std::size_t size);
  // Many small copies are charged as one, then done by move().
  void charge(std::size_t size) {
    if (size > 0) team_.m.fabric().copy(nullptr, nullptr, size);
  }
  void move(std::byte* to, const std::byte* from, std::size_t size) const;
  void reduce(const Reducer& reducer, const std::byte* in, std::byte* inout, std::int64_t count);

 private:
  void settle(mp::Request* request, std::size_t* arrived);

  Team team_;
  bool carries_;
  int error_ = ok;
};

// Requests under way, not more than a few: a rank that talks to thousands must not hold a request
// for each.
class Window {
 public:
  static constexpr std::size_t limit = 16;
  bool full() const { return count_ == limit; }
  bool empty() const { return count_ == 0; }
  void push(mp::Request* request) { requests_[(first_ + count_++) % limit] = request; }
  mp::Request* pop() {
    mp::Request* const oldest = requests_[first_];
    first_ = (first_ + 1) % limit;
    --count_;
    return oldest;
  }

 private:
  std::array<mp::Request*, limit> requests_ = {};
  std::size_t first_ = 0, count_ = 0;
};

// The running result of a reduction. Operands arrive in room(), and results stay where they come to
// lie, so that nothing is copied between the two buffers. Operands of ranks above and below are
// told apart for operators that do not commute.
class Running {
 public:
  enum Place : std::uint8_t { own, a, b };
  // The result begins as this rank's operand: its own, which is only read, or what lies in b.
  Running(Station& station, const Reducer& reducer, Place place)
      : station_(station), reducer_(reducer), place_(place) {}
  void set(const std::byte* own_operand, std::byte* buffer_a, std::byte* buffer_b) {
    own_ = own_operand;
    a_ = buffer_a;
    b_ = buffer_b;
  }

  Place place() const { return place_; }
  const std::byte* value() const { return place_ == own ? own_ : place_ == a ? a_ : b_; }
  std::byte* room() const { return place_ == a ? b_ : a_; }

  // The elements [first, first + count) of the operand in room(). The others are given up.
  void take(bool from_above, std::int64_t first, std::int64_t count);

 private:
  Station& station_;
  const Reducer& reducer_;
  Place place_;
  const std::byte* own_ = nullptr;
  std::byte* a_ = nullptr;
  std::byte* b_ = nullptr;
};

// A power of two of the ranks; each of the others leans on a neighbour: of the first pairs of ranks
// (0,1), (2,3), ... one stays and acts for both.
class Fold {
 public:
  // `root` stays in any case; -1: no matter who.
  explicit Fold(int ranks, int root = -1)
      : power_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        extra_(ranks - power_),
        root_(root) {}

  int power() const { return power_; }
  bool paired(int rank) const { return rank < 2 * extra_; }
  bool stays(int rank) const { return !paired(rank) || rank_of(place_of(rank)) == rank; }
  int place_of(int rank) const { return paired(rank) ? rank / 2 : rank - extra_; }
  int rank_of(int place) const {
    if (place >= extra_) return place + extra_;
    return root_ == 2 * place + 1 ? root_ : 2 * place;
  }
  // The first rank for which a place acts; `place` may be power().
  int first_of(int place) const { return place < extra_ ? 2 * place : place + extra_; }

 private:
  int power_, extra_, root_;
};

// `count` things cut into `parts` nearly equal pieces: where piece i begins.
inline std::int64_t cut(std::int64_t count, int parts, int i) {
  return count / parts * i + count % parts * i / parts;
}

}  // namespace weft::coll
