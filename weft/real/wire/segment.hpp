// SPDX-License-Identifier: Apache-2.0
// The memory that a process shows to the others of its host: a ring from each of them, the table of
// regions, and a bell (a pipe) that wakes it. The memory has no name: others map it through our
// open files, which only our own user may, and it vanishes with the last process that has it open.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/base/result.hpp>
#include <weft/real/wire/regions.hpp>
#include <weft/real/wire/ring.hpp>
#include <weft/real/wire/shared_copy.hpp>

namespace weft::wire {

struct SegmentHead {
  static constexpr std::uint64_t sign = 0x3174666577000002;  // Changes with the layout.
  std::uint64_t magic = 0;
  std::uint32_t rings = 0;
  alignas(line_size) std::atomic<std::uint32_t> sleeps{0};  // 1: ring the bell.
  alignas(line_size) RegionTable regions;
};

// What each other process of the host has here.
struct Inlet {
  RingMemory ring;
  CopySlot copies[copy_slots];
};

// An inlet of its own in the address space: of a process that did not start together with the
// segment's owner. They lie behind the inlets of those that did, by number of rank, in a file whose
// unused parts take no memory.
class GuestInlet {
 public:
  // Lets the file grow to where the inlet ends. `rings`: those that the segment began with.
  static Result<std::unique_ptr<GuestInlet>> map(int memory, std::uint32_t rings,
                                                 std::uint32_t rank);
  ~GuestInlet();
  GuestInlet(const GuestInlet&) = delete;
  GuestInlet& operator=(const GuestInlet&) = delete;

  Inlet& inlet() const { return *inlet_; }
  // Gives its memory back to the system: nobody will use it again.
  void empty(int memory) const;

 private:
  GuestInlet() = default;
  void* at_ = nullptr;
  std::size_t size_ = 0, begin_ = 0;  // Of the mapping; of the inlet, in the file.
  Inlet* inlet_ = nullptr;
};

class Segment {
 public:
  // Our own, with a ring for each process of this host.
  static Result<std::unique_ptr<Segment>> make(std::uint32_t rings);
  // Another process's, through its open files. Its bell stays open if descriptors suffice.
  struct Theirs {
    int process = 0, memory = -1, bell = -1;
    std::uint32_t rings = 0;
    bool keep_bell = true;
    std::optional<std::uint32_t> guest = std::nullopt;  // Our rank, if we did not start together.
  };
  static Result<std::unique_ptr<Segment>> open(const Theirs& theirs);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  SegmentHead& head() const { return *head_; }
  Inlet& inlet(std::uint32_t from) const { return inlets_[from]; }
  // Of another process: the inlet that it has for us as a guest. REQUIRES: opened as one.
  Inlet& guest_inlet() const { return guest_->inlet(); }
  // Of our own: for a guest with this rank.
  Result<std::unique_ptr<GuestInlet>> make_guest_inlet(std::uint32_t rank) const {
    return GuestInlet::map(memory_, head_->rings, rank);
  }
  int memory() const { return memory_; }  // Descriptors of our own, for the other processes.
  int bell() const { return bell_; }      // The end that becomes readable when somebody rings.
  int bell_end() const { return bell_end_; }
  // Wakes the owner, if it sleeps. After something was put into one of its rings.
  void wake() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (head_->sleeps.load(std::memory_order_relaxed) != 0) ring_bell();
  }

 private:
  Segment() = default;
  Status map(std::uint32_t rings, bool fresh);
  Status map_as_guest(std::uint32_t rank);
  void ring_bell() const;
  int open_bell() const;

  SegmentHead* head_ = nullptr;
  Inlet* inlets_ = nullptr;
  std::unique_ptr<GuestInlet> guest_;
  std::size_t size_ = 0;
  int memory_ = -1, bell_ = -1, bell_end_ = -1;
  std::string bell_path_;         // Path of a bell that we do not keep open,
  std::uint64_t bell_inode_ = 0;  // and its identity: the path may lead to another process by now.
};

}  // namespace weft::wire
