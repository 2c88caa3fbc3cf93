// SPDX-License-Identifier: Apache-2.0
// The head start of large messages: what goes with the request.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/message/mp/covered.hpp>
#include <weft/message/mp/header.hpp>
#include <weft/message/mp/heads.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/peers.hpp>
#include <weft/message/mp/trunk.hpp>

namespace weft::mp {

// As much as the receiver has room for; nothing where memory is shared, as that is quicker.
std::size_t Messenger::ahead_of(const Sending& sending) {
  const bool wished =
      sending.tuning == nullptr || sending.tuning->protocol == Tuning::Protocol::by_size;
  const auto most = static_cast<std::size_t>(options_.head_start.count);
  if (trunk_ == nullptr || most == 0 || !wished || sending.synchronous ||
      !fabric_.connections.needs_connection(sending.to) || !trunk_->alike(sending.to)) {
    return 0;
  }
  const std::size_t ahead = std::min(sending.size, most);
  return peers_->draw(sending.to, ahead, options_.credit) ? ahead : 0;
}

void Messenger::send_ahead(Request* request) {
  fabric_.processor.copy(nullptr, nullptr, request->ahead);  // Into the library's memory.
  Header head;
  head.verb = Verb::head;
  head.internal = request->internal;
  head.sender = id_of(request);
  const bool whole = request->ahead == request->size;
  Trunk::Load load;
  load.id = whole ? id_of(request) : 0;
  load.peer = request->peer;
  load.data = {request->data, request->ahead};
  load.notice = head;
  load.tuning = request->tuning;
  load.frames = true;
  if (whole) request->parts_open = 1;
  if (trunk_->begin(load) && whole) complete(request);
}

// An envelope has come whose head start is under way, or was even quicker.
void Messenger::expect_heads(const Envelope& message, std::uint64_t receive,
                             UnexpectedRecord* record) {
  if (message.ahead == 0) return;
  Heads::Entry& entry = heads_->open[{message.peer.index, message.sender}];
  entry.receive = receive;
  entry.record = record;
  entry.missing = message.ahead;
  std::vector<Completion> early = std::move(entry.early);
  for (Completion& completion : early) on_head(decode(completion.head), completion);
}

void Messenger::on_head(const Header& header, Completion& completion) {
  const auto key = std::pair(completion.peer.index, header.sender);
  Heads::Entry& entry = heads_->open[key];
  if (entry.receive == 0 && entry.record == nullptr) {
    keep_data(completion);
    entry.early.push_back(std::move(completion));
    return;
  }
  const std::byte* const data = completion.lent ? completion.lent : completion.data.get();
  const std::size_t size = std::min(completion.size, entry.missing);
  const std::uint64_t receive = entry.receive;
  UnexpectedRecord* const record = entry.record;
  entry.missing -= size;
  if (entry.missing == 0) heads_->open.erase(key);
  if (record != nullptr) {
    keep_head(*record, {header.key, size}, data);
  } else if (Request* const request = find(receive)) {
    take_head(request, {header.key, size}, data);
  }
}

void Messenger::keep_head(UnexpectedRecord& record, Stretch part, const std::byte* data) {
  if (part.offset > record.ahead || part.size > record.ahead - part.offset) return;
  record.came.push_back(part);
  if (data == nullptr) return;
  if (record.data == nullptr) {
    record.data = std::make_unique_for_overwrite<std::byte[]>(record.ahead);
  }
  std::memcpy(record.data.get() + part.offset, data, part.size);
}

void Messenger::take_head(Request* receive, Stretch part, const std::byte* data) {
  const std::size_t total = std::min(receive->size, receive->arrival.size);
  if (receive->done || part.offset >= total) return;
  const std::size_t size = std::min(part.size, total - part.offset);
  std::byte* const to = receive->data == nullptr ? nullptr : receive->data + part.offset;
  fabric_.processor.copy(to, data, size);
  arrived(receive, part.offset, size);
}

// The receive has come: what is here, and what will be.
void Messenger::take_heads(Request* receive, const UnexpectedRecord& record) {
  const auto found = heads_->open.find({record.peer.index, record.sender});
  if (found != heads_->open.end()) {
    found->second.receive = id_of(receive);
    found->second.record = nullptr;
  }
  const std::uint64_t id = id_of(receive);
  for (const Stretch& part : record.came) {
    if (find(id) == nullptr) return;  // It was complete, and nobody holds it.
    take_head(receive, part, record.data == nullptr ? nullptr : record.data.get() + part.offset);
  }
}

bool Messenger::is_whole(const UnexpectedRecord& record) {
  std::size_t sum = 0;
  for (const Stretch& part : record.came) sum += part.size;
  return sum == record.ahead;
}

void Messenger::arrived(Request* receive, std::size_t offset, std::size_t size) {
  const std::size_t total = std::min(receive->size, receive->arrival.size);
  std::size_t fresh = size;
  if (fresh < total) {
    if (receive->covered == nullptr) receive->covered = std::make_unique<Covered>();
    fresh = receive->covered->add(offset, size);
  }
  receive->missing -= std::min(fresh, receive->missing);
  if (receive->missing == 0 && !receive->done) finish_receive(receive);
}

// The data of a rendezvous is complete.
void Messenger::finish_receive(Request* receive) {
  if (fabric_.observer != nullptr) fabric_.observer->completed(receive->peer, receive->sender);
  complete(receive);
}

}  // namespace weft::mp
