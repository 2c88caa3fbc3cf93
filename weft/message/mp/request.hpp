// SPDX-License-Identifier: Apache-2.0
// What is asked of the message layer, and the requests that stand for it until it is done.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <weft/message/mp/options.hpp>
#include <weft/message/port/rank.hpp>

namespace weft::mp {

using ContextId = std::uint32_t;  // Messages of different contexts never meet.
inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

struct Sending {
  RankId to;
  ContextId context = 0;
  int source = 0;  // How the receiver knows us: our rank in its communicator.
  int tag = 0;
  const void* data = nullptr;
  std::size_t size = 0;
  bool synchronous = false;  // Done only when the receiver has matched it.
  bool internal = false;  // The library's own: its data travels even where the program's does not.
  const Tuning* tuning = nullptr;  // Null: as the options say.
};

struct Receiving {
  ContextId context = 0;
  int source = any_source;
  std::optional<RankId> from;  // The source, where known: if it is lost, the receive fails.
  int tag = any_tag;
  void* data = nullptr;
  std::size_t size = 0;  // Room.
  bool internal = false;
};

// The envelope of a message that has been matched or probed.
struct Arrival {
  int source = any_source;
  int tag = any_tag;
  std::size_t size = 0;  // As sent; more than the room when truncated.
  bool truncated = false;
  bool cancelled = false;
};

// Part of a message.
struct Stretch {
  std::size_t offset = 0, size = 0;
};

class Covered;

struct Request {
  Request();
  ~Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;

  enum class Kind : std::uint8_t { free, send, receive };
  bool done = false;
  bool failed = false;  // The peer is lost, or the context revoked.
  Kind kind = Kind::free;
  // What is not explained by its caller is for the message layer alone.
  bool matched = false;
  bool released = false;  // The caller has let go; freed when done.
  bool internal : 1 = false;
  bool bound : 1 = false;  // Fails when its peer is lost.
  bool taken : 1 = false;  // A receive of a message that was taken out of matching before.
  std::uint16_t parts_open = 0;
  Arrival arrival;                 // For a receive; a send sets only `cancelled`.
  std::coroutine_handle<> waiter;  // Resumed once, by progress(), after it is done.
  std::uint32_t generation = 0;
  std::uint32_t index = 0;
  ContextId context = 0;
  int source = 0, tag = 0;
  RankId peer;
  std::byte* data = nullptr;
  std::size_t size = 0;
  // Of a receive: bytes of a rendezvous that have not arrived. Of a send: its head start
  // (head_starts.hpp).
  union {
    std::size_t missing = 0;
    std::size_t ahead;
  };
  // Of a receive: counts those that were posted. Of a send: null for the usual.
  union {
    std::uint64_t order = 0;
    const Tuning* tuning;
  };
  std::uint64_t region = 0;
  std::uint64_t sender = 0;          // The sender's request, for a receive by rendezvous.
  std::unique_ptr<Covered> covered;  // Which parts have arrived, if there are several.
  Request *before = nullptr, *after = nullptr;  // In the list of posted receives.
};

}  // namespace weft::mp
