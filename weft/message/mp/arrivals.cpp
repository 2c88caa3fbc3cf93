// SPDX-License-Identifier: Apache-2.0
// What the network brings: envelopes of messages are matched, other frames go to the protocol that
// they belong to.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/message/mp/frame_sender.hpp>
#include <weft/message/mp/head_starts.hpp>
#include <weft/message/mp/header.hpp>
#include <weft/message/mp/keep_data.hpp>
#include <weft/message/mp/matching.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/peer_table.hpp>
#include <weft/message/mp/rendezvous.hpp>
#include <weft/message/mp/request_table.hpp>
#include <weft/message/mp/trunk.hpp>

namespace weft::mp {

void Messenger::handle(Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::frame:
    case Completion::Kind::written:
      if (fabric_.keeps_order(completion.peer)) {
        handle_frame(decode(completion.head), completion);
      } else {
        handle_in_order(decode(completion.head), completion);
      }
      break;
    case Completion::Kind::sent:
      rendezvous_->on_sent(completion.cookie);
      break;
    case Completion::Kind::unsent:
      rendezvous_->on_unsent(completion.cookie);
      break;
    case Completion::Kind::peer_lost:
      on_peer_lost(completion.peer);
      break;
    case Completion::Kind::rail_up:
    case Completion::Kind::rail_down:
      rendezvous_->on_rail_change(completion);
      break;
    case Completion::Kind::refused:
      break;
  }
}

// Envelopes of a peer, and their cancelling, are handled in the order of sending; other frames have
// no order.
void Messenger::handle_in_order(const Header& header, Completion& completion) {
  const bool envelope =
      header.verb == Verb::eager || header.verb == Verb::request || header.verb == Verb::cancel;
  if (!envelope) {
    handle_frame(header, completion);
    return;
  }
  const RankId peer = completion.peer;
  if (header.sequence != peers_->order(peer).seen) {
    peers_->hold(peer, header.sequence, std::move(completion));
    return;
  }
  do {
    ++peers_->order(peer).seen;
    handle_frame(decode(completion.head), completion);
  } while (peers_->take(peer, peers_->order(peer).seen, completion));
}

void Messenger::handle_frame(const Header& header, Completion& completion) {
  peers_->refund(completion.peer, header.credit);
  switch (header.verb) {
    case Verb::eager:
    case Verb::request:
      on_envelope(header, completion);
      break;
    case Verb::ready:
      rendezvous_->on_ready(header, completion.peer);
      break;
    case Verb::part:
      rendezvous_->on_part(header, completion);
      break;
    case Verb::head:
      head_starts().on_head(header, completion);
      break;
    case Verb::cancel:
      on_cancel(header, completion.peer);
      break;
    case Verb::word:
      on_word(header, completion);
      break;
    case Verb::credit:
    case Verb::none:
      break;
  }
}

void Messenger::observe_envelope(const Header& header, const Completion& completion) const {
  const bool eager = header.verb == Verb::eager;
  MessageFacts facts{completion.peer, fabric_.self,    header.context,
                     header.tag,      completion.size, MessageFacts::Protocol::eager};
  if (eager) {
    fabric_.observer->arrived(facts);
    return;
  }
  facts.size = header.size;
  facts.protocol = MessageFacts::Protocol::rendezvous;
  fabric_.observer->announced(facts, header.sender);
}

void Messenger::on_envelope(const Header& header, Completion& completion) {
  if (fabric_.observer != nullptr) observe_envelope(header, completion);
  Request* const request = matching_->match_arrival(header.context, header.source, header.tag);
  const std::byte* const data = data_of(completion);
  if (request != nullptr && header.verb == Verb::eager) {  // The most frequent case.
    request->peer = completion.peer;
    accept_eager(request, {header.source, header.tag, completion.size, false, false}, data);
    return;
  }
  const std::size_t size = header.verb == Verb::eager ? completion.size : header.size;
  const Envelope envelope{.arrival = {header.source, header.tag, size, false, false},
                          .context = header.context,
                          .peer = completion.peer,
                          .rendezvous = header.verb == Verb::request,
                          .internal = header.internal != 0,
                          .sender = header.sender,
                          .ahead = header.verb == Verb::request ? header.key : 0};
  if (request != nullptr) {
    const std::uint64_t id = RequestTable::id_of(request);
    accept(request, envelope, data);
    if (envelope.ahead > 0) head_starts().expect(envelope, id, nullptr);
    return;
  }
  ++use_.unexpected;
  auto record = std::make_unique<UnexpectedRecord>();
  static_cast<Envelope&>(*record) = envelope;
  keep_data(completion);
  record->data = std::move(completion.data);
  UnexpectedRecord* const kept = record.get();
  matching_->add_unexpected(std::move(record));
  if (envelope.ahead > 0) head_starts().expect(envelope, 0, kept);
}

