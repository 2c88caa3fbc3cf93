// SPDX-License-Identifier: Apache-2.0
// Observes the messages of a rank whose run is recorded: counts them by receiver, and logs them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <weft/message/mp/messenger.hpp>
#include <weft/message/port/observer.hpp>
#include <weft/message/port/processor.hpp>
#include <weft/program/run_record/event_log.hpp>

namespace weft {

// The context of messages about the record itself, which are no part of it.
inline constexpr mp::ContextId record_context = 0xffffffff;

class RecordedMessages final : public MessageObserver {
 public:
  // Messages from and to ranks that started later are not recorded.
  RecordedMessages(const Processor& clock, std::uint32_t ranks) : clock_(clock), ranks_(ranks) {}

  // Null: messages are not logged.
  void set_log(EventLogWriter* log) { log_ = log; }
  // From now on.
  void count_traffic() { counts_ = true; }
  struct Traffic {
    std::uint64_t messages = 0, bytes = 0;
  };
  const std::map<std::uint32_t, Traffic>& traffic() const { return traffic_; }  // By receiver.

  void sending(const MessageFacts& message) override;
  void arrived(const MessageFacts& message) override;
  void announced(const MessageFacts& message, std::uint64_t number) override;
  void completed(RankId source, std::uint64_t number) override;
  void withdrawn(RankId source, std::uint64_t number) override;

 private:
  std::int64_t now_ns() const { return clock_.now().in_ps() / 1000; }
  bool logs(const MessageFacts& message) const {
    return log_ != nullptr && message.context != record_context && message.source.index < ranks_ &&
           message.destination.index < ranks_;
  }

  const Processor& clock_;
  const std::uint32_t ranks_;
  EventLogWriter* log_ = nullptr;
  bool counts_ = false;
  std::map<std::uint32_t, Traffic> traffic_;
  std::uint64_t numbers_ = 0;
  // Announced and not complete, by source and its number: the number in the log.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> announced_;
};

}  // namespace weft
