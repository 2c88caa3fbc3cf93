// SPDX-License-Identifier: Apache-2.0
// What the program asks for; arrivals.cpp handles what the network brings.
#include <algorithm>
#include <utility>

#include <weft/message/mp/frame_sender.hpp>
#include <weft/message/mp/head_starts.hpp>
#include <weft/message/mp/header.hpp>
#include <weft/message/mp/matching.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/peer_table.hpp>
#include <weft/message/mp/rendezvous.hpp>
#include <weft/message/mp/request_table.hpp>
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

Messenger::Messenger(const Fabric& fabric, const Options& options)
    : fabric_(fabric),
      options_(options),
      requests_(std::make_unique<RequestTable>(fabric)),
      matching_(std::make_unique<Matching>()),
      peers_(std::make_unique<PeerTable>()),
      sender_(std::make_unique<FrameSender>(fabric, options, *peers_)),
      trunk_(options.split == Split::measured ? std::make_unique<Trunk>(fabric, options) : nullptr),
      rendezvous_(std::make_unique<Rendezvous>(fabric, *requests_, *sender_, trunk_.get())) {}

Messenger::~Messenger() = default;

// Most ranks never need them.
HeadStarts& Messenger::head_starts() {
  if (head_starts_ == nullptr)
    head_starts_ =
        std::make_unique<HeadStarts>(fabric_, options_, *requests_, *peers_, trunk_.get());
  return *head_starts_;
}

void Messenger::release(Request* request) {
  requests_->release(request);
}

void Messenger::resume_later(std::coroutine_handle<> handle) {
  requests_->ready.push_back(handle);
}

Request* Messenger::send(const Sending& sending) {
  Request* const request = requests_->make(Request::Kind::send);
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
  use_.bytes_sent += sending.size;
  if (is_lost(sending.to) || is_revoked(sending.context)) {
    request->failed = true;
    requests_->complete(request);
    return request;
  }
  const auto protocol =
      sending.tuning == nullptr ? Tuning::Protocol::by_size : sending.tuning->protocol;
  const auto limit = static_cast<std::size_t>(options_.eager_limit.count);
  bool eager = protocol == Tuning::Protocol::eager ||
               (protocol == Tuning::Protocol::by_size && sending.size <= limit);
  if (sending.synchronous) eager = false;
  if (eager && !peers_->draw(sending.to, sending.size, options_.credit)) eager = false;
  if (eager) {
    observe_sending(sending, MessageFacts::Protocol::eager);
    send_eager(request, sending);
  } else {
    observe_sending(sending, MessageFacts::Protocol::rendezvous);
    send_large(request, sending);
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
      sending.tuning != nullptr || options_.zero_copy || !fabric_.ordered || is_lost(sending.to) ||
      is_revoked(sending.context)) {
    return false;
  }
  PeerState& peer = (*peers_)[sending.to];
  if (!PeerTable::draw(peer, sending.size, options_.credit)) return false;
  ++use_.eager;
  use_.bytes_sent += sending.size;
  observe_sending(sending, MessageFacts::Protocol::eager);
  Header header = envelope(Verb::eager, sending);
  header.credit = std::exchange(peer.owed, 0);
  const auto* const data = static_cast<const std::byte*>(sending.data);
  fabric_.transport.post({sending.to, sender_->rails().for_eager(sending.to), Duration::zero()},
                         encode(header), {data, sending.size}, false, 0);
  return true;
}

void Messenger::send_eager(Request* request, const Sending& sending) {
  ++use_.eager;
  const bool zero_copy = sending.tuning == nullptr ? options_.zero_copy : sending.tuning->zero_copy;
  Header header = envelope(Verb::eager, sending);
  sender_->number(header, sending.to);
  const Payload payload{request->data, sending.size};
  if (zero_copy) {
    request->parts_open = 1;
    sender_->post(request, header, payload, RequestTable::id_of(request));
    return;
  }
  // Into the library's memory: charges the time, as post copies the data.
  fabric_.processor.copy(nullptr, nullptr, sending.size);
  sender_->post(request, header, payload, 0);
  requests_->complete(request);
}

void Messenger::send_large(Request* request, const Sending& sending) {
  ++use_.rendezvous;
  Header header = envelope(Verb::request, sending);
  header.size = sending.size;
  header.sender = RequestTable::id_of(request);
  header.key = request->ahead = trunk_ == nullptr ? 0 : head_starts().draw(sending);
  sender_->number(header, sending.to);
  sender_->post(request, header, {}, 0);
  if (request->ahead > 0) head_starts().send(request);
}

