// SPDX-License-Identifier: Apache-2.0
// A trace of a run as an OTF2 archive (Open Trace Format 2): one location per rank, calls as
// regions, messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct TracedMessage {
  std::uint32_t peer = 0;  // Rank in the world, in every communicator.
  std::uint32_t comm = 0;  // Any number; communicators with messages are named at the end.
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
};

class Otf2Writer {
 public:
  virtual ~Otf2Writer() = default;
  // The archive FOLDER/NAME.otf2, which is not there yet. Fails if weft was built without the
  // library. Not for two threads at once, since the library has one place for errors.
  static Result<std::unique_ptr<Otf2Writer>> create(const std::string& folder,
                                                    const std::string& name);

  // The events that follow are of this rank, in the order of time. Each rank has one turn.
  virtual Status begin_rank(std::uint32_t rank) = 0;
  virtual void enter(std::uint64_t at_ns, const std::string& region) = 0;
  virtual void leave(std::uint64_t at_ns, const std::string& region) = 0;
  virtual void send(std::uint64_t at_ns, const TracedMessage& message) = 0;
  virtual void receive(std::uint64_t at_ns, const TracedMessage& message) = 0;
  // One whose data comes later: `number` joins the two.
  virtual void receive_begin(std::uint64_t at_ns, std::uint64_t number) = 0;
  virtual void receive_end(std::uint64_t at_ns, const TracedMessage& message,
                           std::uint64_t number) = 0;

  // The numbers of communicators that occurred.
  virtual std::vector<std::uint32_t> comms() const = 0;
  struct Names {
    std::vector<std::string> hosts;  // By rank.
    std::vector<std::string> comms;  // As comms() gives them.
  };
  // Writes what is missing. An archive without it cannot be read.
  virtual Status finish(const Names& names) = 0;
};

}  // namespace weft
