// SPDX-License-Identifier: Apache-2.0
// The network itself, as one rank sees it: it carries frames and writes, and reports what happened.
// Calls never block (except wait) and never call back.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/message/port/frame.hpp>

namespace weft {

class Transport {
 public:
  virtual ~Transport() = default;

  // Sends a frame. `stable`: the data stays unchanged until `sent` is reported for the cookie;
  // otherwise the network copies what it needs before it returns. Cookie 0 asks for no completion.
  virtual void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                    std::uint64_t cookie) = 0;
  // Writes into a peer's memory. The peer sees `written` with the notice once all of it is there;
  // after an `unsent` it may see it twice.
  virtual void write(const SendPath& path, Payload payload, RemoteMemory target,
                     const FrameHead& notice, std::uint64_t cookie) = 0;
  // Gives up a write. true: its data is no longer needed and no completion follows, though it may
  // still arrive. false: too late.
  virtual bool take_back(RankId peer, std::uint64_t cookie) = 0;
  // Opens memory for writes of this peer. What arrives after deregister_memory is dropped.
  virtual std::uint64_t register_memory(RankId peer, std::byte* data, std::size_t size) = 0;
  virtual void deregister_memory(std::uint64_t key) = 0;
  // The next completion whose time has come, in the order of the clock; false: there is none.
  virtual bool poll(Completion& out) = 0;
  // Returns when poll has something, or at `until`.
  virtual void wait(Time until) = 0;
};

}  // namespace weft
