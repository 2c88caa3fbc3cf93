// SPDX-License-Identifier: Apache-2.0
// The processes that share one simulation. Between any two of them run ordered streams of byte
// strings; everything else is made of these. What a simulation says must not depend on how many
// there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

using PeerBytes = std::vector<std::byte>;

// Streams that do not wait for each other.
enum class PeerStream : std::uint8_t {
  windows,   // What neighbours owe each other for every window.
  messages,  // What a receiver must know about messages that are under way to it.
  together,  // Calls that all make.
};
inline constexpr int peer_streams = 3;

class Peers {
 public:
  virtual ~Peers() = default;
  virtual int self() const = 0;
  virtual int count() const = 0;
  // Never waits for the receiver.
  virtual void send(int to, PeerStream stream, PeerBytes data) = 0;
  // Waits for the next one of this stream.
  virtual PeerBytes receive(int from, PeerStream stream) = 0;
  // Ends all processes; process 0's users read `text` once.
  [[noreturn]] virtual void abort(int code, const std::string& text) = 0;

  // All processes make these calls, in the same order; all get the same.
  // The least of each number.
  void least(std::span<std::int64_t> numbers);
  std::int64_t least(std::int64_t number) {
    least({&number, 1});
    return number;
  }
  // Everyone's, by process.
  std::vector<PeerBytes> share(PeerBytes mine);
  // Only process 0 gets them; the others get nothing.
  std::vector<PeerBytes> gather(PeerBytes mine);
  // Process 0's.
  PeerBytes spread(PeerBytes mine);
};

}  // namespace weft
