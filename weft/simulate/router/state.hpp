// SPDX-License-Identifier: Apache-2.0
// The state of the simulated routers, as compact as it can be: a hop touches a handful of cache
// lines. Times are bare picoseconds here (the one place where it pays), named *_at; all else in the
// module speaks Time and Duration.
//
// A router is a set of inputs (rings of packets, one per port and VC) and outputs that compete for
// their heads. With output buffers, each output leads into rings of its own, which a second output
// (the cable) drains: the same two things again, one after the other. Cards are outputs without
// inputs: they make packets from a queue of messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <weft/base/check.hpp>
#include <weft/network/route/policy.hpp>

namespace weft::detail {

inline constexpr std::int64_t never_at = Time::never().in_ps();

// Zeroed memory that costs nothing until touched, in large pages: the tables of a large network
// have more small ones than the processor keeps track of.
template <typename T>
class LazyArray {
 public:
  LazyArray() = default;
  explicit LazyArray(std::size_t count) : size_(count) {
    if (count == 0) return;
    void* const memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes(), MADV_HUGEPAGE);
    data_ = static_cast<T*>(memory);
  }
  LazyArray(LazyArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~LazyArray() {
    if (data_ != nullptr) munmap(data_, bytes());
  }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Places that visits to come will need. They are fetched a few at a time, while others are being
// visited: a fetch that has to find its page first holds up what comes after it, and many in a row
// hold it up for long.
class Wishes {
 public:
  void add(const void* place) {
    places_[count_] = place;
    count_ = std::min(count_ + 1, most);
  }
  void fetch_two() {
    if (count_ < 2) return;
    count_ -= 2;
    __builtin_prefetch(places_[count_], 1);
    __builtin_prefetch(places_[count_ + 1], 1);
  }
  void fetch_all() {
    while (count_ > 0) __builtin_prefetch(places_[--count_], 1);
  }

 private:
  static constexpr std::uint32_t most = 63;
  std::uint32_t count_ = 0;
  const void* places_[most + 1] = {};
};

// A packet in a buffer. A credit is no event of its own: after a packet has left, `head_at` says
// when its space counts as free at the feeder, and `route` how many bytes had then left this buffer
// since the beginning. Both only grow, so the newest credit that has come back speaks for all
// before it.
struct Slot {
  std::int64_t head_at;      // First flit arrives.
  std::uint32_t tail_after;  // Last flit arrives this much later.
  std::uint32_t node;        // Destination.
  std::uint64_t route;       // Flight::state.
  std::uint32_t message;
  // Size on the wire: 18 bits; hops: 8; position in the message, modulo 64 (enough to notice loss
  // and disorder): 6. Not bit-fields: compilers read those with their neighbours, and a load that
  // is wider than the store before it waits for that.
  std::uint32_t packed;

  static std::uint32_t pack(std::int64_t size, std::int64_t sequence) {
    return static_cast<std::uint32_t>(size) | (static_cast<std::uint32_t>(sequence) << 26);
  }
  std::uint32_t size() const { return packed & ((1u << 18) - 1); }
  std::uint32_t hops() const { return (packed >> 18) & 255; }
  std::uint32_t sequence() const { return packed >> 26; }
  void count_hop() { packed = one_hop_more(packed); }
  static std::uint32_t one_hop_more(std::uint32_t packed) {
    return packed + (((packed >> 18) & 255) < 255 ? 1u << 18 : 0);
  }
};
static_assert(sizeof(Slot) == 32);
inline constexpr std::int64_t packet_size_max = (1 << 18) - 1;

struct Input {
  std::int64_t
      ready_at;  // Its head may be granted then; without a head: the former one has left then.
  std::uint32_t departed;  // Bytes so far, modulo 2^32.
  std::uint32_t
      feeder;  // The output that fills it, or the ghost of this ring at another worker's feeder.
  std::uint32_t credit;      // From the last flit's leaving to the feeder's using the space, in ps.
  VcMask vcs;                // Where its head may go, if there is but one way.
  std::uint16_t head, tail;  // Free-running; empty when equal.
  std::uint16_t
      port;      // Input port within the router: VCs of a port share their way into the crossbar.
  bool starved;  // The feeder waits for space here.
  bool remote;   // The feeder lives with another worker.
};
static_assert(sizeof(Input) == 32);

// One cache line.
struct alignas(64) Output {
  std::int64_t free_at;   // The last flit so far has passed.
  std::uint64_t waiting;  // Candidates, where one word is enough for all.
  std::uint64_t packets;
  std::uint32_t target;   // Input of VC 0 that it feeds.
  std::uint32_t router;   // Of the target.
  std::uint64_t bytes;    // Not beside `packets`: counting both at once takes compilers longer.
  std::uint32_t mail;     // Real target when `target` is a ghost.
  std::uint32_t delay;    // Of the wire, ps.
  std::uint16_t worker;   // Of the target.
  std::uint16_t pointer;  // Round robin: the candidate after the last winner.
  std::uint8_t wire;
  std::uint8_t last_vc;
  std::uint8_t kind;  // OutputKind
  bool remote;
  std::uint16_t packets_max;  // A buffer that it feeds holds no more.
};
static_assert(sizeof(Output) == 64);

enum OutputKind : std::uint8_t { to_nowhere, to_router, to_buffer, to_node };
inline constexpr std::uint16_t no_port = 0xffff;    // Input::port of an output buffer.
inline constexpr std::uint16_t sink_port = 0xfffe;  // Of a node's; its ready_at: newest credit.

// Credit account of one VC of an output.
struct Account {
  std::int32_t room;       // Bytes known to be free.
  std::uint32_t departed;  // Bytes whose credits are counted in `room`, modulo 2^32.
  std::uint32_t ring;      // First slot of the buffer.
  std::uint16_t reclaim;   // Departed packets before this one are counted in `room`.
  std::uint16_t pushed;
};
static_assert(sizeof(Account) == 16);

// One way on for a head, in the router's own numbering.
struct Way {
  std::uint16_t output;
  VcMask vcs;
  std::uint64_t route;
};

inline constexpr std::uint32_t no_message = 0xffffffffu;

struct Card {
  std::uint32_t first, last;  // Messages waiting to be cut; no_message for none.
  std::uint32_t packets;      // Made so far.
  std::uint32_t node;
  // The message that comes in, where the record's own numbers wait until another one comes.
  std::uint32_t receiving = no_message;
  std::uint32_t received = 0;
  std::int64_t missing = 0;
};

// What every packet asks for is in the first line.
struct alignas(64) Message {
  std::int64_t size, unsent, missing;
  std::int64_t gap;  // After each packet, ps.
  std::uint32_t from, to;
  std::uint32_t next;
  std::uint32_t received;           // Packets.
  std::uint32_t origin, origin_id;  // Of another process's: who made it, and its name there.
  std::int64_t entered_at;
  std::uint64_t cookie;
  std::int64_t born_at;
};

// How a packet crosses one kind of connection, all in ps.
struct Wire {
  std::int64_t delay;     // Grant to arrival of the head.
  std::uint64_t rate;     // bit/s, of the slowest part.
  std::int64_t byte_ps;   // Per byte when that is whole, else 0.
  std::int64_t vc_alloc;  // Before a freed VC or credit can be used.

  std::int64_t serialise_ps(std::int64_t size) const {
    if (byte_ps != 0) return size * byte_ps;
    // size is at most 18 bits, so the product fits.
    const auto bit_ps = static_cast<std::uint64_t>(size) * 8'000'000'000'000u;
    return static_cast<std::int64_t>((bit_ps + rate - 1) / rate);
  }
};

// One cache line.
struct alignas(64) Router {
  std::int64_t
      wake_at;  // It will be visited no later than this; visiting while it is being visited.
  std::uint64_t heads;   // Inputs whose head has a route, of plain routers; else all.
  std::uint64_t active;  // Actors that may have something to do; kept where 64 bits do.
  std::uint64_t fresh;   // Heads without a route, where one word is enough for all inputs.
  std::uint32_t first_output, first_input, first_next;
  std::uint32_t first_port;  // In crossbar_free_at_.
  std::uint32_t first_card;
  std::uint16_t ports;  // Between routers.
  std::uint16_t nodes;
  std::uint16_t vc_pointer;  // Round robin of VC allocation: the input after the last that got one.
  std::uint16_t outputs;     // Crossbar outputs, cables behind output buffers, cards.
  std::uint16_t actors;      // Route computation, outputs, alarms.
  std::uint16_t starved;     // Buffers of neighbours that it waits for.
};
static_assert(sizeof(Router) == 64);
inline constexpr std::int64_t visiting = INT64_MIN;

}  // namespace weft::detail
