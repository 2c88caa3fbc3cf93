// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <weft/message/mp/head_starts.hpp>
#include <weft/message/mp/keep_data.hpp>

namespace weft::mp {

// None inside a host: shared memory is quicker.
std::size_t HeadStarts::draw(const Sending& sending) {
  const bool by_size =
      sending.tuning == nullptr || sending.tuning->protocol == Tuning::Protocol::by_size;
  const auto most = static_cast<std::size_t>(options_.head_start.count);
  if (trunk_ == nullptr || most == 0 || !by_size || sending.synchronous ||
      !fabric_.connections.needs_connection(sending.to) || !trunk_->alike(sending.to)) {
    return 0;
  }
  const std::size_t ahead = std::min(sending.size, most);
  return peers_.draw(sending.to, ahead, options_.credit) ? ahead : 0;
}

void HeadStarts::send(Request* request) {
  fabric_.processor.copy(nullptr, nullptr, request->ahead);  // Into the library's memory.
  const std::uint64_t id = RequestTable::id_of(request);
  const bool whole = request->ahead == request->size;
  Trunk::Load load;
  load.id = whole ? id : 0;
  load.peer = request->peer;
  load.data = {request->data, request->ahead};
  load.notice.verb = Verb::head;
  load.notice.internal = request->internal;
  load.notice.sender = id;
  load.tuning = request->tuning;
  load.frames = true;
  if (whole) request->parts_open = 1;
  if (trunk_->begin(load) && whole) requests_.complete(request);
}

void HeadStarts::expect(const Envelope& message, std::uint64_t receive, UnexpectedRecord* record) {
  if (message.ahead == 0) return;
  Expected& expected = expected_[{message.peer.index, message.sender}];
  expected.receive = receive;
  expected.record = record;
  expected.missing = message.ahead;
  std::vector<Completion> early = std::move(expected.early);
  for (Completion& completion : early) on_head(decode(completion.head), completion);
}

void HeadStarts::on_head(const Header& header, Completion& completion) {
  const auto key = std::pair(completion.peer.index, header.sender);
  Expected& expected = expected_[key];
  if (expected.receive == 0 && expected.record == nullptr && !expected.unwanted) {
    keep_data(completion);
    expected.early.push_back(std::move(completion));
    return;
  }
  const std::size_t size = std::min(completion.size, expected.missing);
  const std::uint64_t receive = expected.receive;
  UnexpectedRecord* const record = expected.record;
  expected.missing -= size;
  if (expected.missing == 0) expected_.erase(key);
  if (record != nullptr) {
    keep(*record, {header.key, size}, data_of(completion));
  } else if (Request* const request = requests_.find(receive)) {
    take(request, {header.key, size}, data_of(completion));
  }
}

void HeadStarts::keep(UnexpectedRecord& record, Stretch part, const std::byte* data) {
  if (part.offset > record.ahead || part.size > record.ahead - part.offset) return;
  record.came.push_back(part);
  if (data == nullptr) return;
  if (record.data == nullptr) {
    record.data = std::make_unique_for_overwrite<std::byte[]>(record.ahead);
  }
  std::memcpy(record.data.get() + part.offset, data, part.size);
}

void HeadStarts::take(Request* receive, Stretch part, const std::byte* data) {
  const std::size_t total = std::min(receive->size, receive->arrival.size);
  if (receive->done || part.offset >= total) return;
  const std::size_t size = std::min(part.size, total - part.offset);
  std::byte* const to = receive->data == nullptr ? nullptr : receive->data + part.offset;
  fabric_.processor.copy(to, data, size);
  requests_.add_arrived(receive, part.offset, size);
}

void HeadStarts::hand_over(Request* receive, const UnexpectedRecord& record) {
  const std::uint64_t id = RequestTable::id_of(receive);
  const auto found = expected_.find({record.peer.index, record.sender});
  if (found != expected_.end()) {
    found->second.receive = id;
    found->second.record = nullptr;
  }
  for (const Stretch& part : record.came) {
    if (requests_.find(id) == nullptr) return;  // It was complete, and its caller has released it.
    take(receive, part, record.data == nullptr ? nullptr : record.data.get() + part.offset);
  }
}

void HeadStarts::drop(RankId peer, std::uint64_t sender) {
  const auto found = expected_.find({peer.index, sender});
  if (found == expected_.end()) return;
  found->second.unwanted = true;
  found->second.receive = 0;
  found->second.record = nullptr;
}

void HeadStarts::forget(RankId peer) {
  std::erase_if(expected_, [&](const auto& entry) { return entry.first.first == peer.index; });
}

bool HeadStarts::is_here(const UnexpectedRecord& record) {
  std::size_t sum = 0;
  for (const Stretch& part : record.came) sum += part.size;
  return sum == record.ahead;
}

}  // namespace weft::mp
