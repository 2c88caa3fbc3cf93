// SPDX-License-Identifier: Apache-2.0
// Messages of the flow model from send() to their last byte, and the order in which cards work on
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/base/pool.hpp>
#include <weft/simulate/flows/routes.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {

inline constexpr std::uint32_t no_message_in_flight = 0xffff'ffff;

// From send() on. Most wait for others of their card for most of the time, and there may be many,
// so this is small; what is on its way has more.
struct alignas(64) MessageInFlight {
  Outgoing what;
  std::int64_t packets = 0;
  std::int64_t born_at = 0;
  std::uint32_t next = no_message_in_flight;  // For the same queue of the card.
  std::uint32_t record = 0;  // On its way: its number among pieces, or among flows (FairShares).
  bool is_piece = false;
  bool begun = false;
};
static_assert(sizeof(MessageInFlight) == 64);

struct PieceOnItsWay {
  Routes::Path path;
  std::uint32_t step = 0;     // Links between routers that it has passed.
  bool uncertain = false;     // It was held back where packets would stand in each other's way.
  std::int64_t tail_lag = 0;  // From its first flit to its last.
  std::int64_t entered_at = 0;
};

struct FlowOnItsWay {
  std::uint32_t message = no_message_in_flight;
  int hops = 0;           // Of the longest of its paths.
  std::int64_t left = 0;  // Of its bytes on the wire, in units of 2^-16 bytes, at `since`.
  std::int64_t since = 0;
  std::int64_t way_ps = 0;  // From the card to the destination, on an idle network.
  std::int64_t entered_at = 0;
  Speed speed = 0;
  bool uncertain = false;  // As for pieces.
};

using MessagesInFlight = Pool<MessageInFlight>;
using PiecesOnTheirWay = Pool<PieceOnItsWay>;

// Messages of a queue leave one after the other. A card has one queue, or one for each destination.
class SendQueues {
 public:
  SendQueues(SendOrder order, MessagesInFlight& messages) : order_(order), messages_(messages) {}

  // True: it is the first of its queue. Otherwise it waits.
  bool post(std::uint32_t id);
  // The first of its queue has left; the one that is first now, if any.
  std::uint32_t finish(std::uint32_t id);

 private:
  std::uint64_t key(const MessageInFlight& message) const {
    const std::uint64_t from = std::uint64_t{message.what.from.index} << 32;
    return order_ == SendOrder::queue ? from : from | message.what.to.index;
  }

  std::size_t home(std::uint64_t queue) const {
    return static_cast<std::size_t>((queue * 0x9e37'79b9'7f4a'7c15u) >> shift_);
  }
  std::size_t after(std::size_t at) const { return (at + 1) & (last_.size() - 1); }
  void erase(std::uint32_t id);
  void grow();

  const SendOrder order_;
  MessagesInFlight& messages_;
  // Of each queue that is not empty the last message, found by a hash of the queue; at least half
  // of the table is free. The message knows its queue, which is not stored again: there may be
  // millions of queues.
  std::vector<std::uint32_t> last_;
  std::size_t count_ = 0;
  int shift_ = 0;  // Of hashes, down to places in the table.
};

}  // namespace weft
