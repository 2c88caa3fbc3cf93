// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include <sys/socket.h>

#include <weft/base/check.hpp>
#include <weft/real/locality/apply.hpp>
#include <weft/real/wire/stream.hpp>

namespace weft::wire {

namespace {
constexpr std::size_t buffer_size = std::size_t{64} << 10;
constexpr std::size_t large = 4096;   // Frames from this size on are acknowledged at once.
constexpr std::size_t together = 16;  // The most records in one call of the kernel.
}  // namespace

Stream::Stream(Descriptor socket, const Facts& facts) : socket_(std::move(socket)), facts_(facts) {
  buffer_.reserve(buffer_size);
  locality::prefer_node(buffer_.data(), buffer_size, facts.node);  // Before it is touched.
  buffer_.resize(buffer_size);
  set_room(first_room);
}

void Stream::protect(const SessionKeys& keys, Cipher cipher) {
  protection_ = std::make_unique<Protection>(keys, cipher);
}

void Stream::set_room(std::size_t bytes) {
  if (bytes == room_) return;
  room_ = bytes;
  hold_at_most(socket_, bytes);
}

void Stream::push(Outgoing&& outgoing) {
  const bool write = outgoing.record.kind == RecordKind::write;
  (write ? writes_ : frames_).push_back(std::move(outgoing));
}

bool Stream::take_back(std::uint64_t cookie, std::uint64_t& region) {
  const auto found = std::find_if(writes_.begin(), writes_.end(),
                                  [&](const Outgoing& o) { return o.cookie == cookie; });
  if (found != writes_.end()) {
    if (found->begun > 0) return false;
    writes_.erase(found);
    return true;
  }
  // All of it is in the kernel, which has its own copy.
  for (Outgoing& gone : flight_) {
    if (gone.cookie != cookie || gone.end == 0) continue;
    gone.cookie = 0;
    region = gone.record.key;
    return true;
  }
  return false;
}

// Puts the next record, or the next piece of a write, into flight; false: there is none.
bool Stream::begin_record() {
  if (frames_.empty() && writes_.empty()) return false;
  if (flight_.empty()) begun_ = true;
  ++unsent_;
  if (!frames_.empty()) {
    flight_.push_back(std::move(frames_.front()));
    frames_.pop_front();
    return true;
  }
  Outgoing& write = writes_.front();
  const std::size_t rest = write.record.size - write.begun;
  if (rest > room_) {
    Outgoing piece;
    piece.record = write.record;
    piece.record.goes_on = 1;
    piece.record.size = room_;
    if (write.begun > 0) piece.record.kind = RecordKind::more;
    piece.data = write.data + write.begun;
    write.begun += room_;
    flight_.push_back(std::move(piece));
    return true;
  }
  // The last piece has the cookie: it is acknowledged after all others.
  write.record.size = rest;
  write.data += write.begun;
  if (write.begun > 0) write.record.kind = RecordKind::more;
  flight_.push_back(std::move(write));
  writes_.pop_front();
  return true;
}

// Waiting frames go together: every call costs time and may make a packet of its own. false: there
// is nothing to send.
bool Stream::begin_records() {
  while (unsent_ < together && (unsent_ == 0 || !frames_.empty())) {
    if (!begin_record()) return false;
  }
  return true;
}

bool Stream::pump_out() {
  if (protection_ != nullptr) return pump_out_sealed();
  while (begin_records()) {
    iovec pieces[2 * together];
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = gather(pieces);
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
    }
    note_written(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Stream::pump_out_sealed() {
  for (;;) {
    const Protection::Sent sent = protection_->send(socket_.get());
    if (sent != Protection::Sent::all) return sent == Protection::Sent::blocked;
    if (!begin_records()) return true;
    while (unsent_ > 0 && protection_->has_room()) {
      iovec pieces[2 * together];
      const std::size_t count = gather(pieces);
      note_written(protection_->seal(std::span(pieces, count)));
    }
  }
}

std::size_t Stream::gather(iovec* pieces) {
  std::size_t count = 0, gone = partial_sent_;
  for (std::size_t i = flight_.size() - unsent_; i < flight_.size(); ++i, gone = 0) {
    Outgoing& out = flight_[i];
    const std::size_t head = length_of(out.record.kind);
    if (gone < head) {
      pieces[count++] = {reinterpret_cast<std::byte*>(&out.record) + gone, head - gone};
    }
    const std::size_t of_data = gone - std::min(gone, head);
    if (of_data < out.record.size) {
      pieces[count++] = {const_cast<std::byte*>(out.data) + of_data, out.record.size - of_data};
    }
  }
  return count;
}

void Stream::note_written(std::size_t bytes) {
  partial_sent_ += bytes;
  while (unsent_ > 0) {
    Outgoing& out = flight_[flight_.size() - unsent_];
    const std::size_t total = length_of(out.record.kind) + out.record.size;
    if (partial_sent_ < total) break;
    partial_sent_ -= total;
    --unsent_;
    written_ += total;
    // A chunk is opened as a whole: what is in it has arrived when all of it has.
    out.end = protection_ != nullptr ? protection_->sealed() : written_;
  }
}

bool Stream::owes() const {
  if (!writes_.empty()) return true;
  const auto matters = [](const Outgoing& o) { return o.record.kind != RecordKind::goodbye; };
  return std::any_of(flight_.begin(), flight_.end(), matters) ||
         std::any_of(frames_.begin(), frames_.end(), matters);
}

void Stream::settle(std::vector<std::uint64_t>& done, Time now) {
  if (flight_.empty()) {
    progress_ = now;
    return;
  }
  const std::uint64_t written =
      protection_ != nullptr ? protection_->given() : written_ + partial_sent_;
  const std::uint64_t acknowledged =
      written - std::min<std::uint64_t>(written, unacknowledged(socket_));
  if (acknowledged != acknowledged_ || std::exchange(begun_, false)) progress_ = now;
  acknowledged_ = acknowledged;
  while (!flight_.empty() && flight_.front().end != 0 && flight_.front().end <= acknowledged) {
    if (flight_.front().cookie != 0) done.push_back(flight_.front().cookie);
    settled_ = flight_.front().end;
    flight_.pop_front();
  }
}

std::vector<Outgoing> Stream::give_up() {
  std::vector<Outgoing> all;
  for (std::deque<Outgoing>* const from : {&flight_, &frames_, &writes_}) {
    for (Outgoing& outgoing : *from) all.push_back(std::move(outgoing));
    from->clear();
  }
  unsent_ = partial_sent_ = 0;
  return all;
}

Stream::Filled Stream::receive(std::byte* to, std::size_t most, std::size_t& count) {
  if (protection_ != nullptr) {
    const Protection::Got got = protection_->receive(socket_.get(), {to, most}, count);
    if (got == Protection::Got::changed) {
      fault_ = "it was changed on its way";
      changed_ = true;
    }
    return got == Protection::Got::some   ? Filled::some
           : got == Protection::Got::none ? Filled::none
                                          : Filled::closed;
  }
  if (std::exchange(drained_, false)) return Filled::none;
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), to, most, MSG_DONTWAIT);
    if (got > 0) {
      count = static_cast<std::size_t>(got);
      drained_ = count < most;
      return Filled::some;
    }
    if (got < 0 && errno == EINTR) continue;
    const bool later = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    return later ? Filled::none : Filled::closed;
  }
}

