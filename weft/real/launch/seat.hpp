// SPDX-License-Identifier: Apache-2.0
// A process's membership in a job of real processes, whatever started it: `weft run`, a PMIx server
// (Slurm, PRRTE, Open MPI's mpirun) or MPICH's hydra.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/settings.hpp>

namespace weft::launch {

// Known only to the processes of one job; new for each job.
using Secret = std::array<std::byte, 32>;

// What the launcher reports to a process while it runs.
struct Notice {
  enum class Kind : std::uint8_t {
    lost,  // The process of this rank ended without leaving.
    end,   // The launcher is gone or wants us to end; our output has no reader.
  };
  Kind kind = Kind::lost;
  std::uint32_t rank = 0;
};

// What the loss of a process means for another one. The numbers go over the wire.
enum class Resilience : std::uint8_t {
  none,      // It cannot go on.
  handles,   // It gets errors, and handles them.
  noticed,   // It has got to know of a loss.
  recovers,  // It knows what to do.
};

// How a process came into the job.
struct Birth {
  std::uint32_t first = 0;        // The first of the ranks that started together with it.
  std::uint32_t application = 0;  // Which of several programs that started together, from 0.
  std::uint32_t universe = 0;     // How many processes the job's hosts have slots for; 0: unknown.
  bool spans_hosts = false;       // The job has several hosts, whether all are in use or not.
  bool has_parent = false;        // Another rank has asked for it:
  std::uint32_t parent = 0;       // this one,
  std::uint32_t meeting = 0;      // which expects the first of them under this number.
};

// For one thread at a time. The destructor does not leave(): a program that ends in the middle of
// its work must not look as if it had finished.
class Seat {
 public:
  virtual ~Seat() = default;

  // Its number in the job, and how many started together.
  virtual std::uint32_t self() const = 0;
  virtual std::uint32_t ranks() const = 0;
  virtual Birth birth() const { return {}; }
  virtual const Secret& secret() const = 0;
  // Settings of the job: from the options of `weft run`, or from variables WEFT_*.
  virtual const Settings& settings() const = 0;

  // Whether `weft run` started the job, and so has described it in its record.
  virtual bool by_weft_run() const { return false; }

  // Collective among those that started together: gives every rank's business card (addresses and
  // other data for its peers), by rank.
  // Blocks. A card may hold any bytes, at most 1 MiB, preferably a few kilobytes. Returns an error
  // if a rank ends before it calls this, which may also be reported as a notice.
  virtual Result<std::vector<std::string>> exchange(const std::string& card) = 0;

  // Becomes readable when next_notice() has something to report; -1 if it never will.
  virtual int descriptor() const = 0;
  // Never blocks.
  virtual bool next_notice(Notice& out) = 0;

  // What it means for this process when another ends without leaving. A job that has lost one is
  // ended after a while, unless all others handle that, and either none knows of it yet or some
  // know what to do.
  virtual void tell_resilience(Resilience /*now*/) {}
  // After a loss: some other process has left in order.
  virtual bool others_leave() const { return false; }

  // Asks the launcher for something (requests.hpp); false: it takes no requests. The answer may be
  // long in coming; descriptor() is readable then, and next_notice() takes it in.
  virtual bool ask(const std::string& /*request*/, std::uint64_t& /*number*/) { return false; }
  // Never blocks. true: the answer is here, and is given once.
  virtual bool answered(std::uint64_t /*number*/, std::string& /*answer*/) { return false; }

  // From now on our exit is no failure, and we are not notified when others end.
  virtual void leave() = 0;
  // Ends all processes of the job.
  [[noreturn]] virtual void abort(int code, const std::string& message) = 0;
  // The same, because another process is missing: how that one ended says more, and comes first.
  [[noreturn]] virtual void abort_for_loss(int code, const std::string& message) {
    abort(code, message);
    __builtin_unreachable();  // Some compilers do not trust [[noreturn]] on a virtual function.
  }
};

// Takes the seat of this process; null if it was started alone. Reads the environment and removes
// what it finds there, so that children of the program do not take our seat. `library_folder` holds
// weft's own libraries (the PMIx client is one).
Result<std::unique_ptr<Seat>> take_seat(const std::string& library_folder);
// Whether take_seat() would find a seat. Changes nothing.
bool seat_kept();

}  // namespace weft::launch
