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
Descriptor accept_from(const Descriptor& listener);
int error_of(const Descriptor& socket);
// Answers at once, notices silent peers, and sends what is small without waiting for more.
void prepare(const Descriptor& socket, Duration lost_after);

// How many more descriptors this process may open.
std::uint32_t descriptors_left();

// What the kernel knows of a connection.
struct Health {
  Duration round_trip;
  Duration silent;    // Since the peer last acknowledged anything.
  bool open = false;  // The peer would take more, or has yet to answer: silence means trouble.
  std::uint64_t delivered = 0;  // Bytes a second, lately.
};
Health health_of(const Descriptor& socket);
// Bytes written into the socket that the peer has not acknowledged.
std::size_t unacknowledged(const Descriptor& socket);
// Acknowledges what has come now, not with the next packet that goes the other way.
void acknowledge(const Descriptor& socket);
// Less than this does not count as something to read.
void wake_from(const Descriptor& socket, std::size_t bytes);
// The socket takes more as long as less than this lies there unsent.
void hold_at_most(const Descriptor& socket, std::size_t unsent);
// Drops what is under way; the peer, if it can be told, sees a reset.
void reset(Descriptor& socket);

}  // namespace weft::wire
