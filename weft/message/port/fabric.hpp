// SPDX-License-Identifier: Apache-2.0
// The only door between a message layer and a network. A rank has one Fabric: a few facts, and one
// interface for each role that a network plays. A layer between the two replaces the roles that it
// changes and hands on the others.
#pragma once

#include <cstdint>

#include <weft/message/port/connections.hpp>
#include <weft/message/port/frame.hpp>
#include <weft/message/port/observer.hpp>
#include <weft/message/port/processor.hpp>
#include <weft/message/port/rails.hpp>
#include <weft/message/port/rank.hpp>
#include <weft/message/port/transport.hpp>

namespace weft {

// Cheap to copy; the roles must outlive all copies.
struct Fabric {
  RankId self;
  // Those that started together, from `first` on. There may be others, which came later or earlier.
  std::uint32_t ranks = 0;
  std::uint32_t first = 0;
  bool ordered = true;       // Frames between two ranks arrive in the order they were posted.
  bool carries_data = true;  // false: of the program's data only the size travels.
  Transport& transport;
  Connections& connections;
  Rails& rails;
  Processor& processor;
  MessageObserver* observer = nullptr;  // Null: messages are not observed.

  bool started_together(RankId rank) const { return rank.index - first < ranks; }
  // Layers that change the order of frames do so only between ranks that started together.
  bool keeps_order(RankId peer) const { return ordered || !started_together(peer); }
};

// The rank that this thread executes now; null outside of any. Set by the code that switches ranks.
class Current {
 public:
  // The process-wide rank is asked first: it is found without a thread-local lookup.
  static const Fabric* fabric() {
    return everywhere_fabric_ != nullptr ? everywhere_fabric_ : fabric_;
  }
  static void set(const Fabric* fabric, void* layer) {
    fabric_ = fabric;
    layer_ = layer;
  }
  // For a process that is one rank, whichever of its threads calls.
  static void set_everywhere(const Fabric* fabric, void* layer) {
    set(nullptr, nullptr);
    everywhere_fabric_ = fabric;
    everywhere_layer_ = layer;
  }
  // What stands on the fabric for this rank (the state of an MPI library).
  static void* layer() { return everywhere_layer_ != nullptr ? everywhere_layer_ : layer_; }

 private:
  static const Fabric* everywhere_fabric_;
  static void* everywhere_layer_;
  static thread_local const Fabric* fabric_;
  static thread_local void* layer_;
};

}  // namespace weft