Request* Messenger::receive(const Receiving& receiving) {
  Request* const request = requests_->make(Request::Kind::receive);
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
  // In a revoked context nothing is received, also if a message is there: its sender may have given
  // it up.
  const bool revoked = is_revoked(request->context);
  if (UnexpectedRecord* const found =
          revoked ? nullptr : matching_->find(receiving.context, receiving.source, receiving.tag)) {
    matching_->number(request);
    const std::unique_ptr<UnexpectedRecord> record = matching_->remove_unexpected(found);
    accept(request, *record);
  } else if (revoked || (request->bound && is_lost(request->peer))) {
    request->failed = true;
    requests_->complete(request);
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
    requests_->complete(request);
    return;
  }
  if (request->matched || request->parts_open > 0) return;  // On its way.
  if (request->size == 0) {
    // A receive may have completed with its envelope, which is all of it: it counts as sent.
    requests_->complete(request);
    return;
  }
  if (trunk_ != nullptr && request->ahead > 0) trunk_->keep_head(RequestTable::id_of(request));
  Header header;
  header.verb = Verb::cancel;
  header.sender = RequestTable::id_of(request);
  sender_->number(header, request->peer);
  sender_->answer(request->peer, header);
  request->arrival.cancelled = true;
  requests_->complete(request);
}

std::optional<Arrival> Messenger::probe(ContextId context, int source, int tag) {
  const UnexpectedRecord* const record = matching_->find(context, source, tag);
  if (record == nullptr) return std::nullopt;
  return record->arrival;
}

UnexpectedRecord* Messenger::take(ContextId context, int source, int tag) {
  UnexpectedRecord* const record = matching_->find(context, source, tag);
  if (record == nullptr) return nullptr;
  if (record->rendezvous) taken_.push_back(record);
  return matching_->remove_unexpected(record).release();
}

const Arrival& Messenger::taken(const UnexpectedRecord* message) const {
  return message->arrival;
}

Request* Messenger::receive_taken(UnexpectedRecord* message, const Receiving& receiving) {
  const std::unique_ptr<UnexpectedRecord> record(message);
  std::erase(taken_, message);
  Request* const request = requests_->make(Request::Kind::receive);
  request->taken = true;
  request->context = record->context;
  request->source = record->arrival.source;
  request->tag = record->arrival.tag;
  request->internal = receiving.internal;
  request->size = receiving.size;
  // Also when no data will come: where memory lies may decide how fast it is written.
  request->data = static_cast<std::byte*>(receiving.data);
  if (is_revoked(record->context)) {
    request->failed = true;
    requests_->complete(request);
  } else if (record->withdrawn) {
    match_again(request);
  } else {
    accept(request, *record);
  }
  return request;
}

void Messenger::progress() {
  while (fabric_.transport.poll(incoming_)) handle(incoming_);
  finish_progress();
}

// What is due after looking at the network.
void Messenger::finish_progress() {
  if (trunk_ != nullptr && trunk_->busy()) trunk_->tend(fabric_.processor.now());
  // They may make others ready. Room for a few is kept: most progress resumes one.
  constexpr std::size_t kept_room = 16;
  std::vector<std::coroutine_handle<>>& ready = requests_->ready;
  std::size_t& resumed = requests_->resumed;
  while (resumed < ready.size()) {
    const std::coroutine_handle<> next = ready[resumed++];
    next.resume();
  }
  if (resumed == 0) return;
  resumed = 0;
  ready.clear();
  if (ready.capacity() > kept_room) ready.shrink_to_fit();
}

void Messenger::wait(const Request* request) {
  const std::uint64_t known = news_;
  while (!request->done && news_ == known) {
    if (fabric_.transport.poll(incoming_)) {
      handle(incoming_);
      continue;
    }
    finish_progress();
    if (!request->done) pause();
  }
  if (!requests_->ready.empty()) finish_progress();
}

void Messenger::pause() {
  if (!requests_->ready.empty()) return;
  const bool busy = trunk_ != nullptr && trunk_->busy();
  fabric_.transport.wait(busy ? fabric_.processor.now() + Trunk::look_again : Time::never());
}

bool Messenger::is_lost(RankId peer) const {
  return !lost_.empty() && std::find(lost_.begin(), lost_.end(), peer) != lost_.end();
}

bool Messenger::is_revoked(ContextId context) const {
  return !revoked_.empty() && revoked_.contains(context);
}

void Messenger::say(const Word& word) {
  if (is_lost(word.peer)) return;
  Header header;
  header.verb = Verb::word;
  header.internal = 1;
  header.context = word.context;
  header.tag = word.kind;
  header.key = word.number;
  header.credit = peers_->settle(word.peer);
  const auto* const data = reinterpret_cast<const std::byte*>(word.content.data());
  const std::size_t size = word.content.size() * sizeof(std::uint32_t);
  fabric_.transport.post({word.peer, sender_->rails().for_control(word.peer), Duration::zero()},
                         encode(header), {size == 0 ? nullptr : data, size}, false, 0);
}

std::vector<Word> Messenger::take_words() {
  return std::exchange(words_, {});
}

bool Messenger::quiet() const {
  return !requests_->any_send_open();
}

void Messenger::fail(Request& request) {
  if (request.kind == Request::Kind::receive && !request.matched) {
    matching_->remove_posted(&request);
  }
  request.failed = true;
  requests_->complete(&request);
}

// Sends under way come to their end, as the network may still read their memory. Receives do not
// wait for senders that may have given up; data that arrives later finds its memory closed.
void Messenger::revoke(ContextId context) {
  if (!revoked_.insert(context).second) return;
  requests_->each_open([&](Request& request) {
    const bool leaving = request.kind == Request::Kind::send && request.matched;
    if (request.context == context && !leaving) fail(request);
  });
}

}  // namespace weft::mp
