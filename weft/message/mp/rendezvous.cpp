// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

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
  const std::size_t size = ready.size;
  Header notice;
  notice.verb = Verb::part;
  notice.receiver = ready.receiver;
  if (trunk_ != nullptr) {
    write_measured(send, ready, notice);
    return;
  }
  const auto least = static_cast<std::size_t>(options_.stripe_min.count);
  const int wanted = send->tuning == nullptr ? 0 : send->tuning->rails;
  const int rails = fabric_.rails.rail_count(send->peer);
  const int most = wanted > 0 ? std::min(wanted, rails) : rails;
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
    const RailId rail = count == 1 ? sender_.quickest_rail(send->peer) : RailId(i);
    notice.key = start;
    fabric_.transport.write({send->peer, rail, gap}, {data, length}, {ready.key, start},
                            encode(notice), RequestTable::id_of(send));
    start = ends[i];
  }
}

// Where each rail's part ends: equal parts, or proportional to the rates of the rails.
std::vector<std::size_t> Rendezvous::part_ends(RankId peer, std::size_t size,
                                               std::uint32_t count) const {
  std::vector<std::uint64_t> weights(count, 1);
  if (options_.split == Split::proportional) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Rate rate = fabric_.rails.rail_facts(peer, RailId(i)).rate;
      const auto bit_per_s = static_cast<std::uint64_t>(rate.in_bit_per_s());
      weights[i] = std::max<std::uint64_t>(bit_per_s / 1'000'000, 1);
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
