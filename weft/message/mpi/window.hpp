// SPDX-License-Identifier: Apache-2.0
// A window: memory that other ranks read and change (RMA). Its owner executes their commands one
// after the other, in the order in which each rank sent them, whenever the owner is inside the
// library. So the answer to a command means that all earlier ones of the same rank are done. Shared
// windows need no commands (shared_window.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/info.hpp>
#include <weft/message/mpi/keyvals.hpp>

namespace weft::mpi {

class Datatype;
class SharedBlock;     // shared_block.hpp
struct SharedControl;  // shared_window.hpp

// A command to the owner of a window.
struct RmaCommand {
  enum class Kind : std::uint32_t {
    put,
    get,
    accumulate,
    fetch,  // Accumulate and return the old value.
    swap,   // Compare and swap: the data is the value to compare with, then the new one.
    flush,  // Only requests an answer.
    lock_shared,
    lock_exclusive,
    unlock,
    posted,     // The sender has exposed its memory to us.
    completed,  // The sender's accesses are done.
  };
  Kind kind = Kind::flush;
  std::uint32_t blocks = 0;  // Words of the list that follows; 0: one block of `bytes`.
  std::uint64_t bytes = 0;   // In the target's memory.
  std::int64_t displacement = 0;
  std::uint64_t type = 0;  // Handle of the predefined type of accumulated elements.
  std::uint64_t op = 0;
  std::uint32_t data = 0;       // Whether data follows.
  std::int32_t answer_tag = 0;  // 0: no answer.
};

struct Window {
  enum class Lock : std::uint8_t { none, shared, exclusive, assumed };

  // An access in flight without a request of the program.
  struct Pending {
    int target;
    mp::Task task;
  };
  // A rank that we access.
  struct Target {
    int rank;
    bool touched = false;  // Accessed since all was last known to be done there.
    Lock lock = Lock::none;
    bool locking = false;  // A thread waits for the lock,
    int flushing = 0;      // and so many for the answer to a flush.
  };
  struct Waiter {
    int rank;
    bool exclusive;
    int answer_tag;
  };

  MPI_Win handle = MPI_WIN_NULL;
  Communicator* comm = nullptr;  // A communicator of its own.
  std::byte* base = nullptr;
  MPI_Aint size = 0;
  MPI_Aint unit = 1;
  int displacement_unit = 1;  // The same, as storage for the attribute.
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;
  std::string name;
  InfoTable info;
  Attributes attributes;
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  std::unique_ptr<std::byte[]> memory;  // Of a window that the library allocates for this rank.
  // The memory of a rank.
  struct Part {
    std::byte* base;
    MPI_Aint size;
    MPI_Aint unit;
  };
  // The memory of all ranks, for a shared window (shared_window.hpp).
  struct Common {
    std::unique_ptr<SharedBlock> block;
    SharedControl* controls = nullptr;  // Null: not shared. By rank, like the parts.
    std::vector<Part> parts;
    bool holds_all = false;  // MPI_Win_lock_all has locked every part.
  };
  Common common;
  bool shared() const { return common.controls != nullptr; }

  // State of the owner (target).
  mp::Task server;
  mp::Request* listening = nullptr;
  int shared_locks = 0;
  bool exclusive_lock = false;
  std::deque<Waiter> waiters;
  std::vector<int> posted;  // Ranks that have exposed their memory to us.
  int completed = 0;        // How many of those that we exposed memory to are done.
  int exposed_to = -1;      // -1: no exposure.

  // State of the origin.
  bool fenced = false;
  bool all_locked = false;
  bool started = false;
  std::vector<int> started_with;
  std::deque<Target> targets;  // They stay where they are while threads wait.
  std::vector<Pending> pending;
  struct Sweeps {
    std::size_t next = 64;  // When this many are pending, finished ones are removed.
    std::uint64_t count = 0;
  };
  Sweeps sweeps;
  int last_answer_tag = 0;

  Window();
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  Target& target(int rank);
  Part own_part() const { return {base, size, unit}; }
  void add_pending(int target, mp::Task task);
  void sweep();  // Removes finished accesses.
};

// Serves the window until listening is cancelled.
mp::Task serve(Process& process, Window& window);

// One access. Buffers are packed and unpacked; `origin` may be null.
struct Access {
  RmaCommand command;
  int target = 0;
  std::vector<std::uint64_t> blocks;  // Offsets and sizes.
  struct Piece {
    void* buffer = nullptr;
    MPI_Count count = 0;
    const Datatype* type = nullptr;
  };
  Piece origin, result;
  const void* compare = nullptr;
};
// Sends the command at once; done when the origin buffers may be reused and the result has arrived.
mp::Task perform(Process& process, Window& window, std::unique_ptr<Access> access);
// Sends a command without data, and waits for its answer if `answered`.
mp::Task ask(Process& process, Window& window, int target, RmaCommand::Kind kind, bool answered);

// The memory blocks of elements of a type, relative to the displacement of the first.
std::vector<std::uint64_t> blocks_of(const Datatype& type, MPI_Count count);

Window* find_window(Process& process, MPI_Win handle);
// Success passes through; otherwise the window's error handler is invoked.
int result(Call& call, const Window& window, int code, const std::string& detail = {});

}  // namespace weft::mpi
