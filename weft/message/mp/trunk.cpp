// SPDX-License-Identifier: Apache-2.0
// Gives the parts of messages to rails, and again if they are late or lost.
#include <algorithm>
#include <cstring>

#include <weft/base/check.hpp>
#include <weft/message/mp/trunk.hpp>

namespace weft::mp {

namespace {

constexpr std::uint64_t part_bit = std::uint64_t{1} << 63;

// A part measures a rail's rate only if at least this much is queued ahead of it.
constexpr std::size_t backlog = std::size_t{32} << 10;
constexpr Duration tend_every = Trunk::look_again;
constexpr Duration patience = Duration::ms(5);  // With a rail that is late.
constexpr Duration least_gain = Duration::us(200);

}  // namespace

Trunk::Peer& Trunk::peer_of(RankId id) {
  Peer& peer = peers_[id.index];
  const auto count = static_cast<std::size_t>(fabric_.rails.rail_count(id));
  if (peer.rails.size() < count) peer.rails.resize(count);
  return peer;
}

bool Trunk::begin(const Load& load) {
  auto owned = std::make_unique<Message>();
  Message* const message = owned.get();
  message->load = load;
  message->serial = ++serials_;
  message->missing = load.data.size;
  message->waits = true;
  Peer& peer = peer_of(load.peer);
  if (peer.rails.size() > 1 && load.data.data != nullptr) {
    std::vector<double> rates, lowered;
    for (std::size_t i = 0; i < peer.rails.size(); ++i) rates.push_back(rate(load.peer, peer, i));
    lowered = rates;
    fabric_.rails.lower_rates(load.peer, load.data.data, lowered);
    if (lowered != rates) {
      for (std::size_t i = 0; i < rates.size(); ++i) lowered[i] /= rates[i];
      message->worth = std::move(lowered);
    }
  }
  peer.line.push_back(message);
  messages_[message->serial] = std::move(owned);
  pump(load.peer, peer);
  const bool given = !message->waits;
  if (given && load.frames) message->load.id = 0;
  return given;
}

std::optional<RailPart> Trunk::choose(RankId id, const Peer& peer, const Message& message) {
  const int rails = rails_for(static_cast<int>(peer.rails.size()), message.load.tuning);
  // Frames follow before earlier ones are acknowledged, so split each by nominal rates, as if all
  // rails were equally busy.
  const double scale = message.load.frames ? share_of_nominal(id, peer) : 1;
  const auto before_on = [&](std::size_t i) {
    if (!message.load.frames) return static_cast<double>(peer.rails[i].queued);
    return i < message.given.size() ? static_cast<double>(message.given[i]) : 0.0;
  };
  offers_.clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(rails); ++i) {
    const RailId rail(static_cast<std::uint32_t>(i));
    const RailFacts facts = fabric_.rails.rail_facts(id, rail);
    if (!facts.up) continue;
    const double full =
        message.load.frames ? facts.rate.in_byte_per_s() * scale : rate(id, peer, i);
    const double own = full * (message.worth.empty() ? 1.0 : std::max(message.worth[i], 1e-3));
    offers_.push_back({rail, own, facts.latency, before_on(i), peer.rails[i].queued});
  }
  const std::size_t left =
      message.again.empty() ? message.load.data.size - message.next : message.again.back().size;
  return next_part(offers_, left, static_cast<std::size_t>(options_.stripe_min.count));
}

std::span<const RailOffer> Trunk::offers_of_all(RankId id, const Peer& peer) {
  offers_.clear();
  for (std::size_t i = 0; i < peer.rails.size(); ++i) {
    const RailId rail(static_cast<std::uint32_t>(i));
    const RailFacts facts = fabric_.rails.rail_facts(id, rail);
    if (!facts.up) continue;
    const std::size_t queued = peer.rails[i].queued;
    offers_.push_back({rail, rate(id, peer, i), facts.latency, static_cast<double>(queued), queued,
                       peer.rails[i].outstanding.empty()});
  }
  return offers_;
}

