// SPDX-License-Identifier: Apache-2.0
// What the library asks of the world that runs it, beside the network. One object serves all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/message/port/fabric.hpp>

namespace weft::mpi {

class Runtime {
 public:
  virtual ~Runtime() = default;
  // Ends the whole job with this exit code. The message is one line without its end, or empty.
  [[noreturn]] virtual void abort(RankId rank, int code, const std::string& message) = 0;
  virtual std::string processor_name(RankId rank) const = 0;
  // Ranks with the same node share memory.
  virtual std::uint32_t node_of(RankId rank) const = 0;

  // The program begins to use the library: the first of its calls, before anything else happens.
  // May exchange the rank that the calling thread executes (see Current).
  virtual void join() {}
  // and has ended to: all ranks have come to the end.
  virtual void leave() {}
  // Why no way leads to a rank any more; for people.
  virtual std::string trouble_with(RankId /*rank*/) const { return {}; }

  // What programs of a simulator may say besides; nothing where there is nothing to simulate.
  // The memory of the calling rank belongs to this socket of its node.
  virtual void place_memory(const void* /*data*/, std::size_t /*size*/, int /*socket*/) {}
  // Statistics of the calling rank from here on count for a window of this name, until it ends.
  virtual void begin_window(const std::string& /*name*/) {}
  virtual void end_window() {}
  virtual void note(const std::string& /*text*/) {}
  // What another rank has stored under the key; false: nothing of this size yet.
  virtual bool recall(std::uint64_t /*key*/, void* /*data*/, std::size_t /*size*/) { return false; }
  virtual void remember(std::uint64_t /*key*/, const void* /*data*/, std::size_t /*size*/) {}
};

}  // namespace weft::mpi
