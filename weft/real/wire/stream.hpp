// SPDX-License-Identifier: Apache-2.0
// A TCP connection after the handshake: it sends and receives records. Sent records are kept until
// the peer's kernel has acknowledged them, so that nothing is lost when the connection breaks: what
// a kernel has acknowledged, its process will read, even if it gives the connection up (read_rest).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <sys/uio.h>

#include <weft/base/units.hpp>
#include <weft/real/wire/protection.hpp>
#include <weft/real/wire/record.hpp>
#include <weft/real/wire/regions.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

class Stream {
 public:
  static constexpr std::size_t first_room = std::size_t{64} << 10;  // Until the rate is known.

  struct Facts {
    std::uint64_t name = 0;  // As in the claim that opened it.
    bool ours = false;       // We connected.
    std::size_t largest_frame = 0;
    int node = -1;  // NUMA node near the card.
  };
  Stream(Descriptor socket, const Facts& facts);
  // Encrypts and authenticates everything. Before anything is sent or received.
  void protect(const SessionKeys& keys, Cipher cipher);

  const Facts& facts() const { return facts_; }
  const Descriptor& socket() const { return socket_; }

  // Frames overtake writes, and go between the pieces of one: a short message should not wait for
  // all the data on the same connection.
  void push(Outgoing&& outgoing);
  // The most unsent data in the kernel, which is also the length of a piece of a write.
  void set_room(std::size_t bytes);
  // Forgets a write of which nothing has left, or all; `region` is then the memory where it may
  // arrive nevertheless. false: it is in between, or unknown.
  bool take_back(std::uint64_t cookie, std::uint64_t& region);
  // Gives the socket what it takes; false: the connection is broken.
  bool pump_out();
  bool has_unsent() const {
    return unsent_ > 0 || !frames_.empty() || !writes_.empty() ||
           (protection_ != nullptr && protection_->has_unsent());
  }
  bool owes() const;  // Anything but a goodbye is unacknowledged.
  bool has_unacknowledged() const { return !flight_.empty(); }
  // Forgets what has been acknowledged, and adds its cookies to `done`.
  void settle(std::vector<std::uint64_t>& done, Time now);
  // When something was last acknowledged, or was first sent after a pause.
  Time progress() const { return progress_; }
  // All that may not have arrived, oldest first.
  std::vector<Outgoing> give_up();

  enum class Got : std::uint8_t { nothing, record, closed, broken };
  Got next(Incoming& in, const Regions& regions);
  // What came and has not been read, with data of its own. The peer takes it for delivered, and
  // will not send it again: to be read before the connection is dropped.
  std::vector<Incoming> read_rest(const Regions& regions);
  const char* fault() const { return fault_; }  // Why next() returned `broken`.
  // What the peer sent was changed on its way. Our kernel may have acknowledged it: it is lost.
  bool changed() const { return changed_; }
  // Of a protected stream, in bytes of the wire: up to where the peer's kernel has acknowledged it,
  // and up to where we have read it.
  std::uint64_t settled() const { return protection_ != nullptr ? settled_ : 0; }
  std::uint64_t opened() const { return protection_ != nullptr ? protection_->opened() : 0; }

  void drop() { reset(socket_); }
  void close() { socket_.close(); }  // Orderly: the kernel sends what it still has.

 private:
  enum class Filled : std::uint8_t { some, none, closed };
  bool begin_records();
  bool begin_record();
  bool pump_out_sealed();
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
  std::deque<Outgoing> frames_, writes_;  // Waiting; pieces of the first write may have left.
  std::deque<Outgoing> flight_;           // Given to the kernel, wholly or in part.
  std::size_t unsent_ = 0;                // Records at the end of it that the kernel lacks in part;
  std::size_t partial_sent_ = 0;          // bytes that it has of the first of these.
  bool begun_ = false;                    // Sending began again since the last settle().
  std::size_t room_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t acknowledged_ = 0, settled_ = 0;
  Time progress_;

  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool drained_ = false;  // The last recv returned less than it could: there is no more.
  bool in_record_ = false;
  Record record_;
  std::size_t got_ = 0;      // Bytes of the record's data.
  std::size_t awaited_ = 1;  // Bytes that make the socket readable.
  struct {
    bool open = false, kept = true;
    Record record;          // Its next piece.
    std::size_t total = 0;  // Bytes received.
  } write_;
  std::unique_ptr<std::byte[]> large_;
  const char* fault_ = nullptr;
  std::unique_ptr<Protection> protection_;  // Null: plain bytes.
  bool changed_ = false;
};

// What came over connections that have been given up since, until it is asked for.
class LateRecords {
 public:
  void add(std::vector<Incoming>&& rest);
  bool empty() const { return records_.empty(); }
  // The next one; there is one.
  Incoming take(const Regions& regions);

 private:
  std::deque<Incoming> records_;
};

}  // namespace weft::wire
