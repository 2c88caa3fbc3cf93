// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <weft/network/topo/topology.hpp>
#include <weft/program/simulated_run/rank_thread_calls.hpp>
#include <weft/program/simulated_run/ranks.hpp>

namespace weft {

ProgramRanks* ProgramRanks::current_ = nullptr;

ProgramRanks::ProgramRanks(const SimulationSetup& setup, const coll::Choices& collectives,
                           ProgramCopies& copies, Console& console)
    : setup_(setup),
      collectives_(collectives),
      copies_(copies),
      console_(console),
      processes_(setup.placement->ranks()),
      managed_(setup.layout == nullptr ? 0 : setup.placement->ranks()),
      connections_(managed_.size()),
      codes_(setup.placement->ranks()) {}

void ProgramRanks::attach(World& world, const ProgramCall& call) {
  world_ = &world;
  call_ = call;
  current_ = this;
}

void ProgramRanks::keep_timelines() {
  const std::uint32_t ranks = setup_.placement->ranks();
  timelines_.resize(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const RankId rank(r);
    if (!world_->is_here(rank)) continue;
    timelines_[r] = std::make_unique<CallTimeline>(
        spans_per_rank(ranks), [world = world_, rank] { return world->counts(rank).waited; });
  }
}

std::vector<CallTimelinePart> ProgramRanks::timelines() const {
  std::vector<CallTimelinePart> pages;
  for (std::uint32_t r = 0; r < timelines_.size(); ++r) {
    const RankId rank(r);
    if (timelines_[r] == nullptr) continue;
    const Time now = world_->done(rank) ? world_->counts(rank).ended : world_->now(rank);
    pages.push_back(timelines_[r]->read(r, now));
  }
  return pages;
}

namespace {

// Programs modify their arguments, so every rank has its own.
class Arguments {
 public:
  Arguments(int count, char** from) : pointers_(static_cast<std::size_t>(count) + 1) {
    std::size_t size = 0;
    for (int i = 0; i < count; ++i) size += std::strlen(from[i]) + 1;
    text_ = std::make_unique<char[]>(size);
    char* at = text_.get();
    for (int i = 0; i < count; ++i) {
      const std::size_t length = std::strlen(from[i]) + 1;
      std::memcpy(at, from[i], length);
      pointers_[static_cast<std::size_t>(i)] = at;
      at += length;
    }
  }
  char** get() { return pointers_.data(); }

