// SPDX-License-Identifier: Apache-2.0
// Creation and freeing of windows.
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/internal_group.hpp>
#include <weft/message/mpi/window.hpp>

using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::InfoTable;
using weft::mpi::InternalScope;
using weft::mpi::Process;
using weft::mpi::Window;
using weft::mpi::Words;

namespace {

struct Wanted {
  void* base;
  MPI_Aint size;
  MPI_Aint unit;
  MPI_Info info;
  int flavor;
};

void internal_barrier(Process& process, Communicator& comm) {
  const InternalScope scope = scope_of(process, comm);
  process.run(all_max(scope, {}));
}

// Hints that have values before the program sets any.
InfoTable standard_hints() {
  InfoTable hints;
  hints.set("no_locks", "false");
  hints.set("accumulate_ordering", "rar,raw,war,waw");
  hints.set("accumulate_ops", "same_op_no_op");
  return hints;
}

// Returns null if an error has been reported.
Window* create(Call& call, const Wanted& wanted, MPI_Comm comm, int& error) {
  const Communicator* parent = call.communicator(comm);
  error = call.error();
  if (!parent) return nullptr;
  Process& process = call.process();
  const InfoTable* hints = nullptr;
  if (wanted.info != MPI_INFO_NULL && !(hints = find_info(process, wanted.info))) {
    error = MPI_ERR_INFO;
  }
  if (parent->inter) error = MPI_ERR_COMM;
  if (wanted.size < 0) error = MPI_ERR_SIZE;
  if (wanted.unit <= 0) error = MPI_ERR_DISP;
  error = call.result(parent, error);
  if (error != MPI_SUCCESS) return nullptr;

  const std::uint32_t context = agree_context(process, const_cast<Communicator&>(*parent));
  Window* window = process.windows.make();
  window->handle = reinterpret_cast<MPI_Win>(window);
  window->comm = make_communicator(process, *parent, {context, parent->local, {}, false});
  window->base = static_cast<std::byte*>(wanted.base);
  window->size = wanted.size;
  window->unit = wanted.unit;
  window->displacement_unit = static_cast<int>(wanted.unit);
  window->flavor = wanted.flavor;
  window->info = standard_hints();
  if (hints) window->info.merge(*hints);
  window->server = serve(process, *window);
  return window;
}

std::shared_ptr<std::byte[]> allocate(MPI_Aint size) {
  return std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(size) + 1]);
}

int give(Call& call, Window* window, MPI_Win* win) {
  if (!win) return call.result(MPI_ERR_ARG);
  internal_barrier(call.process(), *window->comm);  // No rank is accessed before it is ready.
  *win = window->handle;
  return MPI_SUCCESS;
}

int allocate_window(Call& call, const Wanted& wanted, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  int error = MPI_SUCCESS;
  Window* window = create(call, wanted, comm, error);
  if (!window) return error;
  window->memory = allocate(wanted.size);
  window->base = window->memory.get();
  *static_cast<void**>(baseptr) = window->base;
  return give(call, window, win);
}

void push(Words& words, std::uint64_t value) {
  words.push_back(static_cast<std::uint32_t>(value));
  words.push_back(static_cast<std::uint32_t>(value >> 32));
}
std::uint64_t pull(const Words& words, std::size_t index) {
  return words[2 * index] | std::uint64_t{words[2 * index + 1]} << 32;
}

std::uint64_t rounded(std::uint64_t size, std::uint64_t line) {
  return (size + line - 1) / line * line;
}

// Otherwise the memory of a rank follows that of the rank before it.
bool may_lie_apart(const Window& window) {
  const std::string* hint = window.info.find("alloc_shared_noncontig");
  return hint && *hint == "true";
}

// Rank 0 allocates for all and sends them the addresses: in one address space that is shared
// memory.
int allocate_shared(Call& call, const Wanted& wanted, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  const Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  Process& process = call.process();
  for (int i = 0; i < parent->size(); ++i) {
    if (process.runtime.node_of(parent->local[i]) != process.runtime.node_of(process.rank())) {
      return call.result(parent, MPI_ERR_RMA_SHARED, "ranks of different nodes");
    }
  }
  int error = MPI_SUCCESS;
  Window* window = create(call, wanted, comm, error);
  if (!window) return error;
  // All sizes go to the first rank, which allocates contiguous memory for all.
  Words mine, all;
  push(mine, static_cast<std::uint64_t>(wanted.size));
  push(mine, static_cast<std::uint64_t>(wanted.unit));
  const InternalScope scope = scope_of(process, *window->comm);
  process.run(collect(scope.own, mine, all));
  const auto ranks = static_cast<std::size_t>(window->comm->size());
  if (window->comm->rank == 0) {
    const std::uint64_t line = may_lie_apart(*window) ? 64 : 1;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < ranks; ++i) total += rounded(pull(all, 2 * i), line);
    window->memory = allocate(static_cast<MPI_Aint>(total));
    push(all, reinterpret_cast<std::uintptr_t>(window->memory.get()));
    push(all, line);
  }
  process.run(broadcast(scope.own, 0, all));
  auto at = static_cast<std::uintptr_t>(pull(all, 2 * ranks));
  const std::uint64_t line = pull(all, 2 * ranks + 1);
  for (std::size_t i = 0; i < ranks; ++i) {
    const std::uint64_t size = pull(all, 2 * i);
    const bool nowhere = size == 0 && line > 1;
    window->parts.push_back({nowhere ? nullptr : reinterpret_cast<std::byte*>(at),
                             static_cast<MPI_Aint>(size),
                             static_cast<MPI_Aint>(pull(all, 2 * i + 1))});
    at += rounded(size, line);
  }
  window->base = window->parts[static_cast<std::size_t>(window->comm->rank)].base;
  *static_cast<void**>(baseptr) = window->base;
  return give(call, window, win);
}

