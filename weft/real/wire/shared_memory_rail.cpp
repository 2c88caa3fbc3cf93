// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/uio.h>

#include <weft/base/copy.hpp>
#include <weft/real/wire/shared_memory_rail.hpp>

namespace weft::wire {

namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t largest_plain = RingWriter::largest - head_size;
constexpr std::size_t piece_size = std::size_t{32} << 10;

void put(std::byte*& at, const void* data, std::size_t size) {
  copy_bytes(at, data, size);
  at += size;
}
void put(std::byte*& at, std::uint64_t value) {
  put(at, &value, word);
}
// The head of a small message ends with zeros. Without them, head and message fit into one cache
// line. There are two sizes only, because copies of constant size are the fastest.
constexpr std::size_t short_head = 3 * word;

bool is_short(const FrameHead& head) {
  std::uint64_t rest = 0;
  for (std::size_t i = short_head; i < head_size; i += word) {
    std::uint64_t next = 0;
    std::memcpy(&next, head.data() + i, word);
    rest |= next;
  }
  return rest == 0;
}
std::uint64_t take_word(const std::byte*& at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, word);
  at += word;
  return value;
}

}  // namespace

SharedMemoryRail::SharedMemoryRail(const Setting& setting, Inlet& inlet, KindHost& host)
    : setting_(setting), host_(host), in_(inlet.ring), inlet_(inlet) {
  follow(RailEvent::ready);
}

Status SharedMemoryRail::reach() {
  if (theirs_ != nullptr) return {};
  const SegmentAddress& address = setting_.segment;
  auto segment = Segment::open({.process = address.process,
                                .memory = address.memory,
                                .bell = address.bell,
                                .rings = setting_.places,
                                .keep_bell = setting_.keep_bell,
                                .guest = setting_.guest});
  if (!segment) return std::move(segment).error();
  theirs_ = *std::move(segment);
  outlet_ = setting_.guest ? &theirs_->guest_inlet() : &theirs_->inlet(setting_.own_place);
  out_ = RingWriter(outlet_->ring);
  return {};
}

bool SharedMemoryRail::put_frame(const FrameHead& head, const std::byte* data, std::size_t size) {
  const std::size_t front = is_short(head) ? short_head : head_size;
  std::byte* const at = out_.reserve(front + size);
  if (at == nullptr) return false;
  if (front == short_head) {
    std::memcpy(at, head.data(), short_head);
  } else {
    std::memcpy(at, head.data(), head_size);
  }
  copy_bytes(at + front, data, size);
  out_.publish({static_cast<std::uint32_t>(front + size), static_cast<std::uint8_t>(Kind::frame),
                static_cast<std::uint8_t>(front)});
  theirs_->wake();
  return true;
}

bool SharedMemoryRail::put_written(const FrameHead& notice, std::size_t size) {
  std::byte* at = out_.reserve(head_size + word);
  if (at == nullptr) return false;
  put(at, notice.data(), head_size);
  put(at, size);
  out_.publish({head_size + word, static_cast<std::uint8_t>(Kind::written)});
  theirs_->wake();
  return true;
}

bool SharedMemoryRail::reach_or_lose() {
  const Status reached = reach();
  if (!reached) host_.lose(setting_.peer, reached.error().text());
  return bool(reached);
}

void SharedMemoryRail::report_sent(std::uint64_t cookie) {
  Completion sent;
  sent.kind = Completion::Kind::sent;
  sent.peer = setting_.peer;
  sent.cookie = cookie;
  host_.tell(std::move(sent));
}

// The data is copied in any case, so it counts as sent at once.
void SharedMemoryRail::send(const Frame& frame) {
  if (theirs_ != nullptr || reach_or_lose()) {
    const Payload& payload = frame.payload;
    if (!pending_.empty() || payload.size > largest_plain ||
        !put_frame(frame.head, payload.data, payload.size)) {
      keep(frame);
    }
  }
  if (frame.cookie != 0) report_sent(frame.cookie);
}

void SharedMemoryRail::keep(const Frame& frame) {
  const Payload& payload = frame.payload;
  Pending pending;
  pending.head = frame.head;
  pending.size = payload.size;
  pending.kind = payload.size <= largest_plain ? Kind::frame : Kind::first;
  if (payload.size > 0) {
    pending.owned = std::make_unique_for_overwrite<std::byte[]>(payload.size);
    if (payload.data != nullptr) std::memcpy(pending.owned.get(), payload.data, payload.size);
    pending.data = pending.owned.get();
  }
  pending_.push_back(std::move(pending));
}

