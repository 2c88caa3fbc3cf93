// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>

#include <weft/base/check.hpp>
#include <weft/locality/apply.hpp>
#include <weft/wire/stream.hpp>

namespace weft::wire {

namespace {
constexpr std::size_t buffer_size = std::size_t{64} << 10;
}

Stream::Stream(Descriptor socket, const Facts& facts) : socket_(std::move(socket)), facts_(facts) {
  buffer_.reserve(buffer_size);
  locality::prefer_node(buffer_.data(), buffer_size, facts.node);  // Before it is touched.
  buffer_.resize(buffer_size);
}

void Stream::push(Outgoing&& outgoing) {
  const bool write = outgoing.record.kind == RecordKind::write;
  (write ? writes_ : frames_).push_back(std::move(outgoing));
}

bool Stream::take_back(std::uint64_t cookie, std::uint64_t& region) {
  const auto found = std::find_if(writes_.begin(), writes_.end(),
                                  [&](const Outgoing& o) { return o.cookie == cookie; });
  if (found != writes_.end()) {
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

bool Stream::pump_out() {
  for (;;) {
    if (!partial_) {
      std::deque<Outgoing>& from = frames_.empty() ? writes_ : frames_;
      if (from.empty()) return true;
      if (flight_.empty()) begun_ = true;
      flight_.push_back(std::move(from.front()));
      from.pop_front();
      partial_ = true;
      partial_sent_ = 0;
    }
    Outgoing& out = flight_.back();
    const std::size_t total = sizeof(Record) + out.record.size;
    iovec pieces[2];
    int count = 0;
    if (partial_sent_ < sizeof(Record)) {
      pieces[count++] = {reinterpret_cast<std::byte*>(&out.record) + partial_sent_,
                         sizeof(Record) - partial_sent_};
    }
    const std::size_t of_data = partial_sent_ - std::min(partial_sent_, sizeof(Record));
    if (of_data < out.record.size) {
      pieces[count++] = {const_cast<std::byte*>(out.data) + of_data, out.record.size - of_data};
    }
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = static_cast<std::size_t>(count);
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
    }
    written_ += static_cast<std::size_t>(sent);
    partial_sent_ += static_cast<std::size_t>(sent);
    if (partial_sent_ < total) continue;
    out.end = written_;
    partial_ = false;
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
  const std::uint64_t acknowledged =
      written_ - std::min<std::uint64_t>(written_, unacknowledged(socket_));
  if (acknowledged != acknowledged_ || std::exchange(begun_, false)) progress_ = now;
  acknowledged_ = acknowledged;
  while (!flight_.empty() && flight_.front().end != 0 && flight_.front().end <= acknowledged) {
    if (flight_.front().cookie != 0) done.push_back(flight_.front().cookie);
    flight_.pop_front();
  }
}

std::vector<Outgoing> Stream::give_up() {
  std::vector<Outgoing> all;
  for (std::deque<Outgoing>* const from : {&flight_, &frames_, &writes_}) {
    for (Outgoing& outgoing : *from) all.push_back(std::move(outgoing));
    from->clear();
  }
  partial_ = false;
  return all;
}

Stream::Filled Stream::receive(std::byte* to, std::size_t most, std::size_t& count) {
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), to, most, MSG_DONTWAIT);
    if (got > 0) {
      count = static_cast<std::size_t>(got);
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
  while (buffered() < sizeof(Record)) {
    if (const Filled filled = fill(); filled != Filled::some) return as_got(filled);
  }
  std::memcpy(&record_, buffer_.data() + begin_, sizeof record_);
  begin_ += sizeof record_;
  fault_ = fault_of(record_, facts_.largest_frame);
  if (fault_ != nullptr) return Got::broken;
  in_record_ = true;
  got_ = 0;
  return Got::record;
}

Stream::Got Stream::next(Incoming& in, const Regions& regions) {
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
  in.record = record_;
  in_record_ = false;
  return Got::record;
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

// Straight into the program's memory, as long as it is open: it may be closed in the middle, when
// the same data has come another way.
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
  // The sender waits for it, and the kernel would keep the last one back for tens of milliseconds.
  acknowledge(socket_);
  return Got::record;
}

}  // namespace weft::wire
