// SPDX-License-Identifier: Apache-2.0
// What belongs to one worker: mailboxes to the others, counters, scratch memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/network/route/policy.hpp>
#include <weft/simulate/router/card_queues.hpp>
#include <weft/simulate/router/network.hpp>
#include <weft/simulate/router/news_item.hpp>
#include <weft/simulate/router/records.hpp>
#include <weft/simulate/router/tables.hpp>

namespace weft::detail {

struct PacketMail {
  InputIndex input;
  RouterIndex router;
  Slot packet;
};
struct CreditMail {
  InputIndex mirror;
  std::int64_t stamp_at;
};
struct NewsMail {
  RouterIndex router;
  NewsItem item;
};
// From one worker to another.
struct Mailbox {
  std::vector<PacketMail> packets;
  std::vector<CreditMail> credits;
  std::vector<NewsMail> news;
  std::vector<std::uint32_t> messages;  // Delivered ones, back to the worker that made them.
};

// On cache lines of its own.
struct alignas(128) Worker {
  Worker(MessagePools& messages, SendOrder order) : card_queues(messages, order) {}

  NetworkCounts counts;
  std::int64_t mailed_at = INT64_MAX;  // The earliest time that matters in what it has mailed.
  int side = 0;                        // Side of `mail` written in this window; the other is read.
  std::vector<Mailbox> mail[2];        // By receiving worker.
  std::int64_t failed_at = never_at;
  RouterId failed_router{};
  std::string failure;
  Choices choices;  // Scratch: too large to be cleared for every head.
  CardQueues card_queues;
};

}  // namespace weft::detail