 private:
  std::unique_ptr<char[]> text_;
  std::vector<char*> pointers_;
};

}  // namespace

void ProgramRanks::run(const Fabric& fabric) {
  const std::uint32_t rank = fabric.self.index;
  if (processes_of_ranks_ != nullptr) {
    run_separately(fabric);
    return;
  }
  if (!managed_.empty()) {
    managed_[rank] = std::make_unique<conn::Managed>(fabric, *setup_.layout, setup_.connections);
  }
  const Fabric& network = managed_.empty() ? fabric : managed_[rank]->fabric();
  processes_[rank] = std::make_unique<mpi::Process>(network, setup_.machine.messages, *this);
  processes_[rank]->choices = &collectives_;
  if (!timelines_.empty()) processes_[rank]->profile.listener = timelines_[rank].get();
  Arguments arguments(call_.count, call_.arguments);
  Current::set(&fabric, processes_[rank].get());
  if (Status ready = copies_.prepare(rank); !ready) abort(fabric.self, 1, ready.error().text());
  copies_.enter(rank);
  copies_.run_constructors(rank, call_.count, arguments.get(), call_.environment);
  fabric.processor.leave_call();
  const int code =
      copies_.main_of(rank, call_.main)(call_.count, arguments.get(), call_.environment);
  copies_.run_destructors(rank);
  finish(fabric, code);
}

void ProgramRanks::exit_rank(int code, bool handlers) {
  const Fabric& fabric = *Current::fabric();
  if (handlers) copies_.run_destructors(fabric.self.index);
  finish(fabric, code);
  World::end_current();
}

// The program no longer needs the network, but others may need this rank as a relay.
void ProgramRanks::leave() {
  if (managed_.empty()) return;
  const auto& managed = managed_[Current::fabric()->self.index];
  if (managed != nullptr) managed->leave();
}

conn::Counts ProgramRanks::connections(RankId rank) const {
  if (managed_.empty()) return {};
  if (processes_of_ranks_ != nullptr)
    return servers_[rank.index] == nullptr ? conn::Counts()
                                           : servers_[rank.index]->report().connections;
  const auto& managed = managed_[rank.index];
  return managed == nullptr ? connections_[rank.index] : managed->counts();
}

// Ends a rank that has left its main. A rank that did not call MPI_Finalize ends the job, as the
// others would wait for it forever.
void ProgramRanks::finish(const Fabric& fabric, int code) {
  const RankId rank = fabric.self;
  mpi::Process& process = *processes_[rank.index];
  if (!process.running() && process.leaves_at_exit) leave();
  if (process.running()) {
    abort(rank, code == 0 ? 1 : code,
          "it ended with " + std::to_string(code) + " and without MPI_Finalize" +
              (process.open_sessions > 0 ? " or MPI_Session_finalize" : ""));
  }
  {
    const std::lock_guard lock(mutex_);
    add_profile(*processes_[rank.index], totals_);
    protocols_.add(protocols_of(*processes_[rank.index]));
  }
  // First: what watches memory may ask the time while the process is taken apart.
  Current::set(&fabric, nullptr);
  processes_[rank.index].reset();
  end_rank(fabric, code);
}

void ProgramRanks::end_rank(const Fabric& fabric, int code) {
  const RankId rank = fabric.self;
  codes_[rank.index] = code;
  console_.end(rank, fabric.processor.now());
  if (managed_.empty() || managed_[rank.index] == nullptr) return;
  connections_[rank.index] = managed_[rank.index]->counts();
  managed_[rank.index].reset();
}

void ProgramRanks::add_profile(const mpi::Process& process, CallTable& totals) {
  CallTable mine;
  for (const mpi::Profile::Record& record : process.profile.records())
    mine[record.call].add({record.count, record.bytes, record.inside, {}, {}});
  add_rank(totals, process.rank(), mine);
}

std::uint64_t ProgramRanks::clock_reads() const {
  std::uint64_t reads = 0;
  for (const auto& process : processes_) reads += process == nullptr ? 0 : process->clock_reads();
  for (const auto& server : servers_) reads += server == nullptr ? 0 : server->report().clock_reads;
  return reads;
}

std::map<std::string, CallTotals> ProgramRanks::calls() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, CallTotals> totals = totals_;
  for (const auto& process : processes_) {  // Ranks that have not ended.
    if (process != nullptr) add_profile(*process, totals);
  }
  for (std::uint32_t rank = 0; rank < servers_.size(); ++rank) {
    if (servers_[rank] == nullptr) continue;
    CallTable mine;
    for (const RankReport::CallRecord& record : servers_[rank]->report().calls)
      mine[record.call].add({record.count, record.bytes, record.inside, {}, {}});
    add_rank(totals, RankId(rank), mine);
  }
  return totals;
}

void ProtocolCounts::add(const ProtocolCounts& more) {
  eager += more.eager;
  rendezvous += more.rendezvous;
  unexpected += more.unexpected;
}

ProtocolCounts ProgramRanks::protocols_of(const mpi::Process& process) {
  const mp::Messenger::Use& use = process.messenger.use();
  return {use.eager, use.rendezvous, use.unexpected};
}

ProtocolCounts ProgramRanks::protocols() const {
  const std::lock_guard lock(mutex_);
  ProtocolCounts sum = protocols_;
  for (const auto& process : processes_) {  // Ranks that have not ended.
    if (process != nullptr) sum.add(protocols_of(*process));
  }
  for (const auto& server : servers_) {
    if (server == nullptr) continue;
    const RankReport& report = server->report();
    sum.add({report.eager, report.rendezvous, report.unexpected});
  }
  return sum;
}

