// SPDX-License-Identifier: Apache-2.0
// Records of the simulated routers, as compact as possible: a hop touches a handful of cache lines.
// Times are bare picoseconds in the simulation core, and their names end in _at; the rest of the
// module speaks Time and Duration.
//
// A router is a set of inputs (rings of packets, one per port and VC) and of outputs that compete
// for the heads of the rings. With output buffers each crossbar output fills rings of its own,
// which a second output (the cable) drains. Cards are outputs without inputs: they make packets
// from a queue of messages.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <weft/base/id.hpp>
#include <weft/base/units.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/router/index.hpp>

namespace weft::detail {

inline constexpr std::int64_t never_at = Time::never().in_ps();
inline constexpr std::uint32_t no_message = 0xffffffffu;

inline constexpr std::uint32_t packet_size_max = (1 << 18) - 1;

// A packet in a buffer. A credit is no event of its own: when a packet has left, its slot keeps the
// credit. `head_at` then says when the feeder may use the space, and `route` how many bytes had
// left this buffer by then since the beginning. Both only grow, so the newest credit that has come
// back stands for all before it.
struct Slot {
  std::int64_t head_at;      // First flit arrives.
  std::uint32_t tail_after;  // Last flit arrives this much later.
  std::uint32_t node;        // Destination.
  std::uint64_t route;       // Flight::state.
  std::uint32_t message;
  // Size on the wire: 18 bits; hops: 8; position in the message modulo 64, enough to notice loss
  // and disorder: 6. Not bit-fields: compilers read those together with their neighbours, and a
  // load that is wider than the store before it stalls.
  std::uint32_t packed;

  static std::uint32_t pack(std::int64_t size, std::int64_t sequence) {
    return static_cast<std::uint32_t>(size) | (static_cast<std::uint32_t>(sequence) << 26);
  }
  std::uint32_t size() const { return packed & ((1u << 18) - 1); }
  std::int64_t lag() const { return tail_after; }
  std::uint32_t hops() const { return (packed >> 18) & hops_max; }
  std::uint32_t sequence() const { return packed >> 26; }
  void count_hop() { packed += hops() < hops_max ? 1u << 18 : 0; }
  static constexpr std::uint32_t hops_max = 255;  // Counted; more look like this many.
};
static_assert(sizeof(Slot) == 32);

// A packet on its way from one slot to the next, read and written in words of eight bytes: field by
// field it would take twice as many loads and stores.
struct Moving {
  std::int64_t head_at;
  std::uint64_t lag_node, route, message_packed;  // Slot's fields, two to a word.

  static Moving from(const Slot& slot) {
    const char* const bytes = reinterpret_cast<const char*>(&slot);
    Moving packet{.head_at = slot.head_at, .lag_node = 0, .route = slot.route, .message_packed = 0};
    std::memcpy(&packet.lag_node, bytes + offsetof(Slot, tail_after), sizeof packet.lag_node);
    std::memcpy(&packet.message_packed, bytes + offsetof(Slot, message),
                sizeof packet.message_packed);
    return packet;
  }
  // Its head arrives there at `at`, `more_hops` later.
  void move_to(Slot& slot, std::int64_t at, std::uint32_t more_hops) const {
    char* const bytes = reinterpret_cast<char*>(&slot);
    const std::uint64_t last = message_packed + (std::uint64_t{more_hops} << (32 + 18));
    slot.head_at = at;
    std::memcpy(bytes + offsetof(Slot, tail_after), &lag_node, sizeof lag_node);
    slot.route = route;
    std::memcpy(bytes + offsetof(Slot, message), &last, sizeof last);
  }
  std::int64_t lag() const { return static_cast<std::uint32_t>(lag_node); }
  std::uint32_t node() const { return static_cast<std::uint32_t>(lag_node >> 32); }
  std::uint32_t message() const { return static_cast<std::uint32_t>(message_packed); }
  std::uint32_t packed() const { return static_cast<std::uint32_t>(message_packed >> 32); }
  std::uint32_t size() const { return packed() & packet_size_max; }
  std::uint32_t hops() const { return (packed() >> 18) & 255; }
  std::uint32_t sequence() const { return packed() >> 26; }
};
static_assert(std::endian::native == std::endian::little);

// The ring of one VC of an input port, of an output buffer, or of a node's receiving buffer. A
// mirror is a copy of a ring that another worker or process owns; it stands with the feeder and
// tells it which packets are in the ring and which credits have come back.
struct Input {
  std::int64_t ready_at;   // Its head may be granted then. Without a head: the last one left then.
  std::uint32_t departed;  // Bytes so far, modulo 2^32.
  std::uint32_t source;    // See feeder(), mirror() and remote_feeder().
  std::uint32_t credit;    // From the last flit's leaving to the feeder's using the space, in ps.
  VcMask vcs;              // Where its head may go, if it has one option only.
  std::uint16_t head, tail;  // Free-running; the ring is empty when they are equal.
  std::uint16_t port;        // Input port within the router: its VCs share a crossbar input.
  bool starved;              // The feeder waits for space here.
  bool remote;               // The feeder belongs to another worker or process.

