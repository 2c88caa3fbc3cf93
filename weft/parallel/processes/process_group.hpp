// SPDX-License-Identifier: Apache-2.0
// The processes that share one simulation. Ordered streams of byte strings connect any two of them;
// the collective calls are built from these. Results of a simulation must not depend on the number
// of processes.
#pragma once  // Public only for network.hpp: no promise beyond what that one needs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

using PeerBytes = std::vector<std::byte>;

// Independent streams: none waits for another.
enum class PeerStream : std::uint8_t {
  windows,      // Data that neighbours exchange in every window.
  messages,     // Facts about messages that are in flight to the receiver.
  collectives,  // The collective calls below.
};
inline constexpr int peer_streams = 3;

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int self() const = 0;
  virtual int count() const = 0;
  // Never blocks.
  virtual void send(int to, PeerStream stream, PeerBytes data) = 0;
  // Waits for the next byte string of this stream.
  virtual PeerBytes receive(int from, PeerStream stream) = 0;
  // Ends all processes; `text` is printed once.
  [[noreturn]] virtual void abort(int code, const std::string& text) = 0;

  // Collective calls: all processes make them in the same order.
  // The minimum of each number over all processes.
  void all_reduce_min(std::span<std::int64_t> numbers);
  std::int64_t all_reduce_min(std::int64_t number) {
    all_reduce_min({&number, 1});
    return number;
  }
  // Every process's bytes, by process.
  std::vector<PeerBytes> all_gather(PeerBytes mine);
  // Every process's bytes, in process 0; empty in the others.
  std::vector<PeerBytes> gather(PeerBytes mine);
  // The bytes of process 0.
  PeerBytes broadcast(PeerBytes mine);
};

}  // namespace weft
