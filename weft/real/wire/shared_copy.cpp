// SPDX-License-Identifier: Apache-2.0
// The part of SharedMemoryRail that copies together with the peer.
#include <algorithm>
#include <cstring>
#include <optional>

#include <sys/uio.h>

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

bool read_from(int process, std::byte* to, std::uint64_t from, std::size_t size) {
  std::size_t got = 0;
  while (got < size) {
    const iovec here{to + got, size - got};
    const iovec there{reinterpret_cast<void*>(from + got), size - got};
    const ssize_t count = ::process_vm_readv(process, &here, 1, &there, 1, 0);
    if (count <= 0) return false;
    got += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

bool SharedMemoryRail::begin_copy(Payload payload, RemoteMemory target, const FrameHead& notice,
                                  std::uint64_t cookie) {
  if (!pending_.empty()) return false;
  const Stretch there =
      find_shared(theirs_->head().regions, target.key, target.offset, payload.size);
  // A process that claims a stretch must copy it: ask for permission first.
  if (there.data == nullptr || !may_read(reinterpret_cast<std::uint64_t>(there.data))) return false;
  CopySlot* const slots = theirs_->inlet(setting_.own_place).copies;
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
  while (const auto begin = stretches.claim()) {
    const std::size_t size = stretches.size_at(*begin);
    if (!copy_across({payload.data + *begin, size}, there.data + *begin)) break;
    stretches.copied(size);
  }
  outward_.push_back({copy, cookie});
  return true;
}

void SharedMemoryRail::end_copies() {
  std::erase_if(outward_, [&](const Outward& outward) {
    CopySlot& slot = theirs_->inlet(setting_.own_place).copies[outward.copy.slot];
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
    const bool may = read_from(setting_.segment.process, &probe, address, 1);
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
      const std::size_t size = stretches.size_at(*begin);
      if (!read_from(setting_.segment.process, target.data + *begin, copy.source + *begin, size)) {
        broken_ = true;  // Its process is gone.
        return false;
      }
      stretches.copied(size);
    }
  }
  incoming_.push_back(inward);
  return end_incoming(out);
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
