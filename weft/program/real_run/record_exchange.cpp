// SPDX-License-Identifier: Apache-2.0
#include "record_exchange.hpp"

#include <algorithm>
#include <cstring>

#include <weft/program/real_run/recorded_messages.hpp>

namespace weft {

namespace {

constexpr int size_tag = 1, data_tag = 2, ask_tag = 3, answer_tag = 4;
constexpr int clock_rounds = 40;
constexpr RankId collector(0);
// Polling interval for what no message announces: a stalled rail, a deadline.
constexpr Duration poll_interval = Duration::ms(2);

template <typename Value>
std::vector<std::byte> bytes_of(const Value& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename Value>
Value value_of(const std::vector<std::byte>& bytes) {
  Value value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

bool RecordExchange::finish(mp::Request* request, Bytes& bytes, Time deadline) {
  const Fabric& fabric = messenger_.fabric();
  for (messenger_.progress(); !request->done; messenger_.progress()) {
    const Time now = fabric.processor.now();
    if (now >= deadline) {
      // Leaked on purpose: the network may still access the buffer, and the process is about to
      // end.
      static_cast<void>(new Bytes(std::move(bytes)));
      messenger_.release(request);
      return false;
    }
    fabric.transport.wait(std::min(deadline, now + poll_interval));
  }
  const bool fine = !request->failed && !request->arrival.cancelled && !request->arrival.truncated;
  messenger_.release(request);
  return fine;
}

bool RecordExchange::send(RankId to, int tag, Bytes bytes, Time deadline, bool synchronous) {
  mp::Sending sending;
  sending.to = to;
  sending.context = record_context;
  sending.source = static_cast<int>(messenger_.fabric().self.index);
  sending.tag = tag;
  sending.data = bytes.data();
  sending.size = bytes.size();
  sending.synchronous = synchronous;
  sending.internal = true;
  return finish(messenger_.send(sending), bytes, deadline);
}

std::optional<RecordExchange::Bytes> RecordExchange::receive(RankId from, int tag, std::size_t size,
                                                             Time deadline) {
  Bytes bytes(size);
  mp::Receiving receiving;
  receiving.context = record_context;
  receiving.source = static_cast<int>(from.index);
  receiving.from = from;
  receiving.tag = tag;
  receiving.data = bytes.data();
  receiving.size = size;
  receiving.internal = true;
  mp::Request* const request = messenger_.receive(receiving);
  if (!finish(request, bytes, deadline)) return std::nullopt;
  return bytes;
}

bool RecordExchange::give(std::vector<std::byte> bytes) {
  const Time deadline = messenger_.fabric().processor.now() + give_most;
  const std::uint64_t size = bytes.size();
  if (!send(collector, size_tag, bytes_of(size), deadline, false)) return false;
  // Synchronous: the data stays here until rank 0 has posted its receive.
  return send(collector, data_tag, std::move(bytes), deadline, true);
}

std::optional<std::vector<std::byte>> RecordExchange::take(RankId from, Time deadline) {
  deadline = std::min(deadline, messenger_.fabric().processor.now() + silence_max);
  const auto size = receive(from, size_tag, sizeof(std::uint64_t), deadline);
  if (!size) return std::nullopt;
  return receive(from, data_tag, value_of<std::uint64_t>(*size), deadline);
}

std::optional<RecordExchange::Clock> RecordExchange::ask_clock(
    RankId other, const std::function<std::int64_t()>& clock_ns) {
  const Time deadline = messenger_.fabric().processor.now() + silence_max;
  std::optional<Clock> best;
  std::int64_t least = 0;
  for (int round = 0; round < clock_rounds; ++round) {
    const std::int64_t before = clock_ns();
    if (!send(other, ask_tag, bytes_of(before), deadline, false)) break;
    const auto answer = receive(other, answer_tag, sizeof(std::int64_t), deadline);
    const std::int64_t after = clock_ns();
    if (!answer) break;
    if (best && after - before >= least) continue;
    least = after - before;
    const auto theirs = value_of<std::int64_t>(*answer);
    best = Clock{theirs, theirs - (before + least / 2)};
  }
  return best;
}

void RecordExchange::answer_clock(const std::function<std::int64_t()>& clock_ns) {
  const Time deadline = messenger_.fabric().processor.now() + give_most;
  for (int round = 0; round < clock_rounds; ++round) {
    if (!receive(collector, ask_tag, sizeof(std::int64_t), deadline)) return;
    if (!send(collector, answer_tag, bytes_of(clock_ns()), deadline, false)) return;
  }
}

}  // namespace weft
