// SPDX-License-Identifier: Apache-2.0
// TCP connections that are being opened: the two sides of the handshake over sockets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <weft/base/units.hpp>
#include <weft/real/wire/handshake.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

enum class Step : std::uint8_t { wait, done, failed };

// We connect to a peer.
class Dial {
 public:
  Dial(Descriptor socket, const JobSecret& secret, const Claim& claim, Time now)
      : socket_(std::move(socket)), secret_(secret), claim_(claim), since_(now) {}

  // To be called whenever the socket is ready.
  Step advance();
  Verdict verdict() const { return verdict_; }
  const Claim& claim() const { return claim_; }
  SessionKeys keys() const { return session_keys(secret_, theirs_, said_, false); }
  const Descriptor& socket() const { return socket_; }
  Descriptor take() { return std::move(socket_); }
  Time since() const { return since_; }
  bool connecting() const { return stage_ == Stage::connecting; }
  bool proving() const { return stage_ == Stage::verdict; }  // We have, and await the verdict.

 private:
  enum class Stage : std::uint8_t { connecting, challenge, verdict };
  Step read(std::size_t size);

  Descriptor socket_;
  const JobSecret& secret_;
  Claim claim_;
  Time since_;
  Stage stage_ = Stage::connecting;
  std::array<std::byte, verdict_size> room_ = {};
  std::size_t got_ = 0;
  Challenge theirs_ = {};
  AnswerBytes said_ = {};
  Verdict verdict_ = Verdict::welcome;
};

// A peer connects to us; whether it is one must be proved.
class Caller {
 public:
  Caller(Descriptor socket, const JobSecret& secret, Time now);

  // done: the peer has proved its claim() and awaits the verdict.
  Step advance();
  const Claim& claim() const { return *claim_; }
  SessionKeys keys() const { return session_keys(secret_, ours_, room_, true); }
  bool answer(Verdict verdict);  // false: the peer has hung up.
  const Descriptor& socket() const { return socket_; }
  Descriptor take() { return std::move(socket_); }
  Time since() const { return since_; }

 private:
  Descriptor socket_;
  const JobSecret& secret_;
  Time since_;
  Challenge ours_;
  AnswerBytes room_ = {};
  std::size_t got_ = 0;
  bool failed_ = false;
  std::optional<Claim> claim_;
};

}  // namespace weft::wire