  // Not remote: the output that fills it.
  OutputIndex feeder() const { return OutputIndex(source); }
  // Remote, one process: the mirror of this ring at the feeder's worker.
  InputIndex mirror() const { return InputIndex(source); }
  // Remote, several processes: position in State::remote_feeders.
  std::uint32_t remote_feeder() const { return source; }
};
static_assert(sizeof(Input) == 32);
// Where the slots of all rings stand. A ring is cut into blocks. The first blocks of all rings
// stand together, then their second ones: memory is touched only as deep as rings are filled.
struct RingShape {
  std::uint32_t bits = 0, mask = 0;              // Slots of a ring, a power of two.
  std::uint32_t block_bits = 0, block_mask = 0;  // Slots of a block, too.
  std::size_t stride = 0;                        // Slots from a block of a ring to its next one.

  static RingShape of(std::uint32_t packets, std::size_t rings, bool may_be_whole = true);

  bool is_whole() const { return block_bits == bits; }
  std::size_t first(InputIndex input) const { return std::size_t{input.value} << block_bits; }
  // A slot after the first one of its ring.
  std::size_t offset(std::uint32_t position) const {
    const std::uint32_t slot = position & mask;
    return (slot >> block_bits) * stride + (slot & block_mask);
  }
  std::size_t slots() const { return stride << (bits - block_bits); }
  // Where the rings of a router begin. Where they are whole it differs between routers: equal
  // positions would compete for the same lines of the cache. Otherwise only the first block may be
  // in memory.
  std::uint16_t first_position(RouterIndex r) const {
    return block_mask != mask
               ? 0
               : static_cast<std::uint16_t>(((r.value ^ (r.value >> 4)) << 1) & mask);
  }
};
inline constexpr std::uint16_t no_port = 0xffff;    // Input::port of an output buffer.
inline constexpr std::uint16_t sink_port = 0xfffe;  // For a node's buffer; ready_at: newest credit.

enum OutputKind : std::uint8_t { to_nowhere, to_router, to_buffer, to_node };

// One cache line.
struct alignas(64) Output {
  std::int64_t free_at;   // The last flit so far has passed.
  std::uint64_t waiting;  // Candidates, where one word is enough for all.
  std::uint64_t packets;
  InputIndex target;       // VC 0 of the buffer that it fills, or of that buffer's mirror.
  RouterIndex router;      // The target's; in another process: see remote_router().
  std::uint64_t bytes;     // Not beside `packets`: compilers then update both with slower code.
  InputIndex real_target;  // VC 0 of the real buffer, if `target` is a mirror of this process.
  std::uint32_t delay;     // Delay of the wire, ps.
  std::uint16_t owner;     // Worker or process of the real target.
  std::uint16_t pointer;   // Round robin: the candidate after the last winner.
  std::uint8_t wire;
  std::uint8_t last_vc;
  std::uint8_t kind;          // OutputKind
  bool remote;                // The target is a mirror.
  std::uint16_t packets_max;  // The buffers that it fills hold no more.

  // If the real target belongs to another process: its router, and VC 0 of it within that.
  RouterId remote_router() const { return RouterId(router.value); }
  LocalInput remote_target() const { return LocalInput(real_target.value); }
};
static_assert(sizeof(Output) == 64);

// What packets have waited for an output in all, in ps. See LinkCount.
struct Waits {
  std::int64_t queue_ps, turn_ps, room_ps;

