// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/real/wire/ofi_lanes.hpp>

namespace weft::wire {

namespace {

// A write may take long because the peer's program computes: software providers make progress only
// inside calls. So the peer is asked. If it answers several times and still nothing has arrived,
// the rail has failed.
constexpr Duration ask_after = Duration::ms(120);
constexpr Duration ask_every = Duration::ms(30);
constexpr Duration ask_again = Duration::ms(300);
constexpr int answers_enough = 4;

constexpr Duration pause_first = Duration::ms(250);
constexpr Duration pause_most = Duration::ms(5000);

Duration pause_after(int failures) {
  Duration pause = pause_first;
  for (int i = 1; i < failures && pause < pause_most; ++i) pause = pause * 2;
  return std::min(pause, pause_most);
}

std::uint64_t bit(std::size_t lane) {
  return std::uint64_t{1} << lane;
}

// As it stands in a record of keys.
struct KeyEntry {
  std::uint64_t lane = 0, key = 0, base = 0;
};

}  // namespace

OfiLanes::OfiLanes(Ofi& ofi, std::vector<Route> routes, LaneHost& host) : ofi_(ofi), host_(host) {
  WEFT_CHECK(routes.size() <= most);
  for (Route& route : routes) {
    Lane& lane = lanes_.emplace_back();
    lane.card = route.card;
    lane.address = std::move(route.address);
    lane.peer = lane.card->add_peer(lane.address);
    lane.card->add_user(this);
  }
}

OfiLanes::~OfiLanes() {
  for (const Lane& lane : lanes_) lane.card->remove_user(this);
  while (!shared_.empty()) {
    ofi_.forget_shared(shared_.begin()->first);
    unshare(shared_.begin()->first);
  }
}

bool OfiLanes::any_up() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.up; });
}

bool OfiLanes::busy() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.pending > 0; });
}

OfiLanes::Remote* OfiLanes::remote(std::uint64_t region) {
  const auto found = remotes_.find(static_cast<std::uint32_t>(region));
  return found != remotes_.end() && found->second.region == region ? &found->second : nullptr;
}

bool OfiLanes::write(std::size_t index, Payload payload, RemoteMemory target,
                     const FrameHead& notice, std::uint64_t cookie) {
  Lane& lane = lanes_[index];
  const Remote* const there = remote(target.key);
  if (there == nullptr || there->plain || (there->usable & bit(index)) == 0 || !lane.up ||
      !lane.peer) {
    return false;
  }
  OfiJob job{index, cookie, target.key, payload.size, notice, nullptr};
  if (lane.card->registers_sources()) {
    job.source = hold_source(*lane.card, payload, *there, target.offset);
    if (job.source == nullptr) return false;
  }
  const Key& key = there->keys[index];
  if (lane.pending++ == 0) lane.progress = host_.clock();
  lane.card->write(*this, job,
                   {*lane.peer, payload.data, nullptr, payload.size, key.base + target.offset,
                    key.key, nullptr});
  return true;
}

// A message is one piece of memory: register it as a whole with its first part. If that fails,
// register the part.
const Registration* OfiLanes::hold_source(OfiCard& card, Payload payload, const Remote& there,
                                          std::size_t offset) {
  auto* const data = const_cast<std::byte*>(payload.data);
  if (offset <= there.size && payload.size <= there.size - offset) {
    const Registration* const whole = ofi_.hold(card, data - offset, there.size);
    if (whole != nullptr) return whole;
  }
  return ofi_.hold(card, data, payload.size);
}

void OfiLanes::doubt(std::uint64_t region) {
  if (Remote* const there = remote(region)) there->plain = true;
}

std::uint64_t OfiLanes::revoked(std::uint64_t region) const {
  const Remote* const there = const_cast<OfiLanes*>(this)->remote(region);
  return there == nullptr ? 0 : there->revoked;
}

void OfiLanes::finished(const OfiJob& job, bool arrived) {
  Lane& lane = lanes_[job.lane];
  --lane.pending;
  if (ended_) return;
  if (arrived) {
    lane.progress = host_.clock();
    lane.answers = lane.failures = 0;
    Record landed;
    landed.kind = RecordKind::landed;
    landed.key = job.region;
    landed.offset = job.size;
    landed.head = job.notice;
    host_.send_control(landed, {});
    host_.tell_lane(job.lane, Completion::Kind::sent, job.cookie);
    return;
  }
  if (Remote* const there = remote(job.region)) {
    there->plain = true;
    there->revoked |= bit(job.lane);
  }
  fail(job.lane, host_.clock());
  host_.tell_lane(job.lane, Completion::Kind::unsent, job.cookie);
}

void OfiLanes::fail(std::size_t index, Time now) {
  Lane& lane = lanes_[index];
  if (!std::exchange(lane.up, false)) return;
  lane.next_try = now + pause_after(++lane.failures);
  lane.answers = 0;
  host_.tell_lane(index, Completion::Kind::rail_down, 0);
}