void Trunk::give(Peer& peer, Message& message, const RailPart& choice) {
  Stretch stretch{message.next, choice.size};
  if (message.again.empty()) {
    message.next += choice.size;
  } else {
    Stretch& rest = message.again.back();
    stretch.offset = rest.offset;
    rest.offset += choice.size;
    rest.size -= choice.size;
    if (rest.size == 0) message.again.pop_back();
  }
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint32_t index = unused_.back();
  unused_.pop_back();
  Part& part = parts_[index];
  Rail& rail = peer.rails[choice.rail.index];
  part = {&message,       stretch.offset,        stretch.size,
          choice.rail,    rail.queued < backlog, fabric_.processor.now(),
          part.generation};
  const std::uint64_t cookie = part_bit | (std::uint64_t{part.generation} << 32) | index;
  rail.queued += stretch.size;
  if (message.load.frames) {
    message.given.resize(peer.rails.size());
    message.given[choice.rail.index] += stretch.size;
  }
  rail.outstanding.push_back(cookie);
  const Load& load = message.load;
  Header notice = load.notice;
  const std::size_t there = load.offset + stretch.offset;
  notice.key = there;
  const std::byte* const data =
      load.data.data == nullptr ? nullptr : load.data.data + stretch.offset;
  const Duration gap = load.tuning == nullptr ? Duration::zero() : load.tuning->gap;
  const SendPath path{load.peer, choice.rail, gap};
  const Payload payload{data, stretch.size};
  if (load.frames) {
    fabric_.transport.post(path, encode(notice), payload, false, cookie);
  } else {
    fabric_.transport.write(path, payload, {load.key, there}, encode(notice), cookie);
  }
}

void Trunk::pump(RankId id, Peer& peer) {
  do {
    while (!peer.line.empty()) {
      Message& message = *peer.line.front();
      const std::optional<RailPart> part = choose(id, peer, message);
      if (!part) return;
      give(peer, message, *part);
      if (message.again.empty() && message.next == message.load.data.size) {
        message.waits = false;
        peer.line.pop_front();
      }
    }
  } while (relieve(id, peer));
}

// Near the end, or when a rail is late: one with nothing to do takes over the last part of the rail
// that has the most before it. If that part arrives after all, it arrives twice.
bool Trunk::relieve(RankId id, Peer& peer) {
  const std::optional<RailRelief> relief = find_relief(offers_of_all(id, peer));
  if (!relief) return false;
  Rail* const from = &peer.rails[relief->from.index];
  const std::uint64_t cookie = from->outstanding.back();
  Part* const part = find(cookie);
  WEFT_CHECK(part != nullptr);
  const double here =
      static_cast<double>(part->size) / relief->bytes_per_s + least_gain.in_seconds();
  // Whatever seems late, no message costs more than twice its bytes.
  Message& message = *part->message;
  if (message.doubled + part->size > message.load.data.size) return false;
  if (message.load.frames) return false;  // They find their way by themselves.
  if (relief->wait_s < 2 * here || !fabric_.transport.take_back(id, cookie)) return false;
  message.doubled += part->size;
  // Whatever it delivered before, this is what it does now.
  const auto late_rail = static_cast<std::size_t>(part->rail.index);
  if (from->late > Duration::zero()) {
    const double before = from->meter.bytes_per_s();
    from->meter.set(std::max(rate(id, peer, late_rail), before / 4));
  }
  // Straight to that rail: the line is empty, and choose() might take the same rail as before.
  const std::size_t size = part->size;
  take_off(peer, cookie);
  give(peer, message, {relief->to, 0, size});
  return true;
}

// It goes again.
void Trunk::take_off(Peer& peer, std::uint64_t cookie) {
  const Part& part = *find(cookie);
  Rail& rail = peer.rails[part.rail.index];
  Message& message = *part.message;
  rail.queued -= part.size;
  std::erase(rail.outstanding, cookie);
  message.again.push_back({part.offset, part.size});
  free(cookie);
}

