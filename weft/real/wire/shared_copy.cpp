// SPDX-License-Identifier: Apache-2.0
// The part of SharedMemoryRail that copies together with the peer.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

#include <weft/real/wire/shared_memory_rail.hpp>

namespace weft::wire {

namespace {

struct Stretches {
  const SharedCopy& copy;
  CopySlot& slot;

  // The next one to copy; none: all are taken.
  std::optional<std::uint64_t> claim() {
    const std::uint64_t at = slot.claimed.fetch_add(1, std::memory_order_relaxed) * copy.stretch();
    if (at >= copy.size) return std::nullopt;
    return at;
  }
  std::size_t size_at(std::uint64_t at) const { return std::min(copy.stretch(), copy.size - at); }
  void copied(std::size_t size) { slot.copied.fetch_add(size, std::memory_order_acq_rel); }
  bool done() const { return slot.copied.load(std::memory_order_acquire) == copy.size; }
};

// 0, or why it failed.
int read_from(int process, std::byte* to, std::uint64_t from, std::size_t size) {
  std::size_t got = 0;
  while (got < size) {
    const iovec here{to + got, size - got};
    const iovec there{reinterpret_cast<void*>(from + got), size - got};
    const ssize_t count = ::process_vm_readv(process, &here, 1, &there, 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? EFAULT : errno;
    got += static_cast<std::size_t>(count);
  }
  return 0;
}

// Into our own memory, which may not be writable: where a plain copy would end the process, the
// system says so.
bool write_here(std::byte* to, const std::byte* from, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const iovec here{const_cast<std::byte*>(from) + done, size - done};
    const iovec there{to + done, size - done};
    const ssize_t count = ::process_vm_writev(::getpid(), &here, 1, &there, 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EFAULT) {  // The call is forbidden.
      std::memcpy(to + done, from + done, size - done);
      return true;
    }
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool is_writable(std::byte* data, std::size_t size) {
  const std::vector<std::byte> zeros(size);
  return write_here(data, zeros.data(), size);  // It will be written to in any case.
}

std::string refusal(const std::string& what, const std::byte* memory) {
  std::ostringstream text;
  text << what << static_cast<const void*>(memory) << " is not writable";
  return text.str();
}

struct StretchWords {
  std::uint64_t slot = 0, number = 0, from = 0;
};
StretchWords read_words(const std::byte* data) {
  StretchWords words;
  std::memcpy(&words, data, sizeof words);
  return words;
}

}  // namespace

bool SharedMemoryRail::begin_copy(Payload payload, RemoteMemory target, const FrameHead& notice,
                                  std::uint64_t cookie) {
  if (!pending_.empty()) return false;
  const Stretch there =
      find_shared(theirs_->head().regions, target.key, target.offset, payload.size);
  // A process that claims a stretch must copy it: ask for permission first.
  if (there.data == nullptr || !may_read(reinterpret_cast<std::uint64_t>(there.data))) return false;
  CopySlot* const slots = outlet_->copies;
  std::size_t chosen = 0;
  while (chosen < copy_slots &&
         slots[chosen].finished.load(std::memory_order_acquire) != copies_[chosen]) {
    ++chosen;
  }
  if (chosen == copy_slots) return false;
  const SharedCopy copy{
      copies_[chosen] + 1, chosen,     reinterpret_cast<std::uint64_t>(payload.data),
      payload.size,        target.key, target.offset};
  std::byte* const at = out_.reserve(sizeof copy + head_size);
  if (at == nullptr) return false;
  ++copies_[chosen];
  slots[chosen].claimed.store(0, std::memory_order_relaxed);
  slots[chosen].copied.store(0, std::memory_order_relaxed);
  std::memcpy(at, &copy, sizeof copy);
  std::memcpy(at + sizeof copy, notice.data(), head_size);
  out_.publish({sizeof copy + head_size, static_cast<std::uint8_t>(Kind::copy)});
  theirs_->wake();
  Stretches stretches{copy, slots[chosen]};
  outward_.push_back({copy, cookie});
  while (const auto begin = stretches.claim()) {
    const std::size_t size = stretches.size_at(*begin);
    if (copy_across({payload.data + *begin, size}, there.data + *begin)) {
      stretches.copied(size);
    } else {
      send_stretch(copy, *begin, size);
    }
  }
  return true;
}

void SharedMemoryRail::end_copies() {
  std::erase_if(outward_, [&](const Outward& outward) {
    CopySlot& slot = outlet_->copies[outward.copy.slot];
    // Once the receiver has seen the end, the slot may serve another copy already.
    const bool over = lost() || Stretches{outward.copy, slot}.done() ||
                      slot.finished.load(std::memory_order_acquire) >= outward.copy.number;
    if (over && outward.cookie != 0) report_sent(outward.cookie);
    return over;
  });
}

// The kernel checks reading and writing alike. Where one side is refused, the other copies all.
bool SharedMemoryRail::may_read(std::uint64_t address) {
  if (access_ == Access::unknown) {
    std::byte probe{};
    const bool may = read_from(setting_.segment.process, &probe, address, 1) == 0;
    access_ = may ? Access::granted : Access::denied;
  }
  return access_ == Access::granted;
}

bool SharedMemoryRail::take_copy(const std::byte* data, Completion& out) {
  Inward inward;
  std::memcpy(&inward.copy, data, sizeof inward.copy);
  std::memcpy(inward.notice.data(), data + sizeof inward.copy, head_size);
  const SharedCopy& copy = inward.copy;
  const Stretch target = host_.regions().find(copy.key, copy.offset, copy.size);
  if (copy.slot >= copy_slots || target.data == nullptr) {
    broken_ = true;
    return false;
  }
  Stretches stretches{copy, inlet_.copies[copy.slot]};
  if (setting_.single_copy && may_read(copy.source)) {
    while (const auto begin = stretches.claim()) {
      if (!read_stretch(copy, target.data + *begin, *begin)) return false;
    }
  }
  incoming_.push_back(inward);
  return end_incoming(out);
}

// Copies a stretch that we have claimed. false: the copy has failed, and both sides know it.
bool SharedMemoryRail::read_stretch(const SharedCopy& copy, std::byte* to, std::uint64_t from) {
  Stretches stretches{copy, inlet_.copies[copy.slot]};
  const std::size_t size = stretches.size_at(from);
  switch (read_from(setting_.segment.process, to, copy.source + from, size)) {
    case 0:
      stretches.copied(size);
      return true;
    case ESRCH:
      broken_ = true;  // Its process is gone.
      return false;
    default:
      break;
  }
  if (!is_writable(to, size)) {
    refuse(to);
    return false;
  }
  ask_for_stretch(copy, from, size);
  return true;
}

// The system does not copy it: it goes through the ring.
void SharedMemoryRail::send_stretch(const SharedCopy& copy, std::uint64_t from,
                                    std::uint64_t size) {
  Pending pending;
  pending.kind = Kind::stretch;
  pending.copy = copy;
  pending.from = from;
  pending.size = size;
  pending.data = reinterpret_cast<const std::byte*>(copy.source + from);
  pending_.push_back(std::move(pending));
}

void SharedMemoryRail::ask_for_stretch(const SharedCopy& copy, std::uint64_t from,
                                       std::uint64_t size) {
  if (theirs_ == nullptr && !reach_or_lose()) return;
  Pending pending;
  pending.kind = Kind::resend;
  pending.copy = copy;
  pending.from = from;
  pending.size = size;
  pending_.push_back(std::move(pending));
}

void SharedMemoryRail::answer_resend(const std::byte* data) {
  const StretchWords asked = read_words(data);
  std::uint64_t size = 0;
  std::memcpy(&size, data + sizeof asked, sizeof size);
  for (const Outward& outward : outward_) {
    const SharedCopy& copy = outward.copy;
    if (copy.slot != asked.slot || copy.number != asked.number) continue;
    if (asked.from > copy.size || size > copy.size - asked.from) continue;
    send_stretch(copy, asked.from, size);
  }
}

void SharedMemoryRail::take_stretch(const std::byte* data, std::size_t size) {
  const StretchWords sent = read_words(data);
  size -= sizeof sent;
  for (const Inward& inward : incoming_) {
    const SharedCopy copy = inward.copy;
    if (copy.slot != sent.slot || copy.number != sent.number) continue;
    if (sent.from > copy.size || size > copy.size - sent.from) break;
    const Stretch target = host_.regions().find(copy.key, copy.offset + sent.from, size);
    if (target.data == nullptr) break;
    if (store(target.data, data + sizeof sent, size)) {
      Stretches{copy, inlet_.copies[copy.slot]}.copied(size);
    }
    return;
  }
}

bool SharedMemoryRail::store(std::byte* to, const std::byte* from, std::size_t size) {
  if (write_here(to, from, size)) return true;
  refuse(to);
  return false;
}

// The message cannot be received, and those that follow would come out of order: the two ranks are
// lost to each other. Our rail stays open for the word about it.
void SharedMemoryRail::refuse(const std::byte* memory) {
  incoming_.clear();
  if (theirs_ == nullptr && !reach_or_lose()) return;
  Pending pending;
  pending.kind = Kind::refused;
  pending.from = reinterpret_cast<std::uint64_t>(memory);
  pending_.push_back(std::move(pending));
  flush();
  host_.lose(setting_.peer, refusal("its message cannot be received, memory at ", memory));
}

void SharedMemoryRail::hear_refusal(std::uint64_t address) {
  set_lost();
  outward_.clear();
  host_.lose(setting_.peer, refusal("it cannot receive a message, its memory at ",
                                    reinterpret_cast<const std::byte*>(address)));
}

bool SharedMemoryRail::end_incoming(Completion& out) {
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it) {
    CopySlot& slot = inlet_.copies[it->copy.slot];
    if (!Stretches{it->copy, slot}.done()) continue;
    out.kind = Completion::Kind::written;
    out.peer = setting_.peer;
    out.rail = RailId(0);
    out.size = it->copy.size;
    out.head = it->notice;
    out.lent = nullptr;
    out.data.reset();
    slot.finished.store(it->copy.number, std::memory_order_release);
    incoming_.erase(it);
    return true;
  }
  return false;
}

}  // namespace weft::wire
