// SPDX-License-Identifier: Apache-2.0
// What the network brings. Large messages: request -> ready -> writes over the rails, each with a
// notice -> done when all have been noticed.
#include <algorithm>
#include <cstring>

#include <weft/base/check.hpp>
#include <weft/message/mp/header.hpp>
#include <weft/message/mp/heads.hpp>
#include <weft/message/mp/matching.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/peers.hpp>
#include <weft/message/mp/slab.hpp>
#include <weft/message/mp/trunk.hpp>

namespace weft::mp {

void Messenger::handle(Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::frame:
    case Completion::Kind::written:
      if (fabric_.ordered) {
        handle_frame(decode(completion.head), completion);
      } else {
        handle_in_order(decode(completion.head), completion);
      }
      break;
    case Completion::Kind::sent:
      finish_part(completion.cookie);
      break;
    case Completion::Kind::unsent:
      WEFT_CHECK(trunk_ != nullptr);  // Only who cuts messages by measure can mend them.
      trunk_->returned(completion.cookie);
      break;
    case Completion::Kind::peer_lost:
      on_peer_lost(completion.peer);
      break;
    case Completion::Kind::rail_up:
    case Completion::Kind::rail_down:
      if (trunk_ != nullptr) trunk_->rail_changed(completion.peer, completion.rail);
      break;
    case Completion::Kind::refused:
      break;
  }
}

void Messenger::finish_part(std::uint64_t cookie) {
  if (trunk_ != nullptr && Trunk::owns(cookie)) {
    cookie = trunk_->delivered(cookie);
    if (cookie == 0) return;
  }
  Request* const request = find(cookie);
  if (request != nullptr && request->parts_open > 0 && --request->parts_open == 0) {
    complete(request);
  }
}

// Envelopes of a peer, and second thoughts about them, are looked at in the order they were sent;
// nothing else has an order.
void Messenger::handle_in_order(const Header& header, Completion& completion) {
  const bool envelope =
      header.verb == Verb::eager || header.verb == Verb::request || header.verb == Verb::cancel;
  if (!envelope) {
    handle_frame(header, completion);
    return;
  }
  const RankId peer = completion.peer;
  if (header.sequence != (*peers_)[peer].seen) {
    peers_->hold(peer, header.sequence, std::move(completion));
    return;
  }
  do {
    ++(*peers_)[peer].seen;
    handle_frame(decode(completion.head), completion);
  } while (peers_->take(peer, (*peers_)[peer].seen, completion));
}

void Messenger::handle_frame(const Header& header, Completion& completion) {
  peers_->give_back(completion.peer, header.credit);
  switch (header.verb) {
    case Verb::eager:
    case Verb::request:
      on_envelope(header, completion);
      break;
    case Verb::ready:
      on_ready(header, completion.peer);
      break;
    case Verb::part:
      on_part(header, completion);
      break;
    case Verb::head:
      on_head(header, completion);
      break;
    case Verb::cancel:
      on_cancel(header, completion.peer);
      break;
    case Verb::cancel_reply:
      on_cancel_reply(header);
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
  const std::byte* const data = completion.lent ? completion.lent : completion.data.get();
  if (request != nullptr && header.verb == Verb::eager) {  // Most of all, and in a hurry.
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
    const std::uint64_t id = id_of(request);
    accept(request, envelope, data);
    expect_heads(envelope, id, nullptr);
    return;
  }
  ++use_.unexpected;
  auto record = std::make_unique<UnexpectedRecord>();
  static_cast<Envelope&>(*record) = envelope;
  keep_data(completion);
  record->data = std::move(completion.data);
  UnexpectedRecord* const kept = record.get();
  matching_->add_unexpected(std::move(record));
  expect_heads(envelope, 0, kept);
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
  answer_request(receive, message);
}

void Messenger::accept_eager(Request* receive, const Arrival& arrival, const std::byte* data) {
  const RankId peer = receive->peer;
  receive->matched = true;
  receive->arrival = arrival;
  receive->arrival.truncated = arrival.size > receive->size;
  fabric_.processor.copy(receive->data, data, std::min(receive->size, arrival.size));
  complete(receive);
  owe_credit(peer, arrival.size);
}

void Messenger::accept(Request* receive, const UnexpectedRecord& record) {
  if (is_lost(record.peer) && !is_whole(record)) {
    receive->matched = true;
    fail(*receive);
    return;
  }
  const std::uint64_t id = id_of(receive);
  accept(receive, record, record.data.get());
  if (record.ahead > 0 && find(id) != nullptr) take_heads(receive, record);
}

void Messenger::answer_request(Request* receive, const Envelope& message) {
  const bool all_comes = message.ahead >= message.arrival.size && message.ahead > 0;
  if (is_lost(message.peer) && !all_comes) {  // It asked, and was gone before anybody answered.
    fail(*receive);
    return;
  }
  const std::size_t size = std::min(receive->size, message.arrival.size);
  receive->missing = size;
  receive->sender = message.sender;
  if (message.ahead > 0) owe_credit(message.peer, message.ahead);
  if (all_comes) {
    if (size == 0) finish_receive(receive);
    return;
  }
  Header header;
  header.verb = Verb::ready;
  header.internal = message.internal;
  header.sender = message.sender;
  header.receiver = id_of(receive);
  header.size = size;
  if (receive->data != nullptr && size > message.ahead) {
    receive->region = fabric_.transport.register_memory(message.peer, receive->data, size);
    header.key = receive->region;
  }
  answer(message.peer, header);
  if (size == 0) finish_receive(receive);
}

void Messenger::on_ready(const Header& header, RankId peer) {
  Request* const request = find(header.sender);
  if (request == nullptr || request->kind != Request::Kind::send || request->peer != peer ||
      request->matched || header.size > request->size) {
    return;
  }
  request->matched = true;
  if (header.size <= request->ahead) {
    complete(request);
  } else {
    write_parts(request, header);
  }
}

void Messenger::write_parts(Request* send, const Header& ready) {
  const std::size_t size = ready.size;
  Header notice;
  notice.verb = Verb::part;
  notice.receiver = ready.receiver;
  if (trunk_ != nullptr) {
    send->parts_open = 1;
    Trunk::Load load;
    load.id = id_of(send);
    load.peer = send->peer;
    load.data = {send->data == nullptr ? nullptr : send->data + send->ahead, size - send->ahead};
    load.key = ready.key;
    load.offset = send->ahead;
    load.notice = notice;
    load.tuning = send->tuning;
    trunk_->begin(load);
    return;
  }
  const auto least = static_cast<std::size_t>(options_.stripe_min.count);
  const int wish = send->tuning == nullptr ? 0 : send->tuning->rails;
  const int rails = fabric_.rails.rail_count(send->peer);
  const int most = wish > 0 ? std::min(wish, rails) : rails;
  const auto count = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(size / least, 1, static_cast<std::size_t>(most)));
  const Duration gap = send->tuning == nullptr ? Duration::zero() : send->tuning->gap;
  const std::vector<std::size_t> ends = part_ends(send->peer, size, count);
  send->parts_open = static_cast<std::uint16_t>(
      std::count_if(ends.begin(), ends.end(), [last = std::size_t{0}](std::size_t end) mutable {
        return std::exchange(last, end) != end;
      }));
  std::size_t start = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t length = ends[i] - start;
    if (length == 0) continue;
    const std::byte* const data = send->data == nullptr ? nullptr : send->data + start;
    const RailId rail = count == 1 ? small_rail(send->peer) : RailId(i);
    notice.key = start;
    fabric_.transport.write({send->peer, rail, gap}, {data, length}, {ready.key, start},
                            encode(notice), id_of(send));
    start = ends[i];
  }
}