void Trunk::tend(Time now) {
  if (now - tended_ < tend_every) return;
  tended_ = now;
  for (auto& [index, peer] : peers_) {
    const RankId id(index);
    bool waits = false;
    Time latest;  // Something was delivered on any rail.
    for (const Rail& rail : peer.rails) latest = std::max(latest, rail.last);
    for (std::size_t i = 0; i < peer.rails.size(); ++i) {
      Rail& rail = peer.rails[i];
      rail.late = {};
      if (rail.outstanding.empty()) continue;
      waits = true;
      const Part& oldest = parts_[rail.outstanding.front() & 0xffffffffu];
      const Time since = std::max(oldest.posted, rail.last);
      const Duration trip =
          fabric_.rails.rail_facts(id, RailId(static_cast<std::uint32_t>(i))).latency * 2;
      const double due = static_cast<double>(oldest.size) / rate(id, peer, i) + trip.in_seconds();
      // When no other rail gets on either, it is the peer (or we) that paused.
      const bool others = latest > since;
      if (others && (now - since).in_seconds() > 4 * due + patience.in_seconds()) {
        rail.late = now - since;
      }
    }
    if (waits) pump(id, peer);
  }
}

Trunk::Part* Trunk::find(std::uint64_t cookie) {
  const std::uint64_t index = cookie & 0xffffffffu;
  if (index >= parts_.size()) return nullptr;
  Part& part = parts_[index];
  const bool same = part.message != nullptr && part.generation == ((cookie & ~part_bit) >> 32);
  return same ? &part : nullptr;
}

void Trunk::free(std::uint64_t cookie) {
  const auto index = static_cast<std::uint32_t>(cookie & 0xffffffffu);
  parts_[index].message = nullptr;
  parts_[index].generation = (parts_[index].generation + 1) & 0x7fffffffu;
  unused_.push_back(index);
}

void Trunk::keep_head(std::uint64_t sender) {
  for (const auto& [serial, message] : messages_) {
    Load& load = message->load;
    if (!load.frames || !message->waits || load.notice.sender != sender) continue;
    if (load.data.data == nullptr) continue;
    message->kept = std::make_unique_for_overwrite<std::byte[]>(load.data.size);
    std::memcpy(message->kept.get(), load.data.data, load.data.size);
    load.data.data = message->kept.get();
  }
}

std::uint64_t Trunk::delivered(std::uint64_t cookie) {
  Part* const part = find(cookie);
  if (part == nullptr) return 0;
  Message& message = *part->message;
  const RankId id = message.load.peer;
  Peer& peer = peer_of(id);
  Rail& rail = peer.rails[part->rail.index];
  const Time now = fabric_.processor.now();
  const Duration busy = now - std::max(part->posted, rail.last);
  if (message.load.frames) {
    // Their sender does not wait: when which of them was through is unknown.
    message.crowded = true;
  } else if (part->to_idle) {
    message.laps.push_back({part->rail, busy});
  } else {
    rail.meter.delivered(part->size, busy);
    message.crowded = true;
  }
  rail.last = now;
  rail.late = {};
  rail.queued -= part->size;
  std::erase(rail.outstanding, cookie);
  message.missing -= part->size;
  free(cookie);
  std::uint64_t done = 0;
  if (message.missing == 0) {
    done = message.load.id;
    balance(id, peer, message);
    messages_.erase(message.serial);
  }
  pump(id, peer);
  return done;
}

void Trunk::returned(std::uint64_t cookie) {
  Part* const part = find(cookie);
  if (part == nullptr) return;
  const RankId id = part->message->load.peer;
  Peer& peer = peer_of(id);
  Message& message = *part->message;
  take_off(peer, cookie);
  if (!message.waits) peer.line.push_front(&message);
  message.waits = true;
  pump(id, peer);
}

void Trunk::rail_changed(RankId id, RailId rail) {
  const auto found = peers_.find(id.index);
  if (found == peers_.end()) return;
  Peer& peer = peer_of(id);
  // What it did before it went says nothing of what it does when it comes back.
  if (rail.index < peer.rails.size() && !fabric_.rails.rail_facts(id, rail).up) {
    peer.rails[rail.index].meter.forget();
  }
  pump(id, peer);
}

void Trunk::forget(RankId id) {
  const auto found = peers_.find(id.index);
  if (found == peers_.end()) return;
  for (Rail& rail : found->second.rails) {
    for (const std::uint64_t cookie : rail.outstanding) free(cookie);
  }
  std::erase_if(messages_, [&](const auto& entry) { return entry.second->load.peer == id; });
  peers_.erase(found);
}

}  // namespace weft::mp
