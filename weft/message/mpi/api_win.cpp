// SPDX-License-Identifier: Apache-2.0
// Creation and freeing of windows.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/internal_group.hpp>
#include <weft/message/mpi/shared_block.hpp>
#include <weft/message/mpi/shared_window.hpp>
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

  const std::optional<std::uint32_t> context =
      agree_context(process, const_cast<Communicator&>(*parent));
  if (!context) {
    error = call.result(parent, parent->failure());
    return nullptr;
  }
  Window* window = process.windows.make();
  window->handle = reinterpret_cast<MPI_Win>(window);
  window->comm = make_communicator(process, *parent, {*context, parent->local, {}, false});
  window->comm->internal = true;
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

void stop_serving(Process& process, Window& window) {
  if (window.listening) process.messenger.cancel(window.listening);
  process.run(window.server);
}

void discard(Process& process, Window* window) {
  release_handler(process, window->handler);
  release(process, window->comm);
  process.windows.free(window);
}

// If one rank has failed, all have. No rank is accessed before all are ready.
int agree(Process& process, const Window& window, int error) {
  std::array<std::uint32_t, 1> worst = {static_cast<std::uint32_t>(error)};
  const bool lost = process.run(all_max(scope_of(process, *window.comm), worst)) != 0;
  return lost && worst[0] == MPI_SUCCESS ? MPI_ERR_PROC_FAILED : static_cast<int>(worst[0]);
}

int allocate_window(Call& call, const Wanted& wanted, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  if (!call.error() && (!baseptr || !win)) return call.result(MPI_ERR_ARG);
  int error = MPI_SUCCESS;
  Window* window = create(call, wanted, comm, error);
  if (!window) return error;
  Process& process = call.process();
  const auto size = static_cast<std::size_t>(std::max<MPI_Aint>(wanted.size, 1));
  window->memory.reset(new (std::nothrow) std::byte[size]);
  window->base = window->memory.get();
  error = agree(process, *window, window->memory ? MPI_SUCCESS : MPI_ERR_NO_MEM);
  if (error != MPI_SUCCESS) {
    stop_serving(process, *window);
    discard(process, window);
    return call.result(call.communicator(comm), error, std::to_string(size) + " bytes");
  }
  *static_cast<void**>(baseptr) = window->base;
  *win = window->handle;
  return MPI_SUCCESS;
}

void push(Words& words, std::uint64_t value) {
  words.push_back(static_cast<std::uint32_t>(value));
  words.push_back(static_cast<std::uint32_t>(value >> 32));
}
std::uint64_t pull(const Words& words, std::size_t index) {
  return words[2 * index] | std::uint64_t{words[2 * index + 1]} << 32;
}

// What rank 0 tells all about the memory of a shared window: first the wants of all ranks, then
// these.
enum SharedWord : std::size_t { trouble, apart, alignment, ticket, shared_words = ticket + 3 };

// The parts of a shared window must follow each other, unless the program says that they need not.
bool may_lie_apart(const Window& window) {
  const std::string* hint = window.info.find("alloc_shared_noncontig");
  return hint && *hint == "true";
}

// As the program wishes, up to the size of a page: a block cannot promise more.
std::uint64_t wanted_alignment(const Window& window) {
  const std::string* hint = window.info.find("mpi_minimum_memory_alignment");
  std::uint64_t value = 0;
  if (hint) std::from_chars(hint->data(), hint->data() + hint->size(), value);
  return std::has_single_bit(value) ? std::min<std::uint64_t>(value, 4096) : 1;
}

// Makes the memory of a shared window and maps it, step by step with the other ranks.
class Sharing {
 public:
  Sharing(Process& process, Window& window) : process_(process), window_(window) {}

  // The same on all ranks.
  int run() {
    tell_wants();
    if (facts_.size() != 2 * (2 * ranks_ + shared_words)) return MPI_ERR_PROC_FAILED;
    lay_out();
    int error = static_cast<int>(fact(trouble));
    if (error == MPI_SUCCESS) {
      if (!window_.common.block) error = open();
      if (error == MPI_SUCCESS) error = map();
      error = agree(process_, window_, error);
    }
    if (window_.common.block) window_.common.block->close();
    return error;
  }
  const std::string& detail() const { return detail_; }

 private:
  std::uint64_t fact(std::size_t word) const { return pull(facts_, 2 * ranks_ + word); }

  // All wants go to rank 0, which makes the memory for all, and from there to everybody.
  void tell_wants() {
    Words mine;
    push(mine, static_cast<std::uint64_t>(window_.size));
    push(mine, static_cast<std::uint64_t>(window_.unit));
    const InternalScope scope = scope_of(process_, *window_.comm);
    process_.run(collect(scope.own, mine, facts_));
    if (scope.own.rank == 0) make();
    process_.run(broadcast(scope.own, 0, facts_));
  }

  void make() {
    const std::size_t before = facts_.size();
    push(facts_, 0);
    push(facts_, may_lie_apart(window_) ? 1 : 0);
    push(facts_, wanted_alignment(window_));
    const bool fits = lay_out();
    auto made = fits ? process_.runtime.make_shared(layout_.size)
                     : weft::Error::run("more bytes than can be addressed");
    weft::mpi::SharedTicket ticket = {};
    if (made) {
      window_.common.block = *std::move(made);
      ticket = window_.common.block->ticket();
    } else {
      detail_ = made.error().text();
      facts_[before] = MPI_ERR_NO_MEM;
    }
    for (const std::uint64_t word : ticket) push(facts_, word);
  }

