// SPDX-License-Identifier: Apache-2.0
// One rank's part in a collective operation: messages to team members, copies and reductions in
// memory. Only this class knows whether data is really carried; copies and reductions are charged
// in either case by the same calls, so that times do not depend on it.
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

// Null stays null: a missing buffer has no offsets either.
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

// Separates two kinds of messages between one pair within one operation.
enum class Lane : std::uint8_t { forward = 0, backward = 1 };

class Participant {
 public:
  explicit Participant(const Team& team)
      : team_(team),
        always_(team.internal || team.carried),
        carries_(always_ || team.m.fabric().carries_data) {}
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  int rank() const { return team_.rank; }
  int size() const { return team_.members.size(); }
  bool carries() const { return carries_; }
  const Team& team() const { return team_; }

  mp::Request* send(int to, const std::byte* data, std::size_t size, Lane lane = Lane::forward) {
    return send({team_.members[to], team_.context}, data, size, lane);
  }
  mp::Request* receive(int from, std::byte* data, std::size_t size, Lane lane = Lane::forward) {
    return receive({team_.members[from], team_.context, from}, data, size, lane);
  }
  // For peers outside of the team.
  struct Peer {
    RankId id;
    mp::ContextId context = 0;
    int rank = 0;  // For receiving: the rank that its messages carry.
  };
  mp::Request* send(const Peer& to, const std::byte* data, std::size_t size, Lane lane);
  mp::Request* receive(const Peer& from, std::byte* data, std::size_t size, Lane lane);

  // co_await finish(request): waits, releases the request and records an error.
  class Finish {
   public:
    Finish(Participant& participant, mp::Request* request, std::size_t* arrived)
        : station_(participant), request_(request), arrived_(arrived) {}
    bool await_ready() const { return request_->done; }
    void await_suspend(std::coroutine_handle<> waiter) const { request_->waiter = waiter; }
    void await_resume() const { station_.settle(request_, arrived_); }

   private:
    Participant& station_;
    mp::Request* request_;
    std::size_t* arrived_;
  };
  Finish finish(mp::Request* request) { return {*this, request, nullptr}; }
  // The message may be shorter than the buffer.
  Finish finish_short(mp::Request* request, std::size_t& arrived) {
    return {*this, request, &arrived};
  }

  // Records the error of a part of the operation.
  void note(int error) {
    if (error_ == ok) error_ = error;
  }
  int error() const { return error_; }

  // Null if no data is carried.
  Buffer buffer(std::size_t size) const {
    return carries_ && size > 0 ? std::make_unique_for_overwrite<std::byte[]>(size) : nullptr;
  }
  // REQUIRES: `to` and `from` differ. The caller must ensure it, as addresses may be missing.
  void copy(std::byte* to, const std::byte* from, std::size_t size);
  // Charges many small copies at once, which move() then performs.
  void charge(std::size_t size) {
    if (size > 0) team_.m.fabric().processor.copy(nullptr, nullptr, size);
  }
  void move(std::byte* to, const std::byte* from, std::size_t size) const;
  void reduce(const Reducer& reducer, const std::byte* in, std::byte* inout, std::int64_t count);

 private:
  void settle(mp::Request* request, std::size_t* arrived);

  Team team_;
  bool always_;  // Data is carried even where the program's is not.
  bool carries_;
  int error_ = ok;
};

// Bounds the number of requests in flight: a rank with thousands of partners must not hold a
// request for each.
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

// The running result of a reduction. Operands arrive in room(), and results stay where they were
// computed, so that nothing is copied between the two buffers. Operands of higher and lower ranks
// are distinguished for non-commutative operators.
class Running {
 public:
  enum Place : std::uint8_t { own, a, b };
  // The result starts as this rank's operand: its own buffer, which is only read, or what lies in
  // b.
  Running(Participant& participant, const Reducer& reducer, Place place)
      : station_(participant), reducer_(reducer), place_(place) {}
  void set(const std::byte* own_operand, std::byte* buffer_a, std::byte* buffer_b) {
    own_ = own_operand;
    a_ = buffer_a;
    b_ = buffer_b;
  }

  Place place() const { return place_; }
  const std::byte* value() const { return place_ == own ? own_ : place_ == a ? a_ : b_; }
  std::byte* room() const { return place_ == a ? b_ : a_; }

  // Combines elements [first, first + count) of the operand in room(). The others are discarded.
  void take(bool from_above, std::int64_t first, std::int64_t count);

 private:
  Participant& station_;
  const Reducer& reducer_;
  Place place_;
  const std::byte* own_ = nullptr;
  std::byte* a_ = nullptr;
  std::byte* b_ = nullptr;
};

// Reduces the ranks to a power of two: of the first pairs (0,1), (2,3), ... one rank stays and acts
// for both.
class Fold {
 public:
  // `root` always stays; -1: no preference.
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
  // The first rank that a position acts for; `place` may be power().
  int first_of(int place) const { return place < extra_ ? 2 * place : place + extra_; }

 private:
  int power_, extra_, root_;
};

// `count` items in `parts` nearly equal pieces. Divides once and for all: an operation asks for
// pieces in each of its steps.
class Portions {
 public:
  Portions(std::int64_t count, int parts)
      : least_(count / parts), rest_(count % parts), parts_(parts) {}
  std::int64_t start(int piece) const {
    return least_ * piece + (rest_ == 0 ? 0 : rest_ * piece / parts_);
  }
  std::int64_t size(int piece) const { return start(piece + 1) - start(piece); }

 private:
  std::int64_t least_, rest_;
  int parts_;
};

// Where a piece of them starts.
inline std::int64_t cut(std::int64_t count, int parts, int piece) {
  return Portions(count, parts).start(piece);
}

}  // namespace weft::coll
