// SPDX-License-Identifier: Apache-2.0
// What goes over a connection between two processes, after both have proved that they belong to
// the job: records, each a head of fixed size and so many bytes of data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <weft/xport/fabric.hpp>

namespace weft::wire {

enum class RecordKind : std::uint8_t {
  frame = 1,  // A frame of the message layer: sequence, head, data.
  write,      // Data for memory that the receiver has opened: key, offset, head is the notice.
  rail_dead,  // The sender has given up a rail (offset), in the life of connection `key`.
  goodbye,    // Nothing follows: the sender ends in order.
  keys,       // How the memory of `key` is reached without a processor: see remote.hpp.
};

// As it stands on the wire; all machines that weft runs on have the same order of bytes.
struct Record {
  static constexpr std::uint32_t sign = 0x31746677;  // Guards against losing step.
  std::uint32_t magic = sign;
  RecordKind kind = RecordKind::frame;
  std::uint8_t unused[3] = {};
  std::uint64_t size = 0;      // Of the data.
  std::uint64_t sequence = 0;  // Of frames between two ranks, over all rails.
  std::uint64_t key = 0, offset = 0;
  FrameHead head = {};
};
static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) == 96);

// Anything may come from outside. Null: it is a record; else what is wrong with it.
const char* fault_of(const Record& record, std::size_t largest_frame);

}  // namespace weft::wire
