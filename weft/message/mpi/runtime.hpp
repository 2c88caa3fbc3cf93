// SPDX-License-Identifier: Apache-2.0
// What the library needs from its environment apart from the network. One object serves all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/message/mpi/file_descriptor.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/job_desk.hpp>
#include <weft/message/mpi/shared_block.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/message/port/storage.hpp>

namespace weft::mpi {

// The name of a node among kinds of hardware, for MPI_Comm_split_type and MPI_Get_hw_resource_info.
inline constexpr const char* node_resource = "weft://node";

// What the loss of a rank means for another one.
enum class Resilience : std::uint8_t {
  none,      // It cannot go on.
  handles,   // It gets errors, and handles them.
  noticed,   // It has got to know of a loss.
  recovers,  // It knows what to do: it has used functions for failures.
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  // Ends the whole job with this exit code. The message is one line without line end, or empty.
  [[noreturn]] virtual void abort(RankId rank, int code, const std::string& message) = 0;
  virtual std::string processor_name(RankId rank) const = 0;
  // The most that MPI_Init_thread may promise. By default only the thread that runs the rank may
  // call the library.
  virtual int thread_level() const { return MPI_THREAD_FUNNELED; }
  // Asked once, before MPI_THREAD_MULTIPLE is promised: from now on several threads may call at
  // once. false: they may not after all.
  virtual bool admit_threads() { return false; }
  // Do all ranks read the same clock, and how fine is it?
  virtual bool one_clock() const { return true; }
  virtual double tick() const { return 1e-12; }
  // Ranks with the same node share memory.
  virtual std::uint32_t node_of(RankId rank) const = 0;

  // Memory that ranks of one node share (shared_block.hpp). As it is for ranks of one process.
  virtual Result<std::unique_ptr<SharedBlock>> make_shared(std::size_t size) {
    return make_block_of_process(size);
  }
  virtual Result<std::unique_ptr<SharedBlock>> open_shared(const SharedTicket& ticket,
                                                           std::size_t /*size*/) {
    return open_block_of_process(ticket);
  }

  // Opens a file; null and an errno if that fails. `flags` are those of open(2).
  virtual std::shared_ptr<FileDescriptor> open_file(const std::string& path, int flags,
                                                    int& error) {
    return FileDescriptor::open(path, flags, error);
  }

  // Where reads and writes of files go over the network; null: they do not.
  virtual Storage* storage(RankId /*rank*/) { return nullptr; }

  // Called by the program's first library call, before anything else happens. May replace the rank
  // that the calling thread executes (see Current).
  virtual void join() {}
  // Called when all ranks have reached the end.
  virtual void leave() {}
  // Called once if the program uses sessions: leave() is due when the program ends, unless the
  // calling rank is still running() then.
  virtual void leave_at_exit() {}
  // What the launcher does for ranks on request; null: nothing, and what MPI_Comm_spawn says then.
  virtual JobDesk* desk() { return nullptr; }
  struct NoDesk {
    int error = MPI_ERR_UNSUPPORTED_OPERATION;
    const char* why = "all ranks of a simulation start together; weft run can start more";
  };
  virtual NoDesk no_desk() const { return {}; }
  // MPI_APPNUM, and MPI_UNIVERSE_SIZE: how many ranks there is room for, if that is known.
  virtual int application() const { return 0; }
  virtual std::optional<int> universe(int ranks) const { return ranks; }

  // For the launcher, which decides whether a job outlives the loss of a rank.
  virtual void tell_resilience(Resilience /*now*/) {}
  // Some rank has left in order. Told only where ranks were lost.
  virtual bool others_leave() { return false; }
  // Why a rank cannot be reached any more; for error messages.
  virtual std::string trouble_with(RankId /*rank*/) const { return {}; }

  // Extensions for simulated programs; they do nothing elsewhere. Assigns the calling rank's memory
  // to a socket of its node.
  virtual void place_memory(const void* /*data*/, std::size_t /*size*/, int /*socket*/) {}
  // From now on statistics of the calling rank count for a window of this name, until it ends.
  virtual void begin_window(const std::string& /*name*/) {}
  virtual void end_window() {}
  virtual void note(const std::string& /*text*/) {}
  // Reads what another rank has stored under the key; false if nothing of this size is there yet.
  virtual bool recall(std::uint64_t /*key*/, void* /*data*/, std::size_t /*size*/) { return false; }
  virtual void remember(std::uint64_t /*key*/, const void* /*data*/, std::size_t /*size*/) {}
};

}  // namespace weft::mpi
