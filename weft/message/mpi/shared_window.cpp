// SPDX-License-Identifier: Apache-2.0
#include "shared_window.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/target_memory.hpp>

namespace weft::mpi {

namespace {

constexpr std::uint64_t page = 4096;

// Rounds up; false: too large.
bool align(std::uint64_t& value, std::uint64_t to) {
  if (value > INT64_MAX - to) return false;
  value = (value + to - 1) / to * to;
  return true;
}

bool is_broken(const Process& process, const Window& window) {
  const std::vector<RankId>& lost = process.messenger.lost();
  return std::any_of(lost.begin(), lost.end(),
                     [&](RankId rank) { return window.comm->local.find(rank).has_value(); });
}

// Asks again and again: whoever changes memory wakes nobody. Each time counts as a call that finds
// nothing, so that simulated time passes.
template <typename Done>
int poll_until(Process& process, const Window& window, Done done) {
  process.progress();  // Also: this rank acts in memory not before its time has come.
  while (!done()) {
    if (is_broken(process, window)) return MPI_ERR_PROC_FAILED;
    const Time called = process.entered;
    process.entered = process.fabric.processor.now();
    process.found_nothing();
    process.progress();
    process.entered = called;
  }
  return MPI_SUCCESS;
}

bool try_shared(SharedControl& control) {
  std::uint32_t holders = control.lock.load(std::memory_order_relaxed);
  return (holders & SharedControl::exclusive) == 0 &&
         control.writers.load(std::memory_order_relaxed) == 0 &&
         control.lock.compare_exchange_strong(holders, holders + 1, std::memory_order_acquire);
}

bool try_exclusive(SharedControl& control) {
  std::uint32_t holders = 0;
  return control.lock.compare_exchange_strong(holders, SharedControl::exclusive,
                                              std::memory_order_acquire);
}

std::size_t size_of(const Access::Piece& piece) {
  return static_cast<std::size_t>(piece.count * piece.type->size());
}

void append(std::vector<std::byte>& to, Process& process, const Access::Piece& piece) {
  const std::size_t before = to.size(), size = size_of(piece);
  to.resize(before + size);
  process.fabric.processor.copy(nullptr, nullptr, size);
  if (!process.fabric.carries_data) return;
  piece.type->pack(piece.buffer, piece.count, 0, {to.data() + before, size});
}

}  // namespace

bool SharedLayout::lay_out(const std::vector<Want>& wants, bool apart, std::uint64_t alignment) {
  offsets.clear();
  size = wants.size() * sizeof(SharedControl);
  if (!align(size, std::max(page, alignment))) return false;
  for (const Want& want : wants) {
    if (apart && !align(size, std::max(alignment, want.size >= page ? page : 64))) return false;
    offsets.push_back(size);
    if (want.size > INT64_MAX - size) return false;
    size += want.size;
  }
  return align(size, page);
}

int lock_part(Process& process, Window& window, int rank, bool exclusive) {
  SharedControl& control = window.common.controls[rank];
  if (!exclusive) return poll_until(process, window, [&] { return try_shared(control); });
  control.writers.fetch_add(1, std::memory_order_relaxed);
  const int error = poll_until(process, window, [&] { return try_exclusive(control); });
  control.writers.fetch_sub(1, std::memory_order_relaxed);
  return error;
}

void unlock_part(Window& window, int rank, bool exclusive) {
  SharedControl& control = window.common.controls[rank];
  if (exclusive) {
    control.lock.store(0, std::memory_order_release);
  } else {
    control.lock.fetch_sub(1, std::memory_order_release);
  }
}

int access_shared(Process& process, Window& window, const Access& access) {
  const Window::Part& part = window.common.parts[static_cast<std::size_t>(access.target)];
  const TargetMemory place(part, access.command, access.blocks);
  if (!place.inside(part)) return MPI_ERR_RMA_RANGE;
  std::vector<std::byte> data;
  if (access.compare) {
    append(data, process, {const_cast<void*>(access.compare), 1, access.origin.type});
  }
  if (access.origin.type) append(data, process, access.origin);
  process.fabric.processor.copy(nullptr, nullptr, place.size());
  // Accumulations are atomic among each other.
  SharedControl& control = window.common.controls[access.target];
  const bool atomic = access.command.kind >= RmaCommand::Kind::accumulate;
  const int error = poll_until(process, window, [&] {
    return !atomic || control.accumulating.exchange(1, std::memory_order_acquire) == 0;
  });
  if (error != MPI_SUCCESS) return error;
  std::vector<std::byte> old;
  if (process.fabric.carries_data) {
    if (access.result.type) old = place.read();
    change(access.command, place, data);
  }
  if (atomic) control.accumulating.store(0, std::memory_order_release);
  if (!access.result.type) return MPI_SUCCESS;
  process.fabric.processor.copy(nullptr, nullptr, size_of(access.result));
  if (process.fabric.carries_data) {
    access.result.type->unpack(access.result.buffer, access.result.count, 0,
                               std::span<const std::byte>(old));
  }
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
