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
    receive->region = fabric_.transport.register_memory(message.peer, receive->data, size);
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
  const Duration gap = send->tuning == nullptr ? Duration::zero() : send->tuning->gap;
  const std::vector<RailPart> parts = sender_.rails().cut(send->peer, ready.size, send->tuning);
  send->parts_open = static_cast<std::uint16_t>(parts.size());
  for (const RailPart& part : parts) {
    const std::byte* const data = send->data == nullptr ? nullptr : send->data + part.offset;
    notice.key = part.offset;
    fabric_.transport.write({send->peer, part.rail, gap}, {data, part.size},
                            {ready.key, part.offset}, encode(notice), RequestTable::id_of(send));
  }
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
  if (trunk_ != nullptr && Trunk::owns(cookie)) {
    cookie = trunk_->delivered(cookie);
    if (cookie == 0) return;
  }
  Request* const request = requests_.find(cookie);
  if (request != nullptr && request->parts_open > 0 && --request->parts_open == 0) {
    requests_.complete(request);
  }
}

}  // namespace weft::mp
