// SPDX-License-Identifier: Apache-2.0
// What goes over a connection between two processes, after both have proved that they belong to
// the job: records, each a head of fixed size and so many bytes of data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <weft/message/port/fabric.hpp>

namespace weft::wire {

enum class RecordKind : std::uint8_t {
  frame = 1,  // A frame of the message layer: sequence, head, data.
  write,      // Data for memory that the receiver has opened: key, offset, head is the notice.
  more,       // More of the write before it; only the first bytes of such a record are sent.
  rail_dead,  // The sender has given up a rail (offset), in the life of connection `key`.
  goodbye,    // Nothing follows: the sender ends in order.
  parting,    // Nothing follows here: the sender lets go of the connection, not of the peer.
  // For RDMA rails, which `offset` names, counted from the first of them; see ofi_lanes.hpp.
  keys,     // How the memory of `key`, `offset` bytes, is reached on each. In order with frames.
  landed,   // `offset` bytes have been put into the memory of `key`; head is the notice. In order.
  renewed,  // The sender's endpoint has a new address; keys of the old one are void. In order.
  ask,      // Are you there?
  answer,   // Yes.
};

// As it stands on the wire; all machines that weft runs on have the same order of bytes.
struct Record {
  static constexpr std::uint32_t sign = 0x31746677;  // Guards against losing step.
  std::uint32_t magic = sign;
  RecordKind kind = RecordKind::frame;
  std::uint8_t goes_on = 0;  // 1: a write of which more follows; others may come in between.
  std::uint8_t unused[2] = {};
  std::uint64_t size = 0;  // Of the data.
  // Of frames and what is in order with them, between two ranks, over all rails. Of a write: the
  // RDMA rails on which one into the same memory was given up, a bit each.
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

// Anything may come from outside. Null: it is a record; else what is wrong with it.
const char* fault_of(const Record& record, std::size_t largest_frame);

}  // namespace weft::wire
