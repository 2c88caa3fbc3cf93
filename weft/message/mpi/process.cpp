// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <unistd.h>

#include <weft/message/mpi/buffering.hpp>
#include <weft/message/mpi/error_codes.hpp>
#include <weft/message/mpi/file.hpp>
#include <weft/message/mpi/file_access.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/recovery.hpp>
#include <weft/message/mpi/session.hpp>
#include <weft/message/mpi/taken.hpp>
#include <weft/message/mpi/tool.hpp>
#include <weft/message/mpi/transfer.hpp>
#include <weft/message/mpi/window.hpp>

namespace weft::mpi {

// A thread that runs no rank: the program's own, in a simulation. Other ranks' output is not ours
// to flush.
void refuse_thread() {
  static constexpr char text[] = "weft: error: a thread that runs no rank called MPI\n";
  if (::write(STDERR_FILENO, text, sizeof text - 1) < 0) std::abort();
  ::_exit(1);
}

Process::Process(const Fabric& fabric_of_rank, const mp::Options& options, Runtime& outside)
    : fabric(fabric_of_rank), runtime(outside), messenger(fabric_of_rank, options) {
  world.handle = MPI_COMM_WORLD;
  world.name = "MPI_COMM_WORLD";
  world.local = mp::Members::range(fabric.first, fabric.ranks);
  world.rank = static_cast<int>(fabric.self.index - fabric.first);
  world.context = next_context++;
  ++next_context;  // That of MPI_COMM_SELF.
  universe_size = world.size();
  if (fabric.observer != nullptr) fabric.observer->set_teller(this);
}

void Process::take_over(Process& earlier) {
  infos.swap(earlier.infos);
  handlers.swap(earlier.handlers);
  error_codes = std::move(earlier.error_codes);
  last_used_code = earlier.last_used_code;
  tool = std::move(earlier.tool);
  file_handler = earlier.file_handler;
  world.handler = earlier.world.handler;
  if (const Communicator* const other = earlier.self_only_if_made())
    self_only().handler = other->handler;
}

Communicator& Process::make_self_only() {
  self_only_ = std::make_unique<Communicator>();
  self_only_->handle = MPI_COMM_SELF;
  self_only_->name = "MPI_COMM_SELF";
  const std::array<RankId, 1> me = {fabric.self};
  self_only_->local = mp::Members::of(me);
  self_only_->context = world.context + 1;
  return *self_only_;
}

Process::~Process() {
  if (fabric.observer != nullptr) fabric.observer->set_teller(nullptr);
}

void Process::progress() {
  messenger.progress();
  if (!orphans.empty()) sweep();
  if (messenger.news() != news_) note_news();
}

void Process::wait_low(const mp::Request* request, const Communicator* any_of) {
  const auto in_doubt = [&] {
    return any_of != nullptr && any_of->any_source_in_doubt() && !request->matched;
  };
  if (CallLock::active() != nullptr) [[unlikely]] {
    wait_until([&] { return request->done || in_doubt(); });
    return;
  }
  while (!request->done && !in_doubt()) {
    messenger.wait(request);
    if (!orphans.empty()) sweep();
    if (messenger.news() != news_) note_news();
  }
}

Process::CallPutAway::CallPutAway(Process& process)
    : process_(process),
      next_(std::exchange(process.put_away_, this)),
      thread_(process.fabric.processor.thread()),
      call_(std::exchange(process.call, nullptr)),
      entered_(process.entered),
      waiting_for_(std::exchange(process.waiting_for, {})),
      tuning_(std::exchange(process.tuning, process.set_tuning)) {
  if (next_ != nullptr) next_->before_ = this;
}

Process::CallPutAway::~CallPutAway() {
  (before_ == nullptr ? process_.put_away_ : before_->next_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
  process_.call = call_;
  process_.entered = entered_;
  process_.waiting_for = waiting_for_;
  process_.tuning = tuning_;
}

Waiting Process::CallPutAway::waiting() const {
  Waiting described = process_.describe_wait(call_, waiting_for_);
  described.thread = thread_;
  return described;
}

Process::ThreadOutside::ThreadOutside(Process& process) : lock_(CallLock::active()) {
  if (lock_ == nullptr) return;
  away_.emplace(process);
  depth_ = lock_->let_go();
}

Process::ThreadOutside::~ThreadOutside() {
  if (lock_ != nullptr) lock_->take_up(depth_);
}

void Process::wait_among_threads(CallLock& lock, CallLock::Waiter& me) {
  progress();
  if (me.holds()) return;
  const CallPutAway away(*this);
  lock.add(me);
  while (!lock.ready(me)) {
    if (!lock.leads(me)) {
      lock.sleep(me);
      continue;
    }
    messenger.pause();
    lock.step_aside();
    progress();
    lock.settle(&me);
  }
  lock.remove(me);
}

void Process::help_waiters(CallLock& lock) {
  progress();
  lock.settle(nullptr);
}

namespace {

bool is_fatal(MPI_Errhandler handler) {
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
}

// A program handles errors if it does so for those that belong to no communicator, or for any one
// that it has made. One without MPI_Init handles them if all of its sessions do.
bool loss_is_fatal(Process& process) {
  if (process.stage != Process::Stage::before) {
    bool handles = !is_fatal(default_communicator(process).handler);
    process.communicators.for_each([&](const Communicator& comm) {
      handles = handles || (!comm.freed && !comm.internal && !is_fatal(comm.handler));
    });
    return !handles;
  }
  bool fatal = process.sessions.alive() == 0;
  process.sessions.for_each([&](const Session& s) { fatal = fatal || is_fatal(s.handler); });
  return fatal;
}

}  // namespace

// Unless the program handles errors, the loss of a rank ends the job, even if no rank waits for it.
void Process::note_losses() {
  if (losses_ == messenger.lost().size()) return;
  const bool fatal = loss_is_fatal(*this);
  while (losses_ < messenger.lost().size()) {
    const RankId lost = messenger.lost()[losses_++];
    // A rank that no communicator leads to any more is not missed.
    bool missed = fabric.started_together(lost);
    communicators.for_each([&](const Communicator& comm) {
      missed = missed || (!comm.freed && !comm.parting && comm.has(lost));
    });
    misses_ = misses_ || missed;
    if (missed && fatal) end_for(lost);
    const auto tell = [&](Communicator& comm) {
      if (comm.has(lost)) catch_up(*this, comm);
    };
    tell(world);
    communicators.for_each(tell);
    if (consensus) consensus->lose(lost);
  }
  consider_losses();
}

// What a rank said before it was lost counts.
void Process::note_news() {
  news_ = messenger.news();
  hear_words(*this);
  note_losses();
}

void Process::consider_losses() {
  Resilience now = misses_ ? Resilience::noticed : Resilience::handles;
  if (recovers_) now = Resilience::recovers;
  if (loss_is_fatal(*this)) now = Resilience::none;
  if (std::exchange(told_, now) != now) runtime.tell_resilience(now);
}

void Process::recover() {
  if (!std::exchange(recovers_, true)) consider_losses();
}

void Process::end_for(RankId lost) {
  const std::string why = runtime.trouble_with(lost);
  end_job(*this, MPI_ERR_PROC_FAILED,
          "rank " + std::to_string(rank().index) + ": rank " + std::to_string(lost.index) +
              " is lost" + (why.empty() ? "" : ": " + why));
}

void Process::found_nothing() {
  if (real_time) {
    std::optional<CallPutAway> away;
    if (CallLock* const lock = CallLock::active(); lock != nullptr) {
      away.emplace(*this);
      lock->step_aside();
    }
    fabric.transport.wait(Time::zero());  // Others may need the processor.
    return;
  }
  const Time now = fabric.processor.now();
  const Duration step = idle_.step(entered, now);
  std::optional<CallPutAway> away;
  if (CallLock* const lock = CallLock::active(); lock != nullptr) [[unlikely]] {
    away.emplace(*this);
    lock->step_aside();
  }
  if (step > Duration()) fabric.transport.wait(now + step);
}

Duration Process::idle() const {
  return idle_.lasting();
}

void Process::asked_time() {
  if (real_time) return;
  ++clock_reads_;
  constexpr std::uint32_t patience = 1000;  // More often than any program that only measures time.
  constexpr std::uint32_t longest = 10;     // Number of doublings, up to 1.024 us.
  fabric.processor.catch_up();
  if (fabric.processor.now() != asked_at_) {
    asked_ = 0;
  } else if (++asked_ > patience) {
    fabric.processor.spend(Duration::ns(1) *
                           (std::int64_t{1} << std::min(asked_ - patience, longest)));
  }
  asked_at_ = fabric.processor.now();
}

void Process::sweep() {
  // A callback of the program may free more requests meanwhile.
  for (std::size_t i = 0; i < orphans.size();) {
    Request* request = orphans[i];
    if (!is_done(*request)) {
      ++i;
      continue;
    }
    orphans.erase(orphans.begin() + static_cast<std::ptrdiff_t>(i));
    finish(*this, *request);
    if (const Generalized* const own = request->generalized.get(); own && own->free) {
      outside([&] { return own->free(own->state); });
    }
    free_request(*this, request);
  }
}

Waiting Process::waiting() const {
  return describe_wait(call, waiting_for);
}

std::vector<Waiting> Process::threads_waiting() const {
  std::vector<Waiting> all;
  for (const CallPutAway* one = put_away_; one != nullptr; one = one->next())
    all.push_back(one->waiting());
  return all;
}

Waiting Process::describe_wait(const char* call_name, const WaitingFor& wait) const {
  Waiting result;
  result.call = call_name ? call_name : "";
  constexpr int named_max = 4;  // A hint for the reader, not a list.
  int open = 0;
  const auto name = [&](const Request& request) {
    if (open++ >= named_max) return;
    if (open > 1) result.what += ", ";
    result.what += describe(request, &result.on);
  };
  if (wait.probed) name(*wait.probed);
  for (int i = 0; i < wait.count; ++i) {
    const Request* request = wait.requests ? wait.requests[i] : requests.find(wait.handles[i]);
    if (request && !is_done(*request)) name(*request);
  }
  if (open > named_max) result.what += " and " + std::to_string(open - named_max) + " more";
  if (open == 0 && call_name) result.what = "other ranks";
  return result;
}

}  // namespace weft::mpi
