// SPDX-License-Identifier: Apache-2.0
// Synchronisation of windows: when accesses start and end.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/internal_group.hpp>
#include <weft/message/mpi/shared_window.hpp>
#include <weft/message/mpi/window.hpp>

using weft::mpi::Call;
using weft::mpi::OrderedMemory;
using weft::mpi::Process;
using weft::mpi::RmaCommand;
using weft::mpi::Window;
using Lock = Window::Lock;
namespace mp = weft::mp;

namespace {

// Completes all accesses to a target at the origin; -1: to all targets.
void finish_locally(Process& process, Window& window, int target) {
  std::size_t checked = 0;  // Finished accesses stay finished.
  std::uint64_t sweeps = window.sweeps.count;
  process.wait_until([&] {
    // By another thread.
    if (std::exchange(sweeps, window.sweeps.count) != window.sweeps.count) checked = 0;
    for (; checked < window.pending.size(); ++checked) {
      const Window::Pending& p = window.pending[checked];
      if ((target < 0 || p.target == target) && !p.task.done()) return false;
    }
    return true;
  });
  window.sweep();
}

// Another thread may have asked on behalf of accesses of this one.
void await_answers(Process& process, const Window& window, int target) {
  const auto answered = [&] {
    return std::all_of(window.targets.begin(), window.targets.end(), [&](const auto& known) {
      return known.flushing == 0 || (target >= 0 && known.rank != target);
    });
  };
  if (!answered()) process.wait_until(answered);
}

// Completes accesses at the targets; only targets that may have unfinished accesses are asked.
void finish(Process& process, Window& window, int target) {
  struct Asked {
    Window::Target& target;
    mp::Task answer;
  };
  std::vector<Asked> asked;
  for (Window::Target& known : window.targets) {
    if (!known.touched || (target >= 0 && known.rank != target)) continue;
    known.touched = false;
    ++known.flushing;
    asked.push_back({known, ask(process, window, known.rank, RmaCommand::Kind::flush, true)});
  }
  for (const Asked& one : asked) {
    process.run(one.answer);
    --one.target.flushing;
  }
  await_answers(process, window, target);
  finish_locally(process, window, target);
}

int flush(const char* name, MPI_Win win, int rank, bool only_locally) {
  Call call(name, Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (rank >= window->comm->size() || rank < -1) return result(call, *window, MPI_ERR_RANK);
  const bool locked =
      window->all_locked ||
      std::any_of(window->targets.begin(), window->targets.end(), [&](const auto& t) {
        return t.lock != Lock::none && (rank < 0 || t.rank == rank);
      });
  if (!locked) return result(call, *window, MPI_ERR_RMA_SYNC, "not locked");
  const OrderedMemory ordered;
  if (only_locally) {
    finish_locally(call.process(), *window, rank);
  } else {
    finish(call.process(), *window, rank);
  }
  return MPI_SUCCESS;
}

// Unlocking is a command like others, so its answer means that all earlier ones are done.
void unlock(Process& process, Window& window, Window::Target& target) {
  if (target.lock == Lock::assumed) {
    finish(process, window, target.rank);
  } else if (window.shared()) {
    unlock_part(window, target.rank, target.lock == Lock::exclusive);
  } else {
    process.run(ask(process, window, target.rank, RmaCommand::Kind::unlock, true));
    target.touched = false;
    finish_locally(process, window, target.rank);
  }
  target.lock = Lock::none;
}

std::vector<int> ranks_of(const Window& window, const mp::Members& group) {
  std::vector<int> ranks;
  const weft::mpi::Finder finder(window.comm->local);
  for (int i = 0; i < group.size(); ++i) {
    if (const auto rank = finder.find(group[i])) ranks.push_back(*rank);
  }
  return ranks;
}

}  // namespace

WEFT_MPI(Win_fence)(int mode, MPI_Win win) {
  Call call("MPI_Win_fence", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  Process& process = call.process();
  if (window->started || window->all_locked) return result(call, *window, MPI_ERR_RMA_SYNC);
  const OrderedMemory ordered;
  finish(process, *window, -1);
  process.run(all_max(scope_of(process, *window->comm), {}));
  window->fenced = (mode & MPI_MODE_NOSUCCEED) == 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Win_post)(MPI_Group group, int, MPI_Win win) {
  Call call("MPI_Win_post", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  Process& process = call.process();
  const mp::Members* members = find_group(process, group);
  if (!members) return result(call, *window, MPI_ERR_GROUP);
  if (window->exposed_to >= 0) return result(call, *window, MPI_ERR_RMA_SYNC, "posted already");
  const OrderedMemory ordered;
  const std::vector<int> ranks = ranks_of(*window, *members);
  window->exposed_to = static_cast<int>(ranks.size());
  for (const int rank : ranks) {
    process.run(ask(process, *window, rank, RmaCommand::Kind::posted, false));
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Win_start)(MPI_Group group, int, MPI_Win win) {
  Call call("MPI_Win_start", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  Process& process = call.process();
  const mp::Members* members = find_group(process, group);
  if (!members) return result(call, *window, MPI_ERR_GROUP);
  if (window->started || window->all_locked) return result(call, *window, MPI_ERR_RMA_SYNC);
  const OrderedMemory ordered;
  window->started_with = ranks_of(*window, *members);
  // Each must have posted; consume its notice, as the next epoch needs a new one.
  for (const int rank : window->started_with) {
    std::vector<int>& posted = window->posted;
    process.wait_until([&] { return std::count(posted.begin(), posted.end(), rank) > 0; });
    posted.erase(std::find(posted.begin(), posted.end(), rank));
  }
  window->started = true;
  return MPI_SUCCESS;
}

WEFT_MPI(Win_complete)(MPI_Win win) {
  Call call("MPI_Win_complete", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (!window->started) return result(call, *window, MPI_ERR_RMA_SYNC, "not started");
  const OrderedMemory ordered;
  Process& process = call.process();
  for (const int rank : window->started_with) {
    process.run(ask(process, *window, rank, RmaCommand::Kind::completed, false));
    window->target(rank).touched = false;
  }
  finish_locally(process, *window, -1);
  window->started = false;
  window->started_with.clear();
  return MPI_SUCCESS;
}

namespace {

void end_exposure(Window& window) {
  window.completed -= window.exposed_to;
  window.exposed_to = -1;
}

}  // namespace

WEFT_MPI(Win_wait)(MPI_Win win) {
  Call call("MPI_Win_wait", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (window->exposed_to < 0) return result(call, *window, MPI_ERR_RMA_SYNC, "not posted");
  const OrderedMemory ordered;
  call.process().wait_until([&] { return window->completed >= window->exposed_to; });
  end_exposure(*window);
  return MPI_SUCCESS;
}

WEFT_MPI(Win_test)(MPI_Win win, int* flag) {
  Call call("MPI_Win_test", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (window->exposed_to < 0) return result(call, *window, MPI_ERR_RMA_SYNC, "not posted");
  const OrderedMemory ordered;
  call.process().progress();
  *flag = window->completed >= window->exposed_to ? 1 : 0;
  if (*flag) {
    end_exposure(*window);
  } else {
    call.process().found_nothing();
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Win_lock)(int lock_type, int rank, int mode, MPI_Win win) {
  Call call("MPI_Win_lock", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) {
    return result(call, *window, MPI_ERR_LOCKTYPE);
  }
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (rank < 0 || rank >= window->comm->size()) return result(call, *window, MPI_ERR_RANK);
  Window::Target& target = window->target(rank);
  if (target.lock != Lock::none || window->all_locked || window->started) {
    return result(call, *window, MPI_ERR_RMA_SYNC, "in another epoch");
  }
  const OrderedMemory ordered;
  window->fenced = false;
  if ((mode & MPI_MODE_NOCHECK) != 0) {
    target.lock = Lock::assumed;
    return MPI_SUCCESS;
  }
  const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
  Process& process = call.process();
  if (window->shared()) {
    if (const int error = lock_part(process, *window, rank, exclusive)) {
      return result(call, *window, error);
    }
    target.lock = exclusive ? Lock::exclusive : Lock::shared;
    return MPI_SUCCESS;
  }
  target.lock = exclusive ? Lock::exclusive : Lock::shared;
  process.run(ask(process, *window, rank,
                  exclusive ? RmaCommand::Kind::lock_exclusive : RmaCommand::Kind::lock_shared,
                  true));
  return MPI_SUCCESS;
}

WEFT_MPI(Win_unlock)(int rank, MPI_Win win) {
  Call call("MPI_Win_unlock", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (rank < 0 || rank >= window->comm->size()) return result(call, *window, MPI_ERR_RANK);
  Window::Target& target = window->target(rank);
  if (target.lock == Lock::none) return result(call, *window, MPI_ERR_RMA_SYNC, "not locked");
  const OrderedMemory ordered;
  unlock(call.process(), *window, target);
  return MPI_SUCCESS;
}

namespace {

// All parts of a shared window: loads and stores give no sign at which target they begin.
int lock_all_parts(Process& process, Window& window) {
  for (int rank = 0; rank < window.comm->size(); ++rank) {
    const int error = lock_part(process, window, rank, false);
    if (error == MPI_SUCCESS) continue;
    while (rank-- > 0) unlock_part(window, rank, false);
    return error;
  }
  window.common.holds_all = true;
  return MPI_SUCCESS;
}

void unlock_all_parts(Window& window) {
  for (int rank = 0; rank < window.comm->size(); ++rank) unlock_part(window, rank, false);
  window.common.holds_all = false;
}

}  // namespace

// Each target is locked when it is first accessed, where that shows.
WEFT_MPI(Win_lock_all)(int mode, MPI_Win win) {
  Call call("MPI_Win_lock_all", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (window->all_locked || window->started) return result(call, *window, MPI_ERR_RMA_SYNC);
  const OrderedMemory ordered;
  if (window->shared() && (mode & MPI_MODE_NOCHECK) == 0) {
    if (const int error = lock_all_parts(call.process(), *window)) {
      return result(call, *window, error);
    }
  }
  window->fenced = false;
  window->all_locked = true;
  return MPI_SUCCESS;
}

WEFT_MPI(Win_unlock_all)(MPI_Win win) {
  Call call("MPI_Win_unlock_all", Call::communicates);
  Window* window = call.window(win);
  if (!window) return call.error();
  if (!window->all_locked) return result(call, *window, MPI_ERR_RMA_SYNC, "not locked");
  const OrderedMemory ordered;
  if (window->common.holds_all) unlock_all_parts(*window);
  for (std::size_t i = 0; i < window->targets.size(); ++i) {
    Window::Target& target = window->targets[i];
    if (target.lock != Lock::none) unlock(call.process(), *window, target);
  }
  window->all_locked = false;
  return MPI_SUCCESS;
}

WEFT_MPI(Win_flush)(int rank, MPI_Win win) {
  return flush("MPI_Win_flush", win, rank, false);
}
WEFT_MPI(Win_flush_all)(MPI_Win win) {
  return flush("MPI_Win_flush_all", win, -1, false);
}
WEFT_MPI(Win_flush_local)(int rank, MPI_Win win) {
  return flush("MPI_Win_flush_local", win, rank, true);
}
WEFT_MPI(Win_flush_local_all)(MPI_Win win) {
  return flush("MPI_Win_flush_local_all", win, -1, true);
}

WEFT_MPI(Win_sync)(MPI_Win win) {
  Call call("MPI_Win_sync", Call::communicates);
  if (!call.window(win)) return call.error();
  const OrderedMemory ordered;
  call.process().progress();
  call.process().found_nothing();  // Programs call it in loops.
  return MPI_SUCCESS;
}