void Messenger::accept(Request* receive, const Envelope& message, const std::byte* data) {
  receive->peer = message.peer;
  if (!message.rendezvous) {
    accept_eager(receive, message.arrival, data);
    return;
  }
  receive->matched = true;
  receive->arrival = message.arrival;
  receive->arrival.truncated = message.arrival.size > receive->size;
  // A sender that is lost can write nothing any more.
  if (is_lost(message.peer) && !HeadStarts::is_all(message)) {
    fail(*receive);
  } else {
    rendezvous_->answer(receive, message);
  }
}

void Messenger::accept_eager(Request* receive, const Arrival& arrival, const std::byte* data) {
  const RankId peer = receive->peer;
  receive->matched = true;
  receive->arrival = arrival;
  receive->arrival.truncated = arrival.size > receive->size;
  fabric_.processor.copy(receive->data, data, std::min(receive->size, arrival.size));
  requests_->complete(receive);
  sender_->owe_credit(peer, arrival.size);
}

void Messenger::accept(Request* receive, const UnexpectedRecord& record) {
  if (is_lost(record.peer) && !HeadStarts::is_here(record)) {
    receive->matched = true;
    fail(*receive);
    return;
  }
  const std::uint64_t id = RequestTable::id_of(receive);
  accept(receive, record, record.data.get());
  if (record.ahead > 0 && requests_->find(id) != nullptr) head_starts().hand_over(receive, record);
}

// A message that waits for a receive goes away.
bool Messenger::withdraw_unexpected(RankId peer, std::uint64_t sender) {
  for (UnexpectedRecord* record = matching_->first_unexpected(); record != nullptr;
       record = record->after) {
    if (!record->rendezvous || record->peer != peer || record->sender != sender) continue;
    if (record->ahead > 0) sender_->owe_credit(peer, record->ahead);
    matching_->remove_unexpected(record);
    return true;
  }
  return false;
}

// The sender has decided, and no data follows. Later messages of this sender come after this word,
// so none of them has passed by a receive that must match again.
void Messenger::on_cancel(const Header& header, RankId peer) {
  if (head_starts_ != nullptr) head_starts_->drop(peer, header.sender);
  if (fabric_.observer != nullptr) fabric_.observer->withdrawn(peer, header.sender);
  if (withdraw_unexpected(peer, header.sender)) return;
  for (UnexpectedRecord* const record : taken_) {
    if (record->peer == peer && record->sender == header.sender) record->withdrawn = true;
  }
  Request* matched = nullptr;
  requests_->each_open([&](Request& request) {
    if (request.kind == Request::Kind::receive && request.matched && request.peer == peer &&
        request.sender == header.sender) {
      matched = &request;
    }
  });
  if (matched != nullptr) match_again(matched);
}

// A receive whose message was withdrawn takes the next one that fits, as if it had matched nothing.
// One of a message that was taken out of matching can have no other, and ends cancelled.
void Messenger::match_again(Request* receive) {
  if (receive->region != 0) fabric_.transport.deregister_memory(receive->region);
  receive->region = receive->sender = 0;
  receive->missing = 0;
  receive->covered.reset();
  receive->matched = false;
  receive->arrival = {};
  if (receive->taken) {
    receive->arrival = {receive->source, receive->tag, 0, false, true};
    requests_->complete(receive);
    return;
  }
  UnexpectedRecord* const found = matching_->find(receive->context, receive->source, receive->tag);
  if (found != nullptr) {
    const std::unique_ptr<UnexpectedRecord> record = matching_->remove_unexpected(found);
    accept(receive, *record);
  } else {
    matching_->add_again(receive);
  }
}

// What waits for this peer alone fails.
void Messenger::on_peer_lost(RankId peer) {
  lost_.push_back(peer);
  ++news_;
  rendezvous_->forget(peer);
  if (head_starts_ != nullptr) head_starts_->forget(peer);
  requests_->each_open([&](Request& request) {
    const bool waits = request.kind == Request::Kind::send || request.matched || request.bound;
    if (request.peer == peer && waits) fail(request);
  });
}

void Messenger::on_word(const Header& header, const Completion& completion) {
  Word word{completion.peer, header.context, header.tag, header.key, {}};
  const std::byte* const data = data_of(completion);
  if (data != nullptr) {
    word.content.resize(completion.size / sizeof(std::uint32_t));
    std::memcpy(word.content.data(), data, word.content.size() * sizeof(std::uint32_t));
  }
  words_.push_back(std::move(word));
  ++news_;
}

}  // namespace weft::mp
