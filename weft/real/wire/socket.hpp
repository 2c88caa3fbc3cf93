// SPDX-License-Identifier: Apache-2.0
// The sockets of a rail: bound to its address and interface, never blocking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/real/locality/interfaces.hpp>

namespace weft::wire {

// Owns a descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

// Listens on the interface's own address alone; the port is the system's choice.
Result<Descriptor> listen_on(const locality::Interface& interface);
Result<std::uint16_t> port_of(const Descriptor& listener);
// Begins to connect; writable when it has succeeded or failed (see error_of).
Result<Descriptor> connect_from(const locality::Interface& interface, const locality::Address& to,
                                std::uint16_t port);
// Also tells where the caller is: `local` if it has no address but is a process of this host.
Descriptor accept_from(const Descriptor& listener, locality::Address& from, bool& local);
int error_of(const Descriptor& socket);
// A call to a free port of this host may get that very port for its own end, and is then answered
// by itself.
bool is_its_own_peer(const Descriptor& socket);
// No Nagle delay, keep-alive probes that notice silent peers, buffers for bursts.
void prepare(const Descriptor& socket, Duration lost_after);

// The number of descriptors that this process may still open.
std::uint32_t descriptors_left();

// What the kernel knows of a connection.
struct Health {
  Duration round_trip;
  Duration silent;    // Since the peer last acknowledged anything.
  bool open = false;  // Its window is open, or it must acknowledge something: silence is trouble.
  std::uint64_t delivered = 0;  // Recent rate, in bytes per second.
};
Health health_of(const Descriptor& socket);
// Bytes written into the socket that the peer has not acknowledged.
std::size_t unacknowledged(const Descriptor& socket);
// Acknowledges received data now, instead of with the next packet in the other direction.
void acknowledge(const Descriptor& socket);
// Makes the socket readable only when this many bytes have arrived.
void wake_from(const Descriptor& socket, std::size_t bytes);
// Makes the socket writable only while fewer bytes than this wait unsent in the kernel.
void hold_at_most(const Descriptor& socket, std::size_t unsent);
// Ends what the kernel takes from the peer and acknowledges. What it has taken can still be read.
void stop_receiving(const Descriptor& socket);
// Discards what is in flight; the peer sees a reset if it can be reached.
void reset(Descriptor& socket);

}  // namespace weft::wire