AlgorithmTable ProgramRanks::algorithms() const {
  AlgorithmTable table;
  if (collectives_.usage() != nullptr) table = collectives_.usage()->by_name();
  for (const auto& server : servers_) {
    if (server == nullptr) continue;
    for (const RankReport::AlgorithmCount& one : server->report().algorithms)
      table[one.name] += one.calls;
  }
  return table;
}

// The filter of a main thread stays with the threads that it makes.
void ProgramRanks::begin_thread(RankId rank, bool main) {
  prepare_own_thread_for_crashes();
  if (!main) {
    copies_.begin_thread(rank.index);
  } else if (Status caught = catch_waits(); !caught) {
    abort(rank, 1, caught.error().text());
  }
}

bool ProgramRanks::admit_threads() {
  if (!has_threads_) return false;
  RankThreads* const threads = World::current_threads_if_any();
  if (threads != nullptr && threads->has_several()) threads->admit();
  return true;
}

void ProgramRanks::abort(RankId rank, int code, const std::string& message) {
  const Time now = Current::fabric()->processor.now();
  console_.end(rank, now);
  {
    const std::lock_guard lock(mutex_);
    aborts_.push_back({now, rank, code, message});
  }
  world_->stop(rank, now);
  World::end_current();
}

void ProgramRanks::place_memory(const void* data, std::size_t size, int socket) {
  if (socket < setup_.machine.node.sockets)
    world_->place_memory(Current::fabric()->self, data, size, socket);
}

void ProgramRanks::begin_window(const std::string& name) {
  end_window();
  const Fabric& fabric = *Current::fabric();
  const std::lock_guard lock(mutex_);
  open_windows_[fabric.self.index] = {name, fabric.processor.now(), world_->counts(fabric.self)};
}

void ProgramRanks::end_window() {
  const Fabric& fabric = *Current::fabric();
  const std::lock_guard lock(mutex_);
  const auto open = open_windows_.find(fabric.self.index);
  if (open == open_windows_.end()) return;
  const OpenWindow& window = open->second;
  const RankCounts& now = world_->counts(fabric.self);
  WindowTotals& total = windows_[window.name];
  ++total.entries;
  total.first_start = std::min(total.first_start, window.since);
  total.last_stop = std::max(total.last_stop, fabric.processor.now());
  total.inside += fabric.processor.now() - window.since;
  total.waited += now.waited - window.before.waited;
  total.spent += now.spent - window.before.spent;
  total.messages += now.messages - window.before.messages;
  total.bytes += now.bytes - window.before.bytes;
  open_windows_.erase(open);
}

void ProgramRanks::note(const std::string& text) {
  const Fabric& fabric = *Current::fabric();
  const std::lock_guard lock(mutex_);
  notes_.push_back({fabric.processor.now(), fabric.self, text});
}

bool ProgramRanks::recall(std::uint64_t key, void* data, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end() || found->second.size() != size) return false;
  if (size > 0) std::memcpy(data, found->second.data(), size);
  return true;
}

void ProgramRanks::remember(std::uint64_t key, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  const std::lock_guard lock(mutex_);
  keys_.try_emplace(key, bytes, bytes + size);
}

std::map<std::string, WindowTotals> ProgramRanks::windows() const {
  const std::lock_guard lock(mutex_);
  return windows_;
}

std::vector<Note> ProgramRanks::notes() const {
  const std::lock_guard lock(mutex_);
  std::vector<Note> sorted = notes_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Note& a, const Note& b) {
    return a.at != b.at ? a.at < b.at : a.rank < b.rank;
  });
  return sorted;
}

std::string ProgramRanks::processor_name(RankId rank) const {
  const std::uint32_t rails = static_cast<std::uint32_t>(setup_.machine.node.rails);
  return node_name(*setup_.machine.topology, NodeId(node_of(rank) * rails));
}

std::vector<ProgramRanks::Abort> ProgramRanks::aborts() const {
  const std::lock_guard lock(mutex_);
  std::vector<Abort> sorted = aborts_;
  std::sort(sorted.begin(), sorted.end(), [](const Abort& a, const Abort& b) {
    return a.at != b.at ? a.at < b.at : a.rank < b.rank;
  });
  return sorted;
}

}  // namespace weft
