// SPDX-License-Identifier: Apache-2.0
// Neighbours that copy together.
#include <algorithm>
#include <cstring>
#include <optional>

#include <sys/uio.h>

#include <weft/real/wire/neighbour.hpp>

namespace weft::wire {

namespace {

struct Stretches {
  const Haul& haul;
  HaulSlot& slot;

  // The next one to copy; nothing: all are taken.
  std::optional<std::uint64_t> claim() {
    const std::uint64_t at = slot.claimed.fetch_add(1, std::memory_order_relaxed) * haul.stretch();
    if (at >= haul.size) return std::nullopt;
    return at;
  }
  std::size_t size_at(std::uint64_t at) const { return std::min(haul.stretch(), haul.size - at); }
  void copied(std::size_t size) { slot.copied.fetch_add(size, std::memory_order_acq_rel); }
  bool done() const { return slot.copied.load(std::memory_order_acquire) == haul.size; }
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

bool Neighbour::begin_haul(Payload payload, RemoteMemory target, const FrameHead& notice,
                           std::uint64_t cookie) {
  if (!pending_.empty()) return false;
  const Stretch there =
      find_shared(theirs_->head().regions, target.key, target.offset, payload.size);
  // What has been claimed must be copied: whether we may is known before.
  if (there.data == nullptr || !may_read(reinterpret_cast<std::uint64_t>(there.data))) return false;
  HaulSlot* const slots = theirs_->inlet(setting_.own_place).hauls;
  std::size_t chosen = 0;
  while (chosen < haul_slots &&
         slots[chosen].finished.load(std::memory_order_acquire) != hauls_[chosen]) {
    ++chosen;
  }
  if (chosen == haul_slots) return false;
  const Haul haul{hauls_[chosen] + 1, chosen,     reinterpret_cast<std::uint64_t>(payload.data),
                  payload.size,       target.key, target.offset};
  std::byte* const at = out_.reserve(sizeof haul + head_size);
  if (at == nullptr) return false;
  ++hauls_[chosen];
  slots[chosen].claimed.store(0, std::memory_order_relaxed);
  slots[chosen].copied.store(0, std::memory_order_relaxed);
  std::memcpy(at, &haul, sizeof haul);
  std::memcpy(at + sizeof haul, notice.data(), head_size);
  out_.publish({sizeof haul + head_size, static_cast<std::uint8_t>(Kind::haul)});
  theirs_->wake();
  Stretches stretches{haul, slots[chosen]};
  while (const auto begin = stretches.claim()) {
    const std::size_t size = stretches.size_at(*begin);
    if (!copy_across({payload.data + *begin, size}, there.data + *begin)) break;
    stretches.copied(size);
  }
  outward_.push_back({haul, cookie});
  return true;
}

void Neighbour::end_hauls(std::vector<std::uint64_t>& done) {
  std::erase_if(outward_, [&](const Outward& outward) {
    HaulSlot& slot = theirs_->inlet(setting_.own_place).hauls[outward.haul.slot];
    // Once the receiver has seen the end, the slot may serve another haul already.
    const bool over = lost_ || Stretches{outward.haul, slot}.done() ||
                      slot.finished.load(std::memory_order_acquire) >= outward.haul.number;
    if (over && outward.cookie != 0) done.push_back(outward.cookie);
    return over;
  });
}

// The kernel asks the same for reading and writing. Asked once: where it is forbidden to one side,
// the other does it all.
bool Neighbour::may_read(std::uint64_t address) {
  if (access_ == Access::unknown) {
    std::byte probe{};
    const bool may = read_from(setting_.card.process, &probe, address, 1);
    access_ = may ? Access::granted : Access::denied;
  }
  return access_ == Access::granted;
}

bool Neighbour::take_haul(const std::byte* data, Completion& out) {
  Inward inward;
  std::memcpy(&inward.haul, data, sizeof inward.haul);
  std::memcpy(inward.notice.data(), data + sizeof inward.haul, head_size);
  const Haul& haul = inward.haul;
  const Stretch target = regions_.find(haul.key, haul.offset, haul.size);
  if (haul.slot >= haul_slots || target.data == nullptr) {
    broken_ = true;
    return false;
  }
  Stretches stretches{haul, inlet_.hauls[haul.slot]};
  if (setting_.single_copy && may_read(haul.source)) {
    while (const auto begin = stretches.claim()) {
      const std::size_t size = stretches.size_at(*begin);
      if (!read_from(setting_.card.process, target.data + *begin, haul.source + *begin, size)) {
        broken_ = true;  // Its process is gone.
        return false;
      }
      stretches.copied(size);
    }
  }
  incoming_.push_back(inward);
  return end_incoming(out);
}

bool Neighbour::end_incoming(Completion& out) {
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it) {
    HaulSlot& slot = inlet_.hauls[it->haul.slot];
    if (!Stretches{it->haul, slot}.done()) continue;
    out.kind = Completion::Kind::written;
    out.peer = setting_.peer;
    out.rail = RailId(0);
    out.size = it->haul.size;
    out.head = it->notice;
    out.lent = nullptr;
    out.data.reset();
    slot.finished.store(it->haul.number, std::memory_order_release);
    incoming_.erase(it);
    return true;
  }
  return false;
}

}  // namespace weft::wire
