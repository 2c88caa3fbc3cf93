// SPDX-License-Identifier: Apache-2.0
// A window: memory that other ranks read and change. Its owner serves their wishes one after the
// other, in the order in which each rank sent them, whenever the owner is inside the library. So an
// answer to a wish says that all earlier ones of the same rank are done.
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

// What a rank wants of the owner of a window.
struct Wish {
  enum class Kind : std::uint32_t {
    put,
    get,
    accumulate,
    fetch,  // Accumulate, and the old value comes back.
    swap,   // Compare and swap: the data is the value to compare with, then the new one.
    flush,  // Only an answer.
    lock_shared,
    lock_exclusive,
    unlock,
    posted,     // The sender has exposed its memory to us.
    completed,  // The sender's accesses are done.
  };
  Kind kind = Kind::flush;
  std::uint32_t blocks = 0;  // Words of the list that follows; 0: one block of `bytes`.
  std::uint64_t bytes = 0;   // Of the target's memory.
  std::int64_t displacement = 0;
  std::uint64_t type = 0;  // Handle of the predefined type of accumulated elements.
  std::uint64_t op = 0;
  std::uint32_t data = 0;       // Whether data follows.
  std::int32_t answer_tag = 0;  // 0: no answer.
};

struct Window {
  enum class Lock : std::uint8_t { none, shared, exclusive, assumed };

  // An access under way that the program has not asked a request for.
  struct Pending {
    int target;
    mp::Task task;
  };
  // A rank that we access.
  struct Target {
    int rank;
    bool touched = false;  // Since the last time that all was known to be done there.
    Lock lock = Lock::none;
  };
  struct Waiter {
    int rank;
    bool exclusive;
    int answer_tag;
  };

  MPI_Win handle = MPI_WIN_NULL;
  Communicator* comm = nullptr;  // Its own.
  std::byte* base = nullptr;
  MPI_Aint size = 0;
  MPI_Aint unit = 1;
  int displacement_unit = 1;  // The same, for the attribute.
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;
  std::string name;
  InfoTable info;
  Attributes attributes;
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  std::shared_ptr<std::byte[]> memory;  // Of windows that the library allocates.
  // Of a shared window, by rank: where the memory of each lies.
  struct Part {
    std::byte* base;
    MPI_Aint size;
    MPI_Aint unit;
  };
  std::vector<Part> parts;

  // As the owner.
  mp::Task server;
  mp::Request* listening = nullptr;
  int shared_locks = 0;
  bool exclusive_lock = false;
  std::deque<Waiter> waiters;
  std::vector<int> posted;  // Ranks that expose their memory to us.
  int completed = 0;        // How many of those that we expose to are done.
  int exposed_to = -1;      // -1: no exposure.

  // As who accesses.
  bool fenced = false;
  bool all_locked = false;
  bool started = false;
  std::vector<int> started_with;
  std::vector<Target> targets;
  std::vector<Pending> pending;
  std::size_t next_sweep = 64;  // When so many are pending, those done are looked for.
  int last_answer_tag = 0;

  Target& target(int rank);
  void add_pending(int target, mp::Task task);
  void sweep();  // Forgets what is done.
};

// Serves the window until listening is cancelled.
mp::Task serve(Process& process, Window& window);

// One access. The buffers are packed and unpacked; `origin` may be null.
struct Access {
  Wish wish;
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
// Sends the wish at once; done when the origin's buffers are the program's again and the result has
// come.
mp::Task perform(Process& process, Window& window, std::unique_ptr<Access> access);
// A wish without data, and its answer if `answered`.
mp::Task ask(Process& process, Window& window, int target, Wish::Kind kind, bool answered);

// The blocks of memory of elements of a type, from the displacement of the first.
std::vector<std::uint64_t> blocks_of(const Datatype& type, MPI_Count count);

Window* find_window(Process& process, MPI_Win handle);
// Success passes; else the window's handler is told.
int result(Call& call, const Window& window, int code, const std::string& detail = {});

}  // namespace weft::mpi
