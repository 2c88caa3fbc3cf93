// SPDX-License-Identifier: Apache-2.0
// Connections of one rank to others, on networks that need them.
#pragma once

#include <weft/message/port/rank.hpp>

namespace weft {

class Connections {
 public:
  virtual ~Connections() = default;

  // Opens the rails to a peer. Both sides hear `rail_up`, or the caller hears `refused`. (A frame
  // or write to a peer that is not connected opens them, too.)
  virtual void connect(RankId peer) = 0;
  // Closes the rails to a peer. Both sides call it, after they have agreed that nothing is under
  // way. The peer is not lost: connect opens the rails again.
  virtual void disconnect(RankId peer) = 0;
  virtual bool connected(RankId peer) const = 0;
  // false: reaching the peer costs nothing to keep (this rank itself, shared memory).
  virtual bool needs_connection(RankId peer) const = 0;
};

}  // namespace weft