// Where each rail's part ends; equal, or by what the rails can carry.
std::vector<std::size_t> Messenger::part_ends(RankId peer, std::size_t size,
                                              std::uint32_t count) const {
  std::vector<std::uint64_t> weights(count, 1);
  if (options_.split == Split::proportional) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto rate =
          static_cast<std::uint64_t>(fabric_.rails.rail_facts(peer, RailId(i)).rate.in_bit_per_s());
      weights[i] = std::max<std::uint64_t>(rate / 1'000'000, 1);
    }
  }
  std::uint64_t total = 0, sum = 0;
  for (const std::uint64_t weight : weights) total += weight;
  std::vector<std::size_t> ends(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    sum += weights[i];
    const auto exact = static_cast<detail::UnsignedWide>(size) * sum / total;
    ends[i] = static_cast<std::size_t>(exact);
  }
  return ends;
}

// `key` says where the part begins. A part may come twice.
void Messenger::on_part(const Header& header, const Completion& completion) {
  Request* const request = find(header.receiver);
  if (request == nullptr || request->kind != Request::Kind::receive || !request->matched ||
      request->peer != completion.peer) {
    return;
  }
  const std::size_t total = std::min(request->size, request->arrival.size);
  if (header.key > total || completion.size > total - header.key) return;
  arrived(request, header.key, completion.size);
}

void Messenger::on_cancel(const Header& header, RankId peer) {
  Header reply;
  reply.verb = Verb::cancel_reply;
  reply.sender = header.sender;
  for (UnexpectedRecord* record = matching_->first_unexpected(); record != nullptr;
       record = record->after) {
    if (record->rendezvous && record->peer == peer && record->sender == header.sender) {
      if (!is_whole(*record)) break;  // Data is on its way.
      const std::size_t ahead = record->ahead;
      matching_->remove_unexpected(record);
      if (fabric_.observer != nullptr) fabric_.observer->withdrawn(peer, header.sender);
      if (ahead > 0) owe_credit(peer, ahead);
      reply.size = 1;
      break;
    }
  }
  answer(peer, reply);
}

void Messenger::on_cancel_reply(const Header& header) {
  Request* const request = find(header.sender);
  if (request == nullptr || request->matched || header.size == 0) return;
  request->arrival.cancelled = true;
  complete(request);
}

// Whoever waits for the peer alone waits in vain.
void Messenger::on_peer_lost(RankId peer) {
  lost_.push_back(peer);
  if (trunk_ != nullptr) trunk_->forget(peer);
  std::erase_if(heads_->open, [&](const auto& entry) { return entry.first.first == peer.index; });
  for (Request& request : slab_->requests) {
    const bool its = request.kind != Request::Kind::free && !request.done && request.peer == peer &&
                     (request.kind == Request::Kind::send || request.matched || request.bound);
    if (its) fail(request);
  }
}

void Messenger::fail(Request& request) {
  if (request.kind == Request::Kind::receive && !request.matched) {
    matching_->remove_posted(&request);
  }
  request.failed = true;
  complete(&request);
}

// Sends that are under way come to their end, as the network may still look at their memory.
// Receives do not wait for senders who may have given up; what comes later finds its memory closed.
void Messenger::revoke(ContextId context) {
  if (is_revoked(context)) return;
  revoked_.push_back(context);
  for (Request& request : slab_->requests) {
    const bool open = request.kind != Request::Kind::free && !request.done;
    const bool leaving = request.kind == Request::Kind::send && request.matched;
    if (open && request.context == context && !leaving) fail(request);
  }
}

void Messenger::owe_credit(RankId peer, std::size_t bytes) {
  if (!peers_->owe(peer, bytes, options_.credit)) return;
  Header header;
  header.verb = Verb::credit;
  answer(peer, header);
}

}  // namespace weft::mp
