// SPDX-License-Identifier: Apache-2.0
// Requests, and what the program asks for; protocol.cpp answers what the network brings.
#include <algorithm>
#include <deque>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/message/mp/covered.hpp>
#include <weft/message/mp/header.hpp>
#include <weft/message/mp/heads.hpp>
#include <weft/message/mp/matching.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/peers.hpp>
#include <weft/message/mp/slab.hpp>
#include <weft/message/mp/trunk.hpp>

namespace weft::mp {

namespace {

Header envelope(Verb verb, const Sending& sending) {
  Header header;
  header.verb = verb;
  header.internal = sending.internal;
  header.context = sending.context;
  header.source = sending.source;
  header.tag = sending.tag;
  return header;
}

}  // namespace

Request::Request() = default;
Request::~Request() = default;
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;

Messenger::Messenger(const Fabric& fabric, const Options& options)
    : fabric_(fabric),
      options_(options),
      slab_(std::make_unique<Slab>()),
      matching_(std::make_unique<Matching>()),
      peers_(std::make_unique<Peers>()),
      heads_(std::make_unique<Heads>()),
      trunk_(options.split == Split::measured ? std::make_unique<Trunk>(fabric, options)
                                              : nullptr) {}

Messenger::~Messenger() = default;

Request* Messenger::make(Request::Kind kind) {
  Request* const request = slab_->make();
  request->kind = kind;
  return request;
}

void Messenger::free(Request* request) {
  if (request->region != 0) fabric_.transport.deregister_memory(request->region);
  slab_->free(request);
}

void Messenger::complete(Request* request) {
  request->done = true;
  if (request->kind == Request::Kind::send) --sends_open_;
  if (request->released) {
    free(request);
  } else if (request->waiter) {
    ready_.push_back(request->waiter);
    request->waiter = {};
  }
}

void Messenger::release(Request* request) {
  if (request->done) {
    free(request);
  } else {
    request->released = true;
  }
}

Request* Messenger::send(const Sending& sending) {
  Request* const request = make(Request::Kind::send);
  request->peer = sending.to;
  request->context = sending.context;
  request->source = sending.source;
  request->tag = sending.tag;
  request->internal = sending.internal;
  request->tuning = sending.tuning;
  request->size = sending.size;
  const bool carried = sending.internal || fabric_.carries_data;
  // The layer only reads what a send points to.
  request->data = carried ? static_cast<std::byte*>(const_cast<void*>(sending.data)) : nullptr;
  ++sends_open_;
  use_.bytes_sent += sending.size;
  if (is_lost(sending.to) || is_revoked(sending.context)) {
    request->failed = true;
    complete(request);
    return request;
  }
  const auto wish =
      sending.tuning == nullptr ? Tuning::Protocol::by_size : sending.tuning->protocol;
  const auto limit = static_cast<std::size_t>(options_.eager_limit.count);
  bool eager = wish == Tuning::Protocol::eager ||
               (wish == Tuning::Protocol::by_size && sending.size <= limit);
  if (sending.synchronous) eager = false;
  if (eager && !peers_->draw(sending.to, sending.size, options_.credit)) eager = false;
  if (eager) {
    observe_sending(sending, MessageFacts::Protocol::eager);
    send_eager(request, sending);
  } else {
    observe_sending(sending, MessageFacts::Protocol::rendezvous);
    send_request(request, sending);
  }
  return request;
}

void Messenger::observe_sending(const Sending& sending, MessageFacts::Protocol protocol) const {
  if (fabric_.observer == nullptr) return;
  fabric_.observer->sending(
      {fabric_.self, sending.to, sending.context, sending.tag, sending.size, protocol});
}

bool Messenger::send_now(const Sending& sending) {
  if (sending.size > static_cast<std::size_t>(options_.eager_limit.count) || sending.synchronous ||
      sending.tuning != nullptr || options_.zero_copy || !fabric_.ordered || !lost_.empty()) {
    return false;
  }
  Peer& peer = (*peers_)[sending.to];
  if (!Peers::draw(peer, sending.size, options_.credit)) return false;
  ++use_.eager;
  use_.bytes_sent += sending.size;
  observe_sending(sending, MessageFacts::Protocol::eager);
  Header header = envelope(Verb::eager, sending);
  header.credit = std::exchange(peer.owed, 0);
  const auto* const data = static_cast<const std::byte*>(sending.data);
  fabric_.transport.post({sending.to, eager_rail(sending.to), Duration::zero()}, encode(header),
                         {data, sending.size}, false, 0);
  return true;
}

void Messenger::send_eager(Request* request, const Sending& sending) {
  ++use_.eager;
  const bool zero_copy = sending.tuning == nullptr ? options_.zero_copy : sending.tuning->zero_copy;
  Header header = envelope(Verb::eager, sending);
  if (!fabric_.ordered) header.sequence = (*peers_)[sending.to].sent++;
  const Payload payload{request->data, sending.size};
  if (zero_copy) {
    request->parts_open = 1;
    post(request, header, payload, id_of(request));
    return;
  }
  fabric_.processor.copy(nullptr, nullptr,
                         sending.size);  // Into the library's memory; post takes the data.
  post(request, header, payload, 0);
  complete(request);
}

void Messenger::send_request(Request* request, const Sending& sending) {
  ++use_.rendezvous;
  Header header = envelope(Verb::request, sending);
  header.size = sending.size;
  header.sender = id_of(request);
  header.key = request->ahead = ahead_of(sending);
  if (!fabric_.ordered) header.sequence = (*peers_)[sending.to].sent++;
  post(request, header, {}, 0);
  if (request->ahead > 0) send_ahead(request);
}

// Every frame gives back what we owe to its receiver.
void Messenger::post(const Request* request, Header& header, Payload payload,
                     std::uint64_t cookie) {
  header.credit = peers_->settle(request->peer);
  const Duration gap = request->tuning == nullptr ? Duration::zero() : request->tuning->gap;
  const RailId rail =
      header.verb == Verb::eager ? eager_rail(request->peer) : small_rail(request->peer);
  const bool more = header.verb == Verb::request && request->ahead > 0;
  fabric_.transport.post({request->peer, rail, gap, more}, encode(header), payload, cookie != 0,
                         cookie);
}

void Messenger::answer(RankId peer, Header& header) {
  header.credit = peers_->settle(peer);
  fabric_.transport.post({peer, small_rail(peer), Duration::zero()}, encode(header), {}, false, 0);
}

// The rail of least latency; the first of them if equal. The fabric finds another if it is down.
RailId Messenger::small_rail(RankId peer) const {
  const auto count = static_cast<std::uint32_t>(fabric_.rails.rail_count(peer));
  RailId best(0);
  if (count < 2) return best;
  RailFacts facts = fabric_.rails.rail_facts(peer, best);
  for (std::uint32_t i = 1; i < count; ++i) {
    const RailFacts other = fabric_.rails.rail_facts(peer, RailId(i));
    if (!other.up || (facts.up && facts.latency <= other.latency)) continue;
    best = RailId(i);
    facts = other;
  }
  return best;
}

// Of rails that are alike pairs of ranks take different ones, so that who talks to many uses all.
RailId Messenger::eager_rail(RankId peer) const {
  const auto count = static_cast<std::uint32_t>(fabric_.rails.rail_count(peer));
  if (count < 2) return RailId(0);
  const RailId best = small_rail(peer);
  const Duration least = fabric_.rails.rail_facts(peer, best).latency;
  const std::uint32_t turn = fabric_.self.index + peer.index;
  for (std::uint32_t i = 0; i < count; ++i) {
    const RailId rail((turn + i) % count);
    const RailFacts facts = fabric_.rails.rail_facts(peer, rail);
    if (facts.up && facts.frames && facts.latency <= least + least / 2) return rail;
  }
  return best;
}

Request* Messenger::receive(const Receiving& receiving) {
  Request* const request = make(Request::Kind::receive);
  request->context = receiving.context;
  request->source = receiving.source;
  request->tag = receiving.tag;
  request->internal = receiving.internal;
  request->size = receiving.size;
  if (receiving.from) {
    request->peer = *receiving.from;
    request->bound = true;
  }
  // Also when no data will come: where memory lies may decide how fast it is written.
  request->data = static_cast<std::byte*>(receiving.data);
  if (UnexpectedRecord* const found =
          matching_->find(receiving.context, receiving.source, receiving.tag)) {
    const std::unique_ptr<UnexpectedRecord> record = matching_->remove_unexpected(found);
    accept(request, *record);
  } else if ((request->bound && is_lost(request->peer)) || is_revoked(request->context)) {
    request->failed = true;
    complete(request);
  } else {
    matching_->add_posted(request);
  }
  return request;
}

void Messenger::cancel(Request* request) {
  if (request->done) return;
  if (request->kind == Request::Kind::receive) {
    if (request->matched) return;
    matching_->remove_posted(request);
    request->arrival.cancelled = true;
    complete(request);
    return;
  }
  if (request->parts_open > 0) return;  // On its way.
  Header header;
  header.verb = Verb::cancel;
  header.sender = id_of(request);
  if (!fabric_.ordered) header.sequence = (*peers_)[request->peer].sent++;
  answer(request->peer, header);
}

std::optional<Arrival> Messenger::probe(ContextId context, int source, int tag) {
  const UnexpectedRecord* const record = matching_->find(context, source, tag);
  if (record == nullptr) return std::nullopt;
  return record->arrival;
}

UnexpectedRecord* Messenger::take(ContextId context, int source, int tag) {
  UnexpectedRecord* const record = matching_->find(context, source, tag);
  return record == nullptr ? nullptr : matching_->remove_unexpected(record).release();
}

const Arrival& Messenger::taken(const UnexpectedRecord* message) const {
  return message->arrival;
}

Request* Messenger::receive_taken(UnexpectedRecord* message, const Receiving& receiving) {
  const std::unique_ptr<UnexpectedRecord> record(message);
  Request* const request = make(Request::Kind::receive);
  request->context = record->context;
  request->source = record->arrival.source;
  request->tag = record->arrival.tag;
  request->internal = receiving.internal;
  request->size = receiving.size;
  // Also when no data will come: where memory lies may decide how fast it is written.
  request->data = static_cast<std::byte*>(receiving.data);
  accept(request, *record);
  return request;
}

void Messenger::progress() {
  while (fabric_.transport.poll(incoming_)) handle(incoming_);
  tend();
}

// What is due after looking at the network.
void Messenger::tend() {
  if (trunk_ != nullptr && trunk_->busy()) trunk_->tend(fabric_.processor.now());
  while (!ready_.empty()) {
    std::vector<std::coroutine_handle<>> now;
    now.swap(ready_);
    for (const std::coroutine_handle<> handle : now) handle.resume();
  }
}

void Messenger::wait(const Request* request) {
  const std::size_t known = lost_.size();
  while (!request->done && lost_.size() == known) {
    if (fabric_.transport.poll(incoming_)) {
      handle(incoming_);
      continue;
    }
    tend();
    if (!request->done) pause();
  }
  if (!ready_.empty()) tend();
}

void Messenger::pause() {
  if (!ready_.empty()) return;
  const bool busy = trunk_ != nullptr && trunk_->busy();
  fabric_.transport.wait(busy ? fabric_.processor.now() + Trunk::look_again : Time::never());
}

bool Messenger::is_lost(RankId peer) const {
  return !lost_.empty() && std::find(lost_.begin(), lost_.end(), peer) != lost_.end();
}

bool Messenger::is_revoked(ContextId context) const {
  return !revoked_.empty() &&
         std::find(revoked_.begin(), revoked_.end(), context) != revoked_.end();
}

bool Messenger::quiet() const {
  return sends_open_ == 0;
}

std::uint64_t Messenger::id_of(const Request* request) {
  return (std::uint64_t{request->generation} << 32) | (request->index + 1);
}

Request* Messenger::find(std::uint64_t id) {
  return slab_->find(id);
}

}  // namespace weft::mp
