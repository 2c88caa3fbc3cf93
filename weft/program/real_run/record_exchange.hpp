// SPDX-License-Identifier: Apache-2.0
// The exchange between ranks and rank 0 for the record, over the message layer but separate from
// the program's messages. Every wait has a time limit.
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

class RecordExchange {
 public:
  explicit RecordExchange(mp::Messenger& messenger) : messenger_(messenger) {}

  // Sends to rank 0 when it asks: rank 0 holds the data of one rank at a time. Returns false on
  // failure.
  bool give(std::vector<std::byte> bytes);
  // In rank 0. Empty if the rank is lost or silent for too long.
  std::optional<std::vector<std::byte>> take(RankId from, Time deadline);

  // How far a node's clock is ahead of rank 0's, from the exchange with the shortest round trip.
  struct Clock {
    std::int64_t at_ns = 0;  // On the other node's clock.
    std::int64_t ahead_ns = 0;
  };
  // In rank 0, while the other rank runs answer_clock().
  std::optional<Clock> ask_clock(RankId other, const std::function<std::int64_t()>& clock_ns);
  void answer_clock(const std::function<std::int64_t()>& clock_ns);

  static constexpr Duration silence_max = Duration::ms(30'000);  // For one rank that rank 0 asks.
  static constexpr Duration gather_max = Duration::ms(100'000);  // For all ranks together.
  static constexpr Duration give_most = Duration::ms(120'000);

 private:
  using Bytes = std::vector<std::byte>;
  // Waits. The bytes must stay in place as long as the network may use them.
  bool finish(mp::Request* request, Bytes& bytes, Time deadline);
  bool send(RankId to, int tag, Bytes bytes, Time deadline, bool synchronous);
  std::optional<Bytes> receive(RankId from, int tag, std::size_t size, Time deadline);

  mp::Messenger& messenger_;
};

}  // namespace weft