Stream::Filled Stream::fill() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
    end_ -= begin_;
    begin_ = 0;
  }
  std::size_t count = 0;
  const Filled filled = receive(buffer_.data() + end_, buffer_.size() - end_, count);
  end_ += count;
  return filled;
}

Stream::Got Stream::read_head() {
  for (;;) {
    if (buffered() >= short_record) {
      std::memcpy(static_cast<void*>(&record_), buffer_.data() + begin_, short_record);
      if (buffered() >= length_of(record_.kind)) break;
    }
    if (const Filled filled = fill(); filled != Filled::some) return as_got(filled);
  }
  const std::size_t length = length_of(record_.kind);
  std::memcpy(static_cast<void*>(&record_), buffer_.data() + begin_, length);
  begin_ += length;
  if (record_.kind == RecordKind::more && write_.open) {
    write_.record.magic = record_.magic;
    write_.record.goes_on = record_.goes_on;
    write_.record.size = record_.size;
    record_ = write_.record;
  } else if (record_.kind == RecordKind::write && write_.open) {
    fault_ = "a write in the middle of another";
    return Got::broken;
  }
  fault_ = fault_of(record_, facts_.largest_frame);
  if (fault_ != nullptr) return Got::broken;
  in_record_ = true;
  got_ = 0;
  return Got::record;
}

Stream::Got Stream::next(Incoming& in, const Regions& regions) {
  const Got got = read_record(in, regions);
  if (got == Got::nothing) expect_rest();
  return got;
}

std::vector<Incoming> Stream::read_rest(const Regions& regions) {
  std::vector<Incoming> rest;
  drained_ = false;
  if (protection_ != nullptr) protection_->look_again();
  while (fault_ == nullptr) {
    Incoming in;
    if (read_record(in, regions) != Got::record) break;
    if (!counts_as_delivered(in.record.kind)) continue;
    if (in.lent != nullptr) {
      in.owned = std::make_unique_for_overwrite<std::byte[]>(in.record.size);
      std::memcpy(in.owned.get(), in.lent, in.record.size);
      in.lent = nullptr;
    }
    rest.push_back(std::move(in));
  }
  return rest;
}