  // A packet that could have gone alone at `alone_at`, and was first in its buffer and ready at
  // `ready_at`, goes now. Output and crossbar were busy until `busy_until`.
  void add(std::int64_t alone_at, std::int64_t ready_at, std::int64_t busy_until,
           std::int64_t now) {
    const std::int64_t turn_at = busy_until > ready_at ? busy_until : ready_at;
    queue_ps += ready_at - alone_at;
    turn_ps += turn_at - ready_at;
    room_ps += now - turn_at;
  }
};

// Credit account of one VC of an output.
struct Account {
  std::int32_t room;       // Bytes known to be free.
  std::uint32_t departed;  // Bytes whose credits are counted in `room`, modulo 2^32.
  std::uint32_t ring;      // First slot of the buffer: RingShape::first().
  std::uint16_t reclaim;   // Departed packets before this one are counted in `room`.
  std::uint16_t pushed;
};
static_assert(sizeof(Account) == 16);

// One of the outputs that a head may take.
struct RouteOption {
  std::uint16_t output;  // LocalOutput.
  VcMask vcs;
  std::uint64_t route;  // Flight::state if it takes this one.
};

// Messages waiting to be cut into packets: see CardQueues.
struct alignas(64) Card {
  std::uint32_t first;    // The next packet is of this one; no_message: there is none.
  std::uint32_t last;     // Where queues take turns: the one that had its turn before.
  std::uint32_t end;      // Where there is one queue: the last message in it.
  std::uint32_t packets;  // Made so far.
  std::uint32_t node;
  // The message being received. Its numbers stand here, and in its record only once a packet of
  // another message comes.
  std::uint32_t receiving = no_message;
  std::uint32_t received = 0;
  // Of the node's receiving buffer, see pick_sink(): the size of the packets that came last, and
  // from when on it holds no others.
  std::uint32_t even_size = 0;
  std::int64_t even_at = 0;
  std::int64_t missing = 0;
  // The last packet so far has left. Its output pauses longer, if asked to.
  std::int64_t sent_at = 0;
};
static_assert(sizeof(Card) <= 64);

// What every packet asks for is in the first line.
struct alignas(64) Message {
  std::int64_t size, unsent, missing;
  std::int64_t gap;  // After each packet, ps.
  std::uint32_t to;
  std::uint32_t next;      // In the card's queue.
  std::uint32_t turn;      // The first message of the queue whose turn is next.
  std::uint32_t received;  // Packets.
  std::uint32_t made;      // Packets.
  // If the router computes dimension order: the destination's place, and whether a random bit
  // chooses a direction on the way. If none does, the first hop is the same for all packets:
  // LocalOutput, up to 8 VCs, and the lower half of Slot::route.
  std::uint32_t place;
  bool tosses;
  std::uint8_t first_output, first_vcs;
  std::uint32_t first_state;
  std::uint32_t from;
  std::uint32_t origin, origin_id;  // From another process: which one, and its id there.
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

// An actor and when it acts.
struct Due {
  Actor actor;
  std::int64_t at;
};
inline constexpr std::uint32_t actors_per_group = 8;
constexpr std::uint32_t groups_of(std::uint32_t actors) {
  return (actors + actors_per_group - 1) / actors_per_group;
}
// Which of a group of actors acts first, the lowest among equals, and when.
struct ActorGroup {
  std::int64_t at;
  std::uint32_t actor;

  void set(const Due& first) {
    at = first.at;
    actor = first.actor.value;
  }
  void bring_forward(Actor one, std::int64_t when) {
    if (when > at || (when == at && one.value > actor)) return;
    at = when;
    actor = one.value;
  }
};

// One cache line.
struct alignas(64) Router {
  std::int64_t wake_at;    // It will be visited no later; `visiting` during a visit.
  std::uint64_t heads;     // Inputs whose head has a route, where one word is enough for all.
  std::uint64_t active;    // Which of the first 64 actors may have something to do.
  std::uint64_t unrouted;  // Inputs whose head has no route yet, where one word is enough for all.
  OutputIndex first_output;
  InputIndex first_input;
  std::uint32_t first_next;  // In State::next_at.
  std::uint32_t first_port;  // In State::crossbar_free_at.
  CardIndex first_card;
  std::uint16_t ports;  // Between routers.
  std::uint16_t nodes;
  std::uint16_t vc_pointer;  // Round robin of VC allocation: the input after the last that got one.
  std::uint16_t outputs;     // Crossbar outputs, cables behind output buffers, cards.
  std::uint16_t actors;
  std::uint16_t starved;  // Buffers of neighbours that it waits for.

  std::uint32_t ends() const { return std::uint32_t{ports} + nodes; }  // Cables and nodes.
  LocalOutput first_card_output() const { return LocalOutput(std::uint32_t{outputs} - nodes); }
  static std::uint64_t active_bit(Actor actor) {
    return std::uint64_t{actor.value < 64} << (actor.value % 64);
  }
  Actor alarm_actor(std::uint32_t node) const { return Actor(1 + outputs + node); }
  std::uint32_t first_group() const { return first_next / actors_per_group; }
  // The last actor of a router: all others have acted when it announces.
  Actor news_actor() const { return Actor(actors - 1u); }
};
static_assert(sizeof(Router) == 64);
inline constexpr std::int64_t visiting = INT64_MIN;

}  // namespace weft::detail
