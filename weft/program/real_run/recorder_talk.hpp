// SPDX-License-Identifier: Apache-2.0
// What ranks tell rank 0 for the record, over the message layer but apart from the program's
// messages. Every wait has an end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft {

class RecordTalk {
 public:
  explicit RecordTalk(mp::Messenger& messenger) : messenger_(messenger) {}

  // To rank 0, when it asks for it: it holds the data of one rank at a time. false: it was in vain.
  bool give(std::vector<std::byte> bytes);
  // In rank 0. Null: the rank is lost, or silent for too long.
  std::optional<std::vector<std::byte>> take(RankId from, Time deadline);

  // How far the clock of a node is ahead of that of rank 0, from the exchange of least round trip.
  struct Clock {
    std::int64_t at_ns = 0;  // On the other clock.
    std::int64_t ahead_ns = 0;
  };
  // In rank 0, with a rank that calls answer_clock() at the same time.
  std::optional<Clock> ask_clock(RankId other, const std::function<std::int64_t()>& clock_ns);
  void answer_clock(const std::function<std::int64_t()>& clock_ns);

  static constexpr Duration silence_most = Duration::ms(30'000);  // Of a rank that rank 0 asks.
  static constexpr Duration gather_most = Duration::ms(100'000);  // Of all.
  static constexpr Duration give_most = Duration::ms(120'000);

 private:
  using Bytes = std::vector<std::byte>;
  // Waits; the bytes must stay where they are as long as the network may use them.
  bool finish(mp::Request* request, Bytes& bytes, Time deadline);
  bool send(RankId to, int tag, Bytes bytes, Time deadline, bool synchronous);
  std::optional<Bytes> receive(RankId from, int tag, std::size_t size, Time deadline);

  mp::Messenger& messenger_;
};

}  // namespace weft