// By the kernel, from our memory into theirs.
bool SharedMemoryRail::copy_across(Payload payload, std::byte* to) {
  std::size_t done = 0;
  while (done < payload.size) {
    const iovec from{const_cast<std::byte*>(payload.data) + done, payload.size - done};
    const iovec into{to + done, payload.size - done};
    const ssize_t count = ::process_vm_writev(setting_.segment.process, &from, 1, &into, 1, 0);
    if (count <= 0) {
      if (count < 0 && errno == EINTR) continue;
      // Forbidden, now and later; or the process has just ended. Or it is about this memory alone.
      if (count < 0 && errno != EFAULT) setting_.single_copy = false;
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool SharedMemoryRail::write(const RemoteWrite& write) {
  const auto& [payload, target, notice, cookie, revoked] = write;
  if (theirs_ == nullptr && !reach_or_lose()) {
    report_sent(cookie);
    return true;
  }
  Pending pending;
  pending.head = notice;
  pending.size = payload.size;
  if (setting_.single_copy) {
    const Stretch there =
        find_shared(theirs_->head().regions, target.key, target.offset, payload.size);
    if (there.data != nullptr && payload.size >= shared_copy_min &&
        begin_copy(payload, target, notice, cookie)) {
      return true;
    }
    if (there.data != nullptr && copy_across(payload, there.data)) {
      report_sent(cookie);
      if (pending_.empty() && put_written(notice, payload.size)) return true;
      pending.kind = Kind::written;
      pending_.push_back(std::move(pending));
      return true;
    }
    pending.doubted = there.data != nullptr && setting_.single_copy;
  }
  pending.kind = Kind::piece;
  pending.data = payload.data;
  pending.target = target;
  pending.cookie = cookie;
  pending_.push_back(std::move(pending));
  return true;
}

// true: all of it is in the ring.
bool SharedMemoryRail::put_some(Pending& pending) {
  switch (pending.kind) {
    case Kind::frame:
      return put_frame(pending.head, pending.data, pending.size);
    case Kind::written:
      return put_written(pending.head, pending.size);
    case Kind::resend:
    case Kind::refused:
      return put_words(pending);
    case Kind::goodbye: {
      if (out_.reserve(0) == nullptr) return false;
      out_.publish({0, static_cast<std::uint8_t>(Kind::goodbye)});
      theirs_->wake();
      return true;
    }
    default:
      break;
  }
  while (pending.gone < pending.size) {
    if (!put_piece(pending)) return false;
  }
  return true;
}

bool SharedMemoryRail::put_piece(Pending& pending) {
  const std::size_t size = std::min(piece_size, pending.size - pending.gone);
  const bool last = pending.gone + size == pending.size;
  Kind kind = pending.kind;
  std::size_t front = 0;
  if (kind == Kind::first) {
    kind = pending.gone == 0 ? Kind::first : Kind::more;
    front = kind == Kind::first ? head_size + word : 0;
  } else if (kind == Kind::stretch) {
    front = 3 * word;
  } else {
    kind = last ? Kind::last : Kind::piece;
    front = last ? 3 * word + head_size : 2 * word;
  }
  std::byte* at = out_.reserve(front + size);
  if (at == nullptr) return false;
  if (kind == Kind::first) {
    put(at, pending.head.data(), head_size);
    put(at, pending.size);
  } else if (kind == Kind::stretch) {
    put(at, pending.copy.slot);
    put(at, pending.copy.number);
    put(at, pending.from + pending.gone);
  } else if (kind != Kind::more) {
    put(at, pending.target.key);
    put(at, pending.target.offset + pending.gone);
    if (last) {
      put(at, pending.size);
      put(at, pending.head.data(), head_size);
    }
  }
  put(at, pending.data + pending.gone, size);
  out_.publish({static_cast<std::uint32_t>(front + size), static_cast<std::uint8_t>(kind),
                static_cast<std::uint8_t>(pending.doubted ? 1 : 0)});
  theirs_->wake();
  pending.gone += size;
  return true;
}

// Records that are nothing but a few words.
bool SharedMemoryRail::put_words(const Pending& pending) {
  std::byte* at = out_.reserve(4 * word);
  if (at == nullptr) return false;
  put(at, pending.copy.slot);
  put(at, pending.copy.number);
  put(at, pending.from);
  put(at, pending.size);
  out_.publish({4 * word, static_cast<std::uint8_t>(pending.kind)});
  theirs_->wake();
  return true;
}

void SharedMemoryRail::flush() {
  end_copies();
  while (!pending_.empty()) {
    if (up() && !put_some(pending_.front())) return;
    if (pending_.front().cookie != 0) report_sent(pending_.front().cookie);
    pending_.pop_front();
  }
}

void SharedMemoryRail::say_goodbye() {
  if (theirs_ == nullptr && !reach()) return;
  Pending pending;
  pending.kind = Kind::goodbye;
  pending_.push_back(std::move(pending));
  flush();
}

bool SharedMemoryRail::next(Completion& out) {
  if (!incoming_.empty() && end_incoming(out)) return true;
  in_.release();
  for (;;) {
    RingWord head;
    const std::byte* data = nullptr;
    switch (in_.take(head, data)) {
      case RingReader::State::none:
        return false;
      case RingReader::State::broken:
        broken_ = true;
        return false;
      case RingReader::State::record:
        break;
    }
    if (take(head, data, out)) return true;
    if (broken_) return false;
    in_.release();
  }
}

// true: `out` is for the message layer, and may point into the ring.
bool SharedMemoryRail::take(RingWord head, const std::byte* data, Completion& out) {
  const auto kind = static_cast<Kind>(head.kind);
  out.peer = setting_.peer;
  out.rail = RailId(0);
  out.data.reset();
  out.lent = nullptr;
  const std::size_t front = head.flags;
  if (kind == Kind::frame && head.size >= front && (front == short_head || front == head_size)) {
    out.kind = Completion::Kind::frame;
    if (front == short_head) {
      std::memcpy(out.head.data(), data, short_head);
      std::memset(out.head.data() + short_head, 0, head_size - short_head);
    } else {
      std::memcpy(out.head.data(), data, head_size);
    }
    out.size = head.size - front;
    out.lent = data + front;
    return true;
  }
  if (kind == Kind::goodbye) {
    left_ = true;
    return false;
  }
  return take_part(kind, head, data, out);
}

// Of a frame that is longer than the ring: its first bytes, or more of them.
bool SharedMemoryRail::take_stage(Kind kind, RingWord head, const std::byte* data,
                                  Completion& out) {
  const std::byte* at = data;
  if (kind == Kind::first && head.size >= head_size + word) {
    std::memcpy(whole_head_.data(), at, head_size);
    at += head_size;
    whole_size_ = take_word(at);
    whole_got_ = 0;
    if (whole_size_ <= (std::size_t{1} << 30)) {
      whole_ = std::make_unique_for_overwrite<std::byte[]>(whole_size_);
    }
  } else if (kind == Kind::first) {
    broken_ = true;
  }
  const std::size_t rest = head.size - static_cast<std::size_t>(at - data);
  broken_ = broken_ || whole_ == nullptr || rest > whole_size_ - whole_got_;
  if (broken_) return false;
  std::memcpy(whole_.get() + whole_got_, at, rest);
  whole_got_ += rest;
  if (whole_got_ < whole_size_) return false;
  out.kind = Completion::Kind::frame;
  out.head = whole_head_;
  out.size = whole_size_;
  out.data = std::move(whole_);
  return true;
}

bool SharedMemoryRail::take_part(Kind kind, RingWord head, const std::byte* data, Completion& out) {
  const std::byte* at = data;
  const auto front = [&](std::size_t size) {
    broken_ = broken_ || head.size < size;
    return !broken_;
  };
  const auto rest = [&] { return head.size - static_cast<std::size_t>(at - data); };
  if (kind == Kind::written && front(head_size + word)) {
    out.kind = Completion::Kind::written;
    std::memcpy(out.head.data(), at, head_size);
    at += head_size;
    out.size = take_word(at);
    return true;
  }
  if (kind == Kind::first || kind == Kind::more) return take_stage(kind, head, data, out);
  if (kind == Kind::copy && front(sizeof(SharedCopy) + head_size)) return take_copy(at, out);
  if (kind == Kind::stretch && front(3 * word)) {
    take_stretch(at, head.size);
    return false;
  }
  if (kind == Kind::resend && front(4 * word)) {
    answer_resend(at);
    return false;
  }
  if (kind == Kind::refused && front(4 * word)) {
    at += 2 * word;
    hear_refusal(take_word(at));
    return false;
  }
  const bool last = kind == Kind::last;
  if ((kind != Kind::piece && !last) || !front(last ? 3 * word + head_size : 2 * word)) {
    broken_ = true;
    return false;
  }
  const std::uint64_t key = take_word(at), offset = take_word(at);
  if (last) {
    out.size = take_word(at);
    out.kind = Completion::Kind::written;
    std::memcpy(out.head.data(), at, head_size);
    at += head_size;
  }
  const Stretch target = host_.regions().find(key, offset, rest());
  if (target.data == nullptr) return false;
  if (head.flags != 0) return store(target.data, at, rest()) && last;
  std::memcpy(target.data, at, rest());
  return last;
}

}  // namespace weft::wire
