// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <weft/message/mp/rendezvous.hpp>

namespace weft::mp {

void Rendezvous::answer(Request* receive, const Envelope& message) {
  const std::size_t size = std::min(receive->size, message.arrival.size);
  receive->missing = size;
  receive->sender = message.sender;
  if (message.ahead > 0) sender_.owe_credit(message.peer, message.ahead);
  if (HeadStarts::is_all(message)) {
    if (size == 0) requests_.complete_data(receive);
    return;
  }
  Header header;
  header.verb = Verb::ready;
  header.internal = message.internal;
  header.sender = message.sender;
  header.receiver = RequestTable::id_of(receive);
  header.size = size;
  if (receive->data != nullptr && size > message.ahead) {
    receive->region = transport_.register_memory(message.peer, receive->data, size);
    header.key = receive->region;
  }
  sender_.answer(message.peer, header);
  if (size == 0) requests_.complete_data(receive);
}

void Rendezvous::on_ready(const Header& header, RankId peer) {
  Request* const request = requests_.find(header.sender);
  if (request == nullptr || request->kind != Request::Kind::send || request->peer != peer ||
      request->matched || header.size > request->size) {
    return;
  }
  request->matched = true;
  if (header.size <= request->ahead) {
    requests_.complete(request);
  } else {
    write_parts(request, header);
  }
}

void Rendezvous::write_measured(Request* send, const Header& ready, const Header& notice) {
  send->parts_open = 1;
  Trunk::Load load;
  load.id = RequestTable::id_of(send);
  load.peer = send->peer;
  load.data = {send->data == nullptr ? nullptr : send->data + send->ahead,
               ready.size - send->ahead};
  load.key = ready.key;
  load.offset = send->ahead;
  load.notice = notice;
  load.tuning = send->tuning;
  trunk_->begin(load);
}

void Rendezvous::write_parts(Request* send, const Header& ready) {
  Header notice;
  notice.verb = Verb::part;
  notice.receiver = ready.receiver;
  if (trunk_ != nullptr) {
    write_measured(send, ready, notice);
    return;
  }
  CutMessages::Message message;
  message.id = RequestTable::id_of(send);
  message.peer = send->peer;
  message.data = send->data;
  message.key = ready.key;
  message.notice = notice;
  message.tuning = send->tuning;
  send->parts_open = cut_messages_.begin(message, ready.size);
}

void Rendezvous::on_unsent(std::uint64_t cookie) {
  if (trunk_ != nullptr) {
    trunk_->returned(cookie);
  } else {
    add_parts(cut_messages_.returned(cookie));
  }
}

void Rendezvous::on_rail_change(const Completion& change) {
  if (trunk_ != nullptr) {
    trunk_->rail_changed(change.peer, change.rail);
  } else if (change.kind == Completion::Kind::rail_up) {
    for (const CutMessages::Returned& part : cut_messages_.rail_up(change.peer)) add_parts(part);
  }
}

void Rendezvous::forget(RankId peer) {
  if (trunk_ != nullptr) trunk_->forget(peer);
  cut_messages_.forget(peer);
}

void Rendezvous::add_parts(const CutMessages::Returned& part) {
  Request* const send = requests_.find(part.id);
  if (send != nullptr) send->parts_open = static_cast<std::uint16_t>(send->parts_open + part.added);
}

void Rendezvous::on_part(const Header& header, const Completion& completion) {
  Request* const request = requests_.find(header.receiver);
  if (request == nullptr || request->kind != Request::Kind::receive || !request->matched ||
      request->peer != completion.peer) {
    return;
  }
  const std::size_t total = std::min(request->size, request->arrival.size);
  if (header.key > total || completion.size > total - header.key) return;
  requests_.add_arrived(request, header.key, completion.size);
}

void Rendezvous::on_sent(std::uint64_t cookie) {
  if (Trunk::owns(cookie)) {
    cookie = trunk_ != nullptr ? trunk_->delivered(cookie) : cut_messages_.delivered(cookie);
    if (cookie == 0) return;
  }
  Request* const request = requests_.find(cookie);
  if (request != nullptr && request->parts_open > 0 && --request->parts_open == 0) {
    requests_.complete(request);
  }
}

}  // namespace weft::mp
