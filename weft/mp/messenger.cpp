// SPDX-License-Identifier: Apache-2.0
// Requests, and what the program asks for; protocol.cpp answers what the network brings.
#include <algorithm>
#include <deque>

#include <weft/base/check.hpp>
#include <weft/mp/header.hpp>
#include <weft/mp/matching.hpp>
#include <weft/mp/messenger.hpp>
#include <weft/mp/peers.hpp>
#include <weft/mp/slab.hpp>

namespace weft::mp {

Messenger::Messenger(Fabric& fabric, const Options& options)
    : fabric_(fabric),
      options_(options),
      slab_(std::make_unique<Slab>()),
      matching_(std::make_unique<Matching>()),
      peers_(std::make_unique<Peers>()) {}

Messenger::~Messenger() = default;

Request* Messenger::make(Request::Kind kind) {
  Request* const request = slab_->make();
  request->kind = kind;
  return request;
}

void Messenger::free(Request* request) {
  if (request->region != 0) fabric_.deregister_memory(request->region);
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
  const bool carried = sending.internal || fabric_.carries_data();
  // The layer only reads what a send points to.
  request->data = carried ? static_cast<std::byte*>(const_cast<void*>(sending.data)) : nullptr;
  ++sends_open_;
  use_.bytes_sent += sending.size;
  fabric_.note_message(sending.to, sending.size);

  const auto wish =
      sending.tuning == nullptr ? Tuning::Protocol::by_size : sending.tuning->protocol;
  const auto limit = static_cast<std::size_t>(options_.eager_limit.count);
  bool eager = wish == Tuning::Protocol::eager ||
               (wish == Tuning::Protocol::by_size && sending.size <= limit);
  if (sending.synchronous) eager = false;
  if (eager && !peers_->draw(sending.to, sending.size, options_.credit)) eager = false;
  if (eager) {
    send_eager(request, sending);
  } else {
    send_request(request, sending);
  }
  return request;
}

void Messenger::send_eager(Request* request, const Sending& sending) {
  ++use_.eager;
  const bool zero_copy = sending.tuning == nullptr ? options_.zero_copy : sending.tuning->zero_copy;
  Header header;
  header.verb = Verb::eager;
  header.internal = sending.internal;
  header.context = sending.context;
  header.source = sending.source;
  header.tag = sending.tag;
  header.size = sending.size;
  if (!fabric_.ordered()) header.sequence = (*peers_)[sending.to].sent++;
  const Payload payload{request->data, sending.size};
  if (zero_copy) {
    request->parts_open = 1;
    post(request, header, payload, id_of(request));
    return;
  }
  fabric_.copy(nullptr, nullptr, sending.size);  // Into the library's memory; post takes the data.
  post(request, header, payload, 0);
  complete(request);
}

void Messenger::send_request(Request* request, const Sending& sending) {
  ++use_.rendezvous;
  Header header;
  header.verb = Verb::request;
  header.internal = sending.internal;
  header.context = sending.context;
  header.source = sending.source;
  header.tag = sending.tag;
  header.size = sending.size;
  header.sender = id_of(request);
  if (!fabric_.ordered()) header.sequence = (*peers_)[sending.to].sent++;
  post(request, header, {}, 0);
}

// Every frame gives back what we owe to its receiver.
void Messenger::post(const Request* request, Header& header, Payload payload,
                     std::uint64_t cookie) {
  header.credit = peers_->settle(request->peer);
  const Duration gap = request->tuning == nullptr ? Duration::zero() : request->tuning->gap;
  fabric_.post({request->peer, small_rail(), gap}, encode(header), payload, cookie != 0, cookie);
}

void Messenger::answer(RankId peer, Header& header) {
  header.credit = peers_->settle(peer);
  fabric_.post({peer, small_rail(), Duration::zero()}, encode(header), {}, false, 0);
}

// The rail of least latency; the first of them if equal.
RailId Messenger::small_rail() const {
  RailId best(0);
  for (std::uint32_t i = 1; i < static_cast<std::uint32_t>(fabric_.rails()); ++i) {
    if (fabric_.rail(RailId(i)).latency < fabric_.rail(best).latency) best = RailId(i);
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
  // Also when no data will come: where memory lies may decide how fast it is written.
  request->data = static_cast<std::byte*>(receiving.data);
  if (UnexpectedRecord* const found =
          matching_->find(receiving.context, receiving.source, receiving.tag)) {
    const std::unique_ptr<UnexpectedRecord> record = matching_->remove_unexpected(found);
    accept(request, *record);
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
  if (!fabric_.ordered()) header.sequence = (*peers_)[request->peer].sent++;
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
  Completion completion;
  while (fabric_.poll(completion)) handle(completion);
  while (!ready_.empty()) {
    std::vector<std::coroutine_handle<>> now;
    now.swap(ready_);
    for (const std::coroutine_handle<> handle : now) handle.resume();
  }
}

void Messenger::wait(Request* request) {
  for (progress(); !request->done; progress()) pause();
}

void Messenger::pause() {
  if (ready_.empty()) fabric_.wait(Time::never());
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
