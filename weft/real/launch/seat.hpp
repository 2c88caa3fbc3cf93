// SPDX-License-Identifier: Apache-2.0
// A process's place in a job of real processes, whoever started it: `weft run`, a PMIx server
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

// Known to the processes of one job alone; fresh for each job.
using Secret = std::array<std::byte, 32>;

// What the launcher tells a process while it runs.
struct Notice {
  enum class Kind : std::uint8_t {
    lost,  // The process of this rank has ended without leaving.
    end,   // The launcher is gone or wants us to end; nobody reads what we print.
  };
  Kind kind = Kind::lost;
  std::uint32_t rank = 0;
};

// For one thread at a time. Deleting it is no leave(): a program that ends in the middle of its
// work must not look as if it were done.
class Seat {
 public:
  virtual ~Seat() = default;

  virtual std::uint32_t self() const = 0;
  virtual std::uint32_t ranks() const = 0;
  virtual const Secret& secret() const = 0;
  // How the job shall behave: from the options of `weft run`, else from variables WEFT_*.
  virtual const Settings& settings() const = 0;

  // A call that all ranks make, the same number of times: gives everybody's card, by rank. Blocks.
  // A card holds any bytes, at most 1 MiB, better some kilobytes. An error if a rank ends before it
  // comes here, which may be told as a notice too.
  virtual Result<std::vector<std::string>> exchange(const std::string& card) = 0;

  // Becomes readable when next_notice() has something to say; -1 if it never will.
  virtual int descriptor() const = 0;
  // Never blocks.
  virtual bool next_notice(Notice& out) = 0;

  // From here on our end is no failure, and we shall not be told of others' ends.
  virtual void leave() = 0;
  // Ends all processes of the job.
  [[noreturn]] virtual void abort(int code, const std::string& message) = 0;
};

// The seat that was kept for this process; null when nobody did: it was started alone. Asks the
// environment; takes what it finds there away, so that children of the program do not sit on our
// seat. `library_folder` holds weft's own libraries (the PMIx client is one).
Result<std::unique_ptr<Seat>> take_seat(const std::string& library_folder);
// Whether take_seat() would find one. Touches nothing.
bool seat_kept();

}  // namespace weft::launch
