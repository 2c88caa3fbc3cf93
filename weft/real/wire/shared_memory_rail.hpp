// SPDX-License-Identifier: Apache-2.0
// A shared-memory rail: a peer in the same host. Small messages go through a ring; large ones are
// copied from process to process by the kernel where that is allowed, else through the ring in
// pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/rail_kinds.hpp>
#include <weft/real/wire/segment.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

inline constexpr std::size_t head_size = sizeof(FrameHead);

// Where the segment of another process is found.
struct SegmentAddress {
  int process = 0;
  int memory = -1, bell = -1;  // Descriptors there.
};

class SharedMemoryRail final : public Rail {
 public:
  struct Setting {
    RankId peer;
    SegmentAddress segment;
    std::uint32_t own_place = 0;    // The number of our ring there,
    std::uint32_t their_place = 0;  // and of theirs here.
    std::uint32_t places = 0;       // All rings of a segment.
    bool single_copy = true;
    bool keep_bell = true;  // false: descriptors are scarce.
    // Our rank, if the two did not start together: then the places above mean nothing.
    std::optional<std::uint32_t> guest = std::nullopt;
  };
  // `inlet`: the peer's, in our segment.
  SharedMemoryRail(const Setting& setting, Inlet& inlet, KindHost& host);

  RankId peer() const { return setting_.peer; }
  // Opens the peer's segment. The first frame does so as well.
  Status reach();
  bool lost() const { return !up(); }
  bool left() const { return left_; }
  void set_lost() {
    if (up()) follow(RailEvent::broken);
  }

  std::string name() const override { return {}; }
  RailCost cost() const override { return {Rate::gbyte_per_s(8), Duration::zero()}; }
  void open(Time) override {}  // The first frame opens the peer's segment.
  void send(const Frame& frame) override;
  bool write(const RemoteWrite& write) override;
  bool poll(Completion& out, Arrival&) override { return next(out); }
  bool next(Completion& out);
  // Whether next() has something to look at. Never changes anything.
  bool waiting() const { return in_.ready() || !incoming_.empty(); }
  bool unread() const { return in_.ready(); }  // A record that has not been taken.
  bool broken() const { return broken_; }
  // Puts into the ring what did not fit before, and reports what has been sent.
  void flush();
  bool pending() const { return !pending_.empty() || !outward_.empty(); }
  void say_goodbye();

  int process() const { return setting_.segment.process; }
  Descriptor watcher;  // Readable when the process has ended.
  // Of a peer that did not start together with this process: its inlet in our segment.
  std::unique_ptr<GuestInlet> guest_inlet;

 private:
  enum class Kind : std::uint8_t {
    frame = 1,  // Head, or its first words if the rest is 0 (flags: its bytes), data.
    first,      // Head, size of all data as 8 bytes, first data: more follow.
    more,       // Data.
    written,    // Notice, size as 8 bytes: the data is there already.
    piece,      // Key, offset, data of a write (flags 1: that the system did not copy),
    last,       // Key, offset, size of the whole write, notice, data: its last piece.
    goodbye,
    copy,     // SharedCopy, notice: both copy.
    stretch,  // Slot, number, offset in the copy, data: a part of it that went through the ring.
    resend,   // Slot, number, offset in the copy, size: send this part through the ring.
    refused,  // Address: what you sent is for memory of ours that is not writable.
  };
  struct Outward {
    SharedCopy copy;
    std::uint64_t cookie = 0;
  };
  struct Inward {
    SharedCopy copy;
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
    SharedCopy copy;         // Of a stretch,
    std::uint64_t from = 0;  // and where it begins there.
    bool doubted = false;    // The system has not written to this memory.
  };
  bool reach_or_lose();
  void keep(const Frame& frame);
  void report_sent(std::uint64_t cookie);
  bool put_frame(const FrameHead& head, const std::byte* data, std::size_t size);
  bool put_written(const FrameHead& notice, std::size_t size);
  bool put_some(Pending& pending);
  bool put_piece(Pending& pending);
  bool put_words(const Pending& pending);
  bool copy_across(Payload payload, std::byte* to);
  bool take(RingWord head, const std::byte* data, Completion& out);
  // shared_copy.cpp
  bool begin_copy(Payload payload, RemoteMemory target, const FrameHead& notice,
                  std::uint64_t cookie);
  void end_copies();
  bool take_copy(const std::byte* data, Completion& out);
  bool end_incoming(Completion& out);
  bool may_read(std::uint64_t address);
  void send_stretch(const SharedCopy& copy, std::uint64_t from, std::uint64_t size);
  void ask_for_stretch(const SharedCopy& copy, std::uint64_t from, std::uint64_t size);
  void take_stretch(const std::byte* data, std::size_t size);
  void answer_resend(const std::byte* data);
  bool read_stretch(const SharedCopy& copy, std::byte* to, std::uint64_t from);
  // For memory that may not be writable. false: it is not, and both sides know.
  bool store(std::byte* to, const std::byte* from, std::size_t size);
  void refuse(const std::byte* memory);
  void hear_refusal(std::uint64_t address);
  bool take_stage(Kind kind, RingWord head, const std::byte* data, Completion& out);
  bool take_part(Kind kind, RingWord head, const std::byte* data, Completion& out);

  Setting setting_;
  KindHost& host_;
  RingReader in_;
  Inlet& inlet_;
  Inlet* outlet_ = nullptr;  // Ours, in the peer's segment.
  RingWriter out_;
  std::unique_ptr<Segment> theirs_;
  std::deque<Pending> pending_;
  std::uint64_t copies_[copy_slots] = {};  // Begun, by slot.
  std::vector<Outward> outward_;
  std::deque<Inward> incoming_;  // Not yet complete.
  enum class Access : std::uint8_t { unknown, granted, denied };
  Access access_ = Access::unknown;  // To its memory.
  bool left_ = false;                // The peer has ended in order.
  bool broken_ = false;              // What it wrote makes no sense.
  // A frame in several pieces.
  std::unique_ptr<std::byte[]> whole_;
  std::size_t whole_size_ = 0, whole_got_ = 0;
  FrameHead whole_head_ = {};
};

}  // namespace weft::wire
