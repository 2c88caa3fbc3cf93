// SPDX-License-Identifier: Apache-2.0
#include <weft/message/mp/cut_messages.hpp>

namespace weft::mp {

namespace {

constexpr std::uint64_t part_bit = std::uint64_t{1} << 63;

std::uint32_t index_of(std::uint64_t cookie) {
  return static_cast<std::uint32_t>(cookie & 0xffffffffu);
}

}  // namespace

std::uint16_t CutMessages::begin(const Message& message, std::size_t size) {
  return give(message, 0, size);
}

std::uint16_t CutMessages::give(const Message& message, std::size_t offset, std::size_t size) {
  if (choice_.takes_one(message.peer, message.tuning)) {
    give(message, offset, {choice_.for_control(message.peer), 0, size});
    return 1;
  }
  const std::vector<RailPart> cut = choice_.cut(message.peer, size, message.tuning);
  for (const RailPart& piece : cut) give(message, offset, piece);
  return static_cast<std::uint16_t>(cut.size());
}

void CutMessages::give(const Message& message, std::size_t offset, const RailPart& piece) {
  const Duration gap = message.tuning == nullptr ? Duration::zero() : message.tuning->gap;
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint32_t index = unused_.back();
  unused_.pop_back();
  Part& part = parts_[index];
  const std::size_t at = offset + piece.offset;
  part = {message, at, piece.size, true, false, part.generation};
  Header notice = message.notice;
  notice.key = at;
  const std::byte* const data = message.data == nullptr ? nullptr : message.data + at;
  const std::uint64_t cookie = part_bit | (std::uint64_t{part.generation} << 32) | index;
  transport_.write({message.peer, piece.rail, gap}, {data, piece.size}, {message.key, at},
                   encode(notice), cookie);
}

std::uint64_t CutMessages::delivered(std::uint64_t cookie) {
  const Part* const part = find(cookie);
  if (part == nullptr) return 0;
  const std::uint64_t id = part->message.id;
  free(index_of(cookie));
  return id;
}

// While no rail is up it waits: the network would return it at once, again and again.
CutMessages::Returned CutMessages::returned(std::uint64_t cookie) {
  Part* const part = find(cookie);
  if (part == nullptr) return {};
  const Message message = part->message;
  if (!any_up(message.peer)) {
    part->waits = true;
    return {message.id, 0};
  }
  const std::size_t offset = part->offset, size = part->size;
  free(index_of(cookie));
  return {message.id, static_cast<std::uint16_t>(give(message, offset, size) - 1)};
}

std::vector<CutMessages::Returned> CutMessages::rail_up(RankId peer) {
  std::vector<Returned> gone;
  const auto count = static_cast<std::uint32_t>(parts_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!parts_[i].waits || parts_[i].message.peer != peer) continue;
    gone.push_back(returned(part_bit | (std::uint64_t{parts_[i].generation} << 32) | i));
  }
  return gone;
}

void CutMessages::forget(RankId peer) {
  for (std::uint32_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].open && parts_[i].message.peer == peer) free(i);
}

CutMessages::Part* CutMessages::find(std::uint64_t cookie) {
  const std::uint32_t index = index_of(cookie);
  if (index >= parts_.size()) return nullptr;
  Part& part = parts_[index];
  return part.open && part.generation == ((cookie & ~part_bit) >> 32) ? &part : nullptr;
}

void CutMessages::free(std::uint32_t index) {
  Part& part = parts_[index];
  part.open = part.waits = false;
  part.generation = (part.generation + 1) & 0x7fffffffu;
  unused_.push_back(index);
}

bool CutMessages::any_up(RankId peer) const {
  const auto count = static_cast<std::uint32_t>(rails_.rail_count(peer));
  for (std::uint32_t i = 0; i < count; ++i)
    if (rails_.rail_facts(peer, RailId(i)).up) return true;
  return false;
}

}  // namespace weft::mp
