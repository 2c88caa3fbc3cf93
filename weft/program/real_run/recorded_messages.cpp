// SPDX-License-Identifier: Apache-2.0
#include "recorded_messages.hpp"

namespace weft {

void RecordedMessages::sending(const MessageFacts& message) {
  const std::uint32_t to = message.destination.index;
  if (counts_ && to < ranks_) {
    Traffic& traffic = traffic_[to];
    ++traffic.messages;
    traffic.bytes += message.size;
  }
  if (!logs(message)) return;
  log_->message(EventKind::send, now_ns(), {to, message.context, message.tag, message.size});
}

void RecordedMessages::arrived(const MessageFacts& message) {
  if (!logs(message)) return;
  log_->message(EventKind::receive, now_ns(),
                {message.source.index, message.context, message.tag, message.size});
}

void RecordedMessages::announced(const MessageFacts& message, std::uint64_t number) {
  if (!logs(message)) return;
  const std::uint32_t from = message.source.index;
  log_->message(EventKind::receive_begin, now_ns(),
                {from, message.context, message.tag, message.size}, ++numbers_);
  announced_[{from, number}] = numbers_;
}

void RecordedMessages::completed(RankId source, std::uint64_t number) {
  const auto found = announced_.find({source.index, number});
  if (found == announced_.end()) return;
  if (log_ != nullptr) log_->receive_end(now_ns(), found->second);
  announced_.erase(found);
}

void RecordedMessages::withdrawn(RankId source, std::uint64_t number) {
  announced_.erase({source.index, number});
}

}  // namespace weft
