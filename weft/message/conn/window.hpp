// SPDX-License-Identifier: Apache-2.0
// Relayed frames from end to end. The source numbers the pieces and keeps what it sent until the
// target has acknowledged it; the target drops what comes twice. So a relay may be lost with all
// that it held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <weft/message/conn/head.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/message/conn/packet.hpp>

namespace weft::conn {

// What goes to one target.
class SendWindow {
 public:
  struct Message {
    FrameHead inner = {};
    Payload data;
    std::unique_ptr<std::byte[]> own;  // The data, if the caller did not promise to keep it.
    bool is_write = false, urgent = false;
    Control control = Control::none;
    RemoteMemory place;
    std::uint64_t cookie = 0;
    std::uint32_t first = 0, chunks = 1;
  };

  void add(Message&& message, std::size_t chunk);
  bool empty() const { return messages_.empty(); }
  // There is something to send, and the window has room for it.
  bool can_send(const Options& options) const;
  std::size_t next_size(std::size_t chunk) const;
  // The next piece; `head` gets what is known here.
  Packet send(std::size_t chunk, Head& head);
  // The target has all before this one; the messages that are through.
  std::vector<Message> acknowledged(std::uint32_t number, std::size_t chunk);
  // Everything that is not acknowledged goes again; how many pieces.
  std::uint32_t repeat();

 private:
  static std::size_t size_of(const Message& message, std::uint32_t number, std::size_t chunk);

  std::deque<Message> messages_;
  std::size_t cursor_ = 0;  // The message with the next piece.
  std::uint32_t made_ = 0, sent_ = 0, acked_ = 0;
  std::size_t under_way_ = 0;
};

// What comes from one source.
class ReceiveWindow {
 public:
  // false: it has come before.
  bool accept(std::uint32_t number);
  std::uint32_t next() const { return next_; }

  // A frame or write that came in several pieces, by the number of its first.
  struct Partial {
    std::size_t missing = 0;
    std::unique_ptr<std::byte[]> data;
    bool dropped = false;
  };
  std::map<std::uint32_t, Partial> partial;

  // Controls are heard in the order of sending, after all chunks that were sent before them.
  void hold(std::uint32_t number, Control control) { controls_.push_back({number, control}); }
  std::optional<Control> next_control();

  std::uint32_t owed_frames = 0;  // Not acknowledged yet.
  std::size_t owed_bytes = 0;
  bool ack_due = false;

 private:
  struct Held {
    std::uint32_t number;
    Control control;
  };
  std::uint32_t next_ = 0;
  std::unordered_set<std::uint32_t> early_;
  std::vector<Held> controls_;
};

}  // namespace weft::conn