  bool lay_out() {
    std::vector<weft::mpi::SharedLayout::Want> wants;
    for (std::size_t i = 0; i < ranks_; ++i) {
      wants.push_back({pull(facts_, 2 * i), pull(facts_, 2 * i + 1)});
    }
    wants_ = std::move(wants);
    return layout_.lay_out(wants_, fact(apart) != 0, fact(alignment));
  }

  int open() {
    auto opened = process_.runtime.open_shared({fact(ticket), fact(ticket + 1), fact(ticket + 2)},
                                               layout_.size);
    if (!opened) {
      detail_ = opened.error().text();
      return MPI_ERR_RMA_SHARED;
    }
    window_.common.block = *std::move(opened);
    return MPI_SUCCESS;
  }

  int map() {
    const auto rank = static_cast<std::size_t>(window_.comm->rank);
    // What stands before all parts belongs to rank 0.
    const std::uint64_t from = rank == 0 ? 0 : layout_.offsets[rank];
    const std::uint64_t to = layout_.offsets[rank] + wants_[rank].size;
    const auto mapped = window_.common.block->map(from, to - from);
    if (!mapped) {
      detail_ = mapped.error().text();
      return MPI_ERR_NO_MEM;
    }
    for (std::size_t i = 0; i < ranks_; ++i) {
      const bool nowhere = wants_[i].size == 0 && fact(apart) != 0;
      window_.common.parts.push_back({nowhere ? nullptr : *mapped + layout_.offsets[i],
                                      static_cast<MPI_Aint>(wants_[i].size),
                                      static_cast<MPI_Aint>(wants_[i].unit)});
    }
    window_.common.controls = reinterpret_cast<weft::mpi::SharedControl*>(*mapped);
    window_.base = window_.common.parts[rank].base;
    return MPI_SUCCESS;
  }

  Process& process_;
  Window& window_;
  const std::size_t ranks_ = static_cast<std::size_t>(window_.comm->size());
  Words facts_;
  std::vector<weft::mpi::SharedLayout::Want> wants_;
  weft::mpi::SharedLayout layout_;
  std::string detail_ = "another rank has failed";
};

// Empty if all ranks are on one node.
std::string why_not_shared(const Process& process, const Communicator& comm) {
  const auto node = process.runtime.node_of(process.rank());
  for (int i = 0; i < comm.size(); ++i) {
    const weft::RankId rank = comm.local[i];
    if (process.runtime.node_of(rank) == node) continue;
    return "rank " + std::to_string(i) + " of the communicator is on " +
           process.runtime.processor_name(rank) + ", this rank on " +
           process.runtime.processor_name(process.rank()) +
           "; MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators of one node";
  }
  return {};
}

int allocate_shared(Call& call, const Wanted& wanted, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  const Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  if (!baseptr || !win) return call.result(parent, MPI_ERR_ARG);
  Process& process = call.process();
  if (const std::string why = why_not_shared(process, *parent); !why.empty()) {
    return call.result(parent, MPI_ERR_RMA_SHARED, why);
  }
  int error = MPI_SUCCESS;
  Window* window = create(call, wanted, comm, error);
  if (!window) return error;
  Sharing sharing(process, *window);
  error = sharing.run();
  if (error != MPI_SUCCESS) {
    stop_serving(process, *window);
    discard(process, window);
    return call.result(parent, error, sharing.detail());
  }
  *static_cast<void**>(baseptr) = window->base;
  *win = window->handle;
  return MPI_SUCCESS;
}

int create_window(const char* name, const Wanted& wanted, MPI_Comm comm, MPI_Win* win) {
  Call call(name, Call::communicates);
  int error = MPI_SUCCESS;
  if (!call.error() && !win) return call.result(MPI_ERR_ARG);
  Window* window = create(call, wanted, comm, error);
  if (!window) return error;
  internal_barrier(call.process(), *window->comm);  // No rank is accessed before it is ready.
  *win = window->handle;
  return MPI_SUCCESS;
}

struct Found {
  MPI_Aint size, unit;
  void* base;
};
// Of a window that is not shared, a rank reaches its own memory alone.
std::vector<Window::Part> reachable_parts(const Window& window) {
  if (window.shared()) return window.common.parts;
  std::vector<Window::Part> parts(static_cast<std::size_t>(window.comm->size()));
  parts[static_cast<std::size_t>(window.comm->rank)] = window.own_part();
  return parts;
}

int query(Call& call, MPI_Win win, int rank, Found& found) {
  const Window* window = call.window(win);
  if (!window) return call.error();
  if (window->flavor == MPI_WIN_FLAVOR_DYNAMIC) return result(call, *window, MPI_ERR_RMA_FLAVOR);
  const std::vector<Window::Part> parts = reachable_parts(*window);
  const auto give = [&](const Window::Part& part) {
    found = {part.size, part.unit, part.base};
    return MPI_SUCCESS;
  };
  if (rank != MPI_PROC_NULL) {
    if (rank < 0 || rank >= window->comm->size()) return result(call, *window, MPI_ERR_RANK);
    return give(parts[static_cast<std::size_t>(rank)]);
  }
  // The lowest rank that has any memory.
  const auto first = std::find_if(parts.begin(), parts.end(),
                                  [](const Window::Part& part) { return part.size > 0; });
  return give(first == parts.end() ? Window::Part{nullptr, 0, window->unit} : *first);
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
  stop_serving(process, *window);
  internal_barrier(process, *window->comm);  // All have stopped.
  discard(process, window);
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}
