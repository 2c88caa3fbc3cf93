// SPDX-License-Identifier: Apache-2.0
// A peer in the same host, over shared memory. Small things go through a ring; large ones are
// copied from process to process by the kernel where it allows that, else through the ring too,
// piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/segment.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

inline constexpr std::size_t head_size = sizeof(FrameHead);

// Where a neighbour's memory is found.
struct NeighbourCard {
  int process = 0;
  int memory = -1, bell = -1;  // Descriptors there.
};

class Neighbour {
 public:
  struct Setting {
    RankId peer;
    NeighbourCard card;
    std::uint32_t own_place = 0;    // Of ours among the rings there,
    std::uint32_t their_place = 0;  // and of theirs here.
    std::uint32_t places = 0;
    bool single_copy = true;
    bool keep_bell = true;  // false: descriptors are scarce.
  };
  Neighbour(const Setting& setting, Segment& own, const Regions& regions);

  RankId peer() const { return setting_.peer; }
  // Opens its memory; done by itself when it is needed.
  Status reach();
  bool lost() const { return lost_; }
  bool left() const { return left_; }
  void set_lost() { lost_ = true; }

  // An error: the neighbour's memory cannot be reached.
  Status post(const FrameHead& head, Payload payload);
  // true: done at once. false: `sent` comes from flush().
  Result<bool> write(Payload payload, RemoteMemory target, const FrameHead& notice,
                     std::uint64_t cookie);
  bool next(Completion& out);
  // Whether next() has something to look at. Never changes anything.
  bool waiting() const { return in_.ready() || !incoming_.empty(); }
  bool unread() const { return in_.ready(); }  // Something that was sent before, not begun.
  bool broken() const { return broken_; }
  // Puts into the ring what did not fit before; cookies that are through are added.
  void flush(std::vector<std::uint64_t>& done);
  bool pending() const { return !pending_.empty() || !outward_.empty(); }
  void say_goodbye();

  int process() const { return setting_.card.process; }
  Descriptor watcher;  // Readable when the process has ended.

 private:
  enum class Kind : std::uint8_t {
    frame = 1,  // Head, or its first words if the rest is 0 (flags: its bytes), data.
    first,      // Head, size of all data as 8 bytes, first data: more follow.
    more,       // Data.
    written,    // Notice, size as 8 bytes: the data is there already.
    piece,      // Key, offset, data of a write,
    last,       // Key, offset, size of the whole write, notice, data: its last piece.
    goodbye,
    haul,  // Haul, notice: both copy.
  };
  struct Outward {
    Haul haul;
    std::uint64_t cookie = 0;
  };
  struct Inward {
    Haul haul;
    FrameHead notice;
  };
  struct Pending {
    FrameHead head = {};
    std::unique_ptr<std::byte[]> owned;
    const std::byte* data = nullptr;
    std::size_t size = 0, gone = 0;
    Kind kind = Kind::frame;
    RemoteMemory target;
    std::uint64_t cookie = 0;
  };
  bool put_frame(const FrameHead& head, const std::byte* data, std::size_t size);
  bool put_written(const FrameHead& notice, std::size_t size);
  bool put_some(Pending& pending);
  bool put_piece(Pending& pending);
  bool copy_across(Payload payload, std::byte* to);
  bool take(RingWord head, const std::byte* data, Completion& out);
  // haul.cpp
  bool begin_haul(Payload payload, RemoteMemory target, const FrameHead& notice,
                  std::uint64_t cookie);
  void end_hauls(std::vector<std::uint64_t>& done);
  bool take_haul(const std::byte* data, Completion& out);
  bool end_incoming(Completion& out);
  bool may_read(std::uint64_t address);
  bool take_part(Kind kind, RingWord head, const std::byte* data, Completion& out);

  Setting setting_;
  const Regions& regions_;
  RingReader in_;
  Inlet& inlet_;
  RingWriter out_;
  std::unique_ptr<Segment> theirs_;
  std::deque<Pending> pending_;
  std::uint64_t hauls_[haul_slots] = {};  // Begun, by slot.
  std::vector<Outward> outward_;
  std::deque<Inward> incoming_;  // Not yet copied wholly.
  enum class Access : std::uint8_t { unknown, granted, denied };
  Access access_ = Access::unknown;  // To its memory.
  bool lost_ = false, left_ = false, broken_ = false;
  // A frame in several pieces.
  std::unique_ptr<std::byte[]> whole_;
  std::size_t whole_size_ = 0, whole_got_ = 0;
  FrameHead whole_head_ = {};
};

}  // namespace weft::wire