int create_window(const char* name, const Wanted& wanted, MPI_Comm comm, MPI_Win* win) {
  Call call(name, Call::communicates);
  int error = MPI_SUCCESS;
  Window* window = create(call, wanted, comm, error);
  return window ? give(call, window, win) : error;
}

struct Found {
  MPI_Aint size, unit;
  void* base;
};
int query(Call& call, MPI_Win win, int rank, Found& found) {
  const Window* window = call.window(win);
  if (!window) return call.error();
  if (window->parts.empty()) return result(call, *window, MPI_ERR_RMA_FLAVOR);
  found = {0, 0, nullptr};
  for (int i = 0; i < window->comm->size(); ++i) {
    const Window::Part& part = window->parts[static_cast<std::size_t>(i)];
    // MPI_PROC_NULL means the lowest rank that has any memory.
    if (rank != i && (rank != MPI_PROC_NULL || part.size == 0)) continue;
    found = {part.size, part.unit, part.base};
    return MPI_SUCCESS;
  }
  return rank == MPI_PROC_NULL ? MPI_SUCCESS : result(call, *window, MPI_ERR_RANK);
}

}  // namespace

WEFT_MPI(Win_create)
(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return create_window("MPI_Win_create", {base, size, disp_unit, info, MPI_WIN_FLAVOR_CREATE}, comm,
                       win);
}

WEFT_MPI(Win_create_c)
(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return create_window("MPI_Win_create_c", {base, size, disp_unit, info, MPI_WIN_FLAVOR_CREATE},
                       comm, win);
}

WEFT_MPI(Win_create_dynamic)(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return create_window("MPI_Win_create_dynamic", {nullptr, 0, 1, info, MPI_WIN_FLAVOR_DYNAMIC},
                       comm, win);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type.
#define WEFT_WIN_ALLOCATE(unit_type, suffix)                                                      \
  WEFT_MPI(Win_allocate##suffix)                                                                  \
  (MPI_Aint size, unit_type disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,               \
   MPI_Win* win) {                                                                                \
    Call call("MPI_Win_allocate" #suffix, Call::communicates);                                    \
    return allocate_window(call, {nullptr, size, disp_unit, info, MPI_WIN_FLAVOR_ALLOCATE}, comm, \
                           baseptr, win);                                                         \
  }                                                                                               \
  WEFT_MPI(Win_allocate_shared##suffix)                                                           \
  (MPI_Aint size, unit_type disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,               \
   MPI_Win* win) {                                                                                \
    Call call("MPI_Win_allocate_shared" #suffix, Call::communicates);                             \
    return allocate_shared(call, {nullptr, size, disp_unit, info, MPI_WIN_FLAVOR_SHARED}, comm,   \
                           baseptr, win);                                                         \
  }                                                                                               \
  WEFT_MPI(Win_shared_query##suffix)                                                              \
  (MPI_Win win, int rank, MPI_Aint* size, unit_type* disp_unit, void* baseptr) {                  \
    Call call("MPI_Win_shared_query" #suffix, Call::local);                                       \
    Found found;                                                                                  \
    if (const int error = query(call, win, rank, found)) return error;                            \
    *size = found.size;                                                                           \
    *disp_unit = static_cast<unit_type>(found.unit);                                              \
    *static_cast<void**>(baseptr) = found.base;                                                   \
    return MPI_SUCCESS;                                                                           \
  }

// NOLINTEND(bugprone-macro-parentheses)
WEFT_WIN_ALLOCATE(int, )
WEFT_WIN_ALLOCATE(MPI_Aint, _c)

// Memory of a dynamic window needs no preparation.
WEFT_MPI(Win_attach)(MPI_Win win, void*, MPI_Aint size) {
  Call call("MPI_Win_attach", Call::local);
  const Window* window = call.window(win);
  if (!window) return call.error();
  if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC) return result(call, *window, MPI_ERR_RMA_FLAVOR);
  return result(call, *window, size < 0 ? MPI_ERR_SIZE : MPI_SUCCESS);
}

WEFT_MPI(Win_detach)(MPI_Win win, const void*) {
  Call call("MPI_Win_detach", Call::local);
  const Window* window = call.window(win);
  if (!window) return call.error();
  return result(call, *window,
                window->flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_SUCCESS : MPI_ERR_RMA_FLAVOR);
}

namespace {

// An epoch between fences does not count, as no call ends it.
bool in_use(const Window& window) {
  const bool locked =
      std::any_of(window.targets.begin(), window.targets.end(),
                  [](const Window::Target& target) { return target.lock != Window::Lock::none; });
  return locked || window.all_locked || window.started || window.exposed_to >= 0;
}

}  // namespace

WEFT_MPI(Win_free)(MPI_Win* win) {
  Call call("MPI_Win_free", Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  Window* window = win ? find_window(process, *win) : nullptr;
  if (!window) return call.result(MPI_ERR_WIN);
  if (in_use(*window)) return result(call, *window, MPI_ERR_RMA_SYNC, "still accessed");
  if (const int error = window->attributes.clear(process, window->handle)) {
    return result(call, *window, error);
  }
  internal_barrier(process, *window->comm);  // All accesses to this rank are complete.
  if (window->listening) process.messenger.cancel(window->listening);
  process.run(window->server);
  internal_barrier(process, *window->comm);  // No rank uses the shared memory any more.
  release_handler(process, window->handler);
  release(process, window->comm);
  process.windows.free(window);
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}
