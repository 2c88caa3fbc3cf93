// SPDX-License-Identifier: Apache-2.0
// What goes over a connection between two processes, after both have proved that they belong to
// the job: records, each a head of fixed size and `size` bytes of data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <weft/message/port/fabric.hpp>

namespace weft::wire {

enum class RecordKind : std::uint8_t {
  frame = 1,  // A frame of the message layer: sequence, head, data.
  write,      // Data for memory that the receiver has opened: key, offset, head is the notice.
  more,       // More of the write before it; only the first bytes of such a record are sent.
  rail_dead,  // The sender has given up the connection named `key` on rail `offset`; `sequence`
              // bytes of it were acknowledged, if it was protected.
  goodbye,    // Nothing follows: the sender ends in order.
  parting,    // The sender closes its connections, but stays a peer. Nothing follows here.
  // For RDMA rails, which `offset` names, counted from the first of them; see ofi_lanes.hpp.
  keys,     // How the memory of `key`, `offset` bytes, is reached on each. In order with frames.
  landed,   // `offset` bytes have been put into the memory of `key`; head is the notice. In order.
  renewed,  // The sender's endpoint has a new address; keys of the old one are void. In order.
  ask,      // Are you there?
  answer,   // Yes.
};

// The peer forgets it once our kernel has acknowledged it. All other kinds are about the connection
// that they came on, or are asked for again.
constexpr bool counts_as_delivered(RecordKind kind) {
  return kind == RecordKind::frame || kind == RecordKind::write || kind == RecordKind::keys ||
         kind == RecordKind::landed || kind == RecordKind::renewed;
}

// As it is sent. All machines that weft runs on have the same byte order.
struct Record {
  static constexpr std::uint32_t sign = 0x31746677;  // Detects a reader that is out of step.
  std::uint32_t magic = sign;
  RecordKind kind = RecordKind::frame;
  std::uint8_t goes_on = 0;  // 1: a write of which more follows; others may come in between.
  std::uint8_t unused[2] = {};
  std::uint64_t size = 0;  // Bytes of data.
  // Counts frames and what is in order with them, between two ranks, over all rails. In a write:
  // the RDMA rails on which one into the same memory was given up, a bit each.
  std::uint64_t sequence = 0;
  std::uint64_t key = 0, offset = 0;
  FrameHead head = {};
};
static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) == 96);

// Up to and with the size: all that is sent of `more`, and enough to tell what it is.
constexpr std::size_t short_record = offsetof(Record, size) + sizeof(Record::size);
constexpr std::size_t length_of(RecordKind kind) {
  return kind == RecordKind::more ? short_record : sizeof(Record);
}

// A record to be sent.
struct Outgoing {
  Record record;
  const std::byte* data = nullptr;
  std::unique_ptr<std::byte[]> owned;  // The data, if it is ours.
  std::uint64_t cookie = 0;            // 0: no completion is wanted.
  std::size_t begun = 0;               // Bytes of a write that have left as pieces.
  std::uint64_t end = 0;               // Its end in the stream of bytes, once it has left.
};

// A record that has come. Data of writes is already where it belongs.
struct Incoming {
  Record record;
  const std::byte* lent = nullptr;  // Valid until the rail is polled again.
  std::unique_ptr<std::byte[]> owned;
  bool kept = true;  // false: a write for memory that is no longer open.
};

// Anything may come from outside. Null: it is a record; else what is wrong with it.
const char* fault_of(const Record& record, std::size_t largest_frame);

}  // namespace weft::wire
