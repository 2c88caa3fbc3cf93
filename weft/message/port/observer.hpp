// SPDX-License-Identifier: Apache-2.0
// What the message layer tells about itself: which messages it sends and receives, and what a rank
// waits for. Observers need not understand the frames in which messages travel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/port/rank.hpp>

namespace weft {

// A message, as the message layer names it.
struct MessageFacts {
  enum class Protocol : std::uint8_t { eager, rendezvous };
  RankId source, destination;
  std::uint32_t context = 0;  // Messages of different contexts never meet.
  int tag = 0;
  std::size_t size = 0;
  Protocol protocol = Protocol::eager;
};

// What a rank waits for; asked when no rank can proceed.
struct Waiting {
  std::string call;  // "MPI_Recv"
  std::string what;  // "a message from rank 3 with tag 7"
  std::vector<RankId> on;
  std::uint32_t thread = 0;  // Its number in the rank.
};
class WaitTeller {
 public:
  virtual ~WaitTeller() = default;
  virtual Waiting waiting() const = 0;
  // Of a rank with several threads: those that wait in calls.
  virtual std::vector<Waiting> threads_waiting() const { return {}; }
  // How long the rank has done nothing but poll.
  virtual Duration idle() const { return {}; }
};

class MessageObserver {
 public:
  virtual ~MessageObserver() = default;

  // A message is about to be sent.
  virtual void sending(const MessageFacts& /*message*/) {}
  // An eager message has arrived, whole.
  virtual void arrived(const MessageFacts& /*message*/) {}
  // A rendezvous message is announced; its data follows. The number names it among the messages of
  // its source until it is completed or withdrawn.
  virtual void announced(const MessageFacts& /*message*/, std::uint64_t /*number*/) {}
  virtual void completed(RankId /*source*/, std::uint64_t /*number*/) {}
  virtual void withdrawn(RankId /*source*/, std::uint64_t /*number*/) {}

  // The object that can say what the rank waits for; null: none.
  virtual void set_teller(const WaitTeller* /*teller*/) {}
};

}  // namespace weft