void OfiLanes::share(std::uint64_t region, std::byte* data, std::size_t size) {
  Shared shared = {};
  std::string keys;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].card->is_open()) continue;
    const Registration* const held = ofi_.hold(*lanes_[i].card, data, size);
    if (held == nullptr) continue;
    shared[i] = held;
    const KeyEntry entry{i, held->key, held->base + static_cast<std::size_t>(data - held->data)};
    keys.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }
  if (keys.empty()) return;
  shared_[region] = shared;
  ofi_.note_shared(region, this);
  Record record;
  record.kind = RecordKind::keys;
  record.key = region;
  record.offset = size;
  host_.send_control(record, keys);
}

void OfiLanes::unshare(std::uint64_t region) {
  const auto found = shared_.find(region);
  if (found == shared_.end()) return;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (found->second[i] != nullptr) lanes_[i].card->memory().release(found->second[i]);
  }
  shared_.erase(found);
}

void OfiLanes::revoke(std::uint64_t region, std::uint64_t lanes) {
  const auto found = shared_.find(region);
  if (found == shared_.end()) return;
  const Shared held = found->second;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if ((lanes & bit(i)) == 0 || held[i] == nullptr || !held[i]->open) continue;
    if (lanes_[i].card->software()) {
      lanes_[i].card->renew();
    } else {
      lanes_[i].card->memory().spoil(held[i]);
    }
  }
}

void OfiLanes::hear(const Record& record, const std::byte* data) {
  switch (record.kind) {
    case RecordKind::keys:
      take_keys(record, data);
      break;
    case RecordKind::renewed:
      take_address(record, data);
      break;
    case RecordKind::ask: {
      Record answer;
      answer.kind = RecordKind::answer;
      answer.offset = record.offset;
      host_.send_control(answer, {});
      break;
    }
    case RecordKind::answer:
      if (record.offset >= lanes_.size() || !lanes_[record.offset].asked) break;
      lanes_[record.offset].asked = false;
      ++lanes_[record.offset].answers;
      break;
    default:
      break;
  }
}

void OfiLanes::take_keys(const Record& record, const std::byte* data) {
  Remote there;
  there.region = record.key;
  there.size = record.offset;
  for (std::size_t at = 0; at + sizeof(KeyEntry) <= record.size; at += sizeof(KeyEntry)) {
    KeyEntry entry;
    std::memcpy(&entry, data + at, sizeof entry);
    if (entry.lane >= lanes_.size()) continue;
    there.keys[entry.lane] = {entry.key, entry.base};
    there.usable |= bit(entry.lane);
  }
  remotes_[static_cast<std::uint32_t>(record.key)] = there;
}

// All keys of the old endpoint are void.
void OfiLanes::take_address(const Record& record, const std::byte* data) {
  if (record.offset >= lanes_.size()) return;
  Lane& lane = lanes_[record.offset];
  lane.address.assign(reinterpret_cast<const char*>(data), record.size);
  lane.peer = lane.card->add_peer(lane.address);
  for (auto& [place, there] : remotes_) there.usable &= ~bit(record.offset);
}

void OfiLanes::renewed(const OfiCard& card) {
  for (std::size_t i = 0; i < lanes_.size() && !ended_; ++i) {
    Lane& lane = lanes_[i];
    if (lane.card != &card) continue;
    lane.peer = lane.card->add_peer(lane.address);
    Record record;
    record.kind = RecordKind::renewed;
    record.offset = i;
    host_.send_control(record, card.address());
  }
}

void OfiLanes::tend_lane(std::size_t index, Time now) {
  Lane& lane = lanes_[index];
  if (lane.pending == 0) lane.answers = 0;
  if (!lane.up && lane.pending == 0 && lane.peer && now >= lane.next_try) {
    lane.up = true;
    host_.tell_lane(index, Completion::Kind::rail_up, 0);
  }
  if (lane.pending == 0 || now - lane.progress < ask_after) return;
  if (lane.answers >= answers_enough) {
    fail(index, now);
    lane.card->renew();
    return;
  }
  if (now - lane.asked_at < (lane.asked ? ask_again : ask_every)) return;
  lane.asked = true;
  lane.asked_at = now;
  Record ask;
  ask.kind = RecordKind::ask;
  ask.offset = index;
  host_.send_control(ask, {});
}

void OfiLanes::tend(Time now) {
  for (std::size_t i = 0; i < lanes_.size() && !ended_; ++i) tend_lane(i, now);
}

void OfiLanes::end() {
  if (std::exchange(ended_, true)) return;
  for (Lane& lane : lanes_) {
    lane.up = false;
    // The program gets its memory back now.
    if (lane.pending > 0) lane.card->renew();
  }
  std::vector<std::uint64_t> regions;
  for (const auto& [region, held] : shared_) regions.push_back(region);
  for (const std::uint64_t region : regions) revoke(region, ~std::uint64_t{0});
}

}  // namespace weft::wire