void LateRecords::add(std::vector<Incoming>&& rest) {
  for (Incoming& in : rest) records_.push_back(std::move(in));
}

Incoming LateRecords::take(const Regions& regions) {
  Incoming in = std::move(records_.front());
  records_.pop_front();
  // The same write may have come another way since; then its memory is closed.
  if (in.record.kind == RecordKind::write) {
    in.kept = in.kept && regions.find(in.record.key, 0, 0).data != nullptr;
  }
  return in;
}

// In the middle of a long record not every packet should wake us; near its end, and between
// records, everything should.
void Stream::expect_rest() {
  constexpr std::size_t enough = std::size_t{16} << 10, few = std::size_t{4} << 10;
  std::size_t rest = 0;
  if (in_record_) rest = record_.size - got_ - buffered();
  if (protection_ != nullptr) rest -= std::min(rest, protection_->held());
  const std::size_t wish = rest < few ? 1 : std::min(rest, enough);
  if (wish == awaited_) return;
  awaited_ = wish;
  wake_from(socket_, wish);
}

Stream::Got Stream::read_record(Incoming& in, const Regions& regions) {
  for (;;) {
    if (!in_record_) {
      if (const Got got = read_head(); got != Got::record) return got;
    }
    Got got = Got::record;
    if (record_.kind == RecordKind::write) {
      got = read_write(in, regions);
    } else if (record_.size <= buffer_.size()) {
      got = read_whole(in);
    } else {
      got = read_large(in);
    }
    if (got != Got::record) return got;
    in_record_ = false;
    if (record_.kind == RecordKind::write && !ends_write(in)) continue;
    // The sender waits for the acknowledgement or measures with it, and the kernel would delay the
    // last one by tens of milliseconds.
    if (record_.kind == RecordKind::write || record_.size >= large) acknowledge(socket_);
    in.record = record_;
    return Got::record;
  }
}

// A piece has arrived. true: it was the last, and the record now describes the whole write.
bool Stream::ends_write(Incoming& in) {
  write_.kept = (write_.kept || !write_.open) && in.kept;
  write_.total = (write_.open ? write_.total : 0) + record_.size;
  write_.open = record_.goes_on != 0;
  if (write_.open) {
    write_.record = record_;
    write_.record.offset += record_.size;
    return false;
  }
  in.kept = write_.kept;
  record_.offset -= write_.total - record_.size;
  record_.size = write_.total;
  return true;
}

Stream::Got Stream::read_whole(Incoming& in) {
  while (buffered() < record_.size) {
    // Room for all of it in one piece.
    if (begin_ > 0 && begin_ + record_.size > buffer_.size()) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
      end_ -= begin_;
      begin_ = 0;
    }
    if (const Filled filled = fill(); filled != Filled::some) return as_got(filled);
  }
  in.lent = record_.size > 0 ? buffer_.data() + begin_ : nullptr;
  begin_ += record_.size;
  return Got::record;
}

Stream::Got Stream::read_large(Incoming& in) {
  if (large_ == nullptr) large_ = std::make_unique_for_overwrite<std::byte[]>(record_.size);
  while (got_ < record_.size) {
    std::size_t count = std::min(buffered(), static_cast<std::size_t>(record_.size) - got_);
    if (count > 0) {
      std::memcpy(large_.get() + got_, buffer_.data() + begin_, count);
      begin_ += count;
    } else {
      const Filled filled = receive(large_.get() + got_, record_.size - got_, count);
      if (filled != Filled::some) return as_got(filled);
    }
    got_ += count;
  }
  in.owned = std::move(large_);
  return Got::record;
}

// Receives into the program's memory as long as that is open. It may be closed in the middle, when
// the same data has arrived over another rail.
Stream::Got Stream::read_write(Incoming& in, const Regions& regions) {
  const Stretch target = regions.find(record_.key, record_.offset, record_.size);
  in.kept = target.data != nullptr;
  while (got_ < record_.size) {
    std::size_t count = std::min(buffered(), static_cast<std::size_t>(record_.size) - got_);
    if (count > 0) {
      if (in.kept) std::memcpy(target.data + got_, buffer_.data() + begin_, count);
      begin_ += count;
    } else if (in.kept) {
      const Filled filled = receive(target.data + got_, record_.size - got_, count);
      if (filled != Filled::some) return as_got(filled);
    } else {
      if (const Filled filled = fill(); filled != Filled::some) return as_got(filled);
      continue;
    }
    got_ += count;
  }
  return Got::record;
}

}  // namespace weft::wire
