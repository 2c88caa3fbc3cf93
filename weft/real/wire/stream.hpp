// SPDX-License-Identifier: Apache-2.0
// One connection on one rail, after the handshake: records out, records in. What was sent is kept
// until the peer's kernel has acknowledged it, so that nothing is lost with the rail: what a kernel
// has acknowledged its process will read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <sys/uio.h>

#include <weft/base/units.hpp>
#include <weft/real/wire/record.hpp>
#include <weft/real/wire/regions.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

// A record to be sent.
struct Outgoing {
  Record record;
  const std::byte* data = nullptr;
  std::unique_ptr<std::byte[]> owned;  // The data, if it is ours.
  std::uint64_t cookie = 0;            // 0: nobody asks.
  std::size_t begun = 0;               // Of a write: what has left as pieces of its own.
  std::uint64_t end = 0;               // Where it ends in the stream, once it has left.
};

// A record that has come. Data of writes is already where it belongs.
struct Incoming {
  Record record;
  const std::byte* lent = nullptr;  // Valid until the stream is read again.
  std::unique_ptr<std::byte[]> owned;
  bool kept = true;  // false: a write for memory that is no longer open.
};

class Stream {
 public:
  static constexpr std::size_t first_room = std::size_t{64} << 10;  // Until the rate is known.

  struct Facts {
    std::uint64_t name = 0;  // As in the claim that opened it.
    bool ours = false;       // We connected.
    std::size_t largest_frame = 0;
    int node = -1;  // Of memory near the card.
  };
  Stream(Descriptor socket, const Facts& facts);

  const Facts& facts() const { return facts_; }
  const Descriptor& socket() const { return socket_; }

  // Frames go before writes, and between the pieces of one: who waits for a word should not wait
  // for all the data that goes the same way.
  void push(Outgoing&& outgoing);
  // How much of it may lie in the kernel before it is sent, and the length of a piece.
  void set_room(std::size_t bytes);
  // Forgets a write of which nothing has left, or all; `region` is then the memory where it may
  // arrive nevertheless. false: it is in between, or unknown.
  bool take_back(std::uint64_t cookie, std::uint64_t& region);
  // Gives the socket what it takes; false: the connection is broken.
  bool pump_out();
  bool has_unsent() const { return unsent_ > 0 || !frames_.empty() || !writes_.empty(); }
  bool owes() const;  // Something else than a farewell has not been acknowledged.
  bool has_unacknowledged() const { return !flight_.empty(); }
  // Forgets what has been acknowledged; the cookies of those who asked are added to `done`.
  void settle(std::vector<std::uint64_t>& done, Time now);
  // When something was last acknowledged, or was first sent after a pause.
  Time progress() const { return progress_; }
  // All that may not have arrived, oldest first.
  std::vector<Outgoing> give_up();

  enum class Got : std::uint8_t { nothing, record, closed, broken };
  Got next(Incoming& in, const Regions& regions);
  const char* fault() const { return fault_; }  // What was broken.

  void drop() { reset(socket_); }
  void close() { socket_.close(); }  // In order: the kernel sends what is left.

 private:
  enum class Filled : std::uint8_t { some, none, closed };
  bool begin_record();
  std::size_t gather(iovec* pieces);
  void note_written(std::size_t bytes);
  Got read_record(Incoming& in, const Regions& regions);
  void expect_rest();
  bool ends_write(Incoming& in);
  Filled fill();
  Filled receive(std::byte* to, std::size_t most, std::size_t& count);
  Got read_head();
  Got read_whole(Incoming& in);
  Got read_large(Incoming& in);
  Got read_write(Incoming& in, const Regions& regions);
  std::size_t buffered() const { return end_ - begin_; }
  static Got as_got(Filled filled) { return filled == Filled::closed ? Got::closed : Got::nothing; }

  Descriptor socket_;
  Facts facts_;
  std::deque<Outgoing> frames_, writes_;  // Not begun, but for pieces of the first write.
  std::deque<Outgoing> flight_;           // Begun.
  std::size_t unsent_ = 0;                // So many of them, the last, are not all in the kernel:
  std::size_t partial_sent_ = 0;          // of the first of these, so much is.
  bool begun_ = false;  // After a pause, since the last look at what was acknowledged.
  std::size_t room_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t acknowledged_ = 0;
  Time progress_;

  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool drained_ = false;  // The kernel had less than it was asked for.
  bool in_record_ = false;
  Record record_;
  std::size_t got_ = 0;      // Of the record's data.
  std::size_t awaited_ = 1;  // Bytes that wake us.
  struct {
    bool open = false, kept = true;
    Record record;          // What comes next in it.
    std::size_t total = 0;  // What has come.
  } write_;
  std::unique_ptr<std::byte[]> large_;
  const char* fault_ = nullptr;
};

}  // namespace weft::wire
