// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include <weft/base/check.hpp>
#include <weft/base/rng.hpp>
#include <weft/simulate/nodes/machinery.hpp>
#include <weft/simulate/nodes/rank.hpp>

namespace weft {

namespace {

// By a system call: in a program's rank the C library's function shows virtual time.
std::int64_t thread_time_ns() {
  timespec t = {};
  ::syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// What two looks at that clock add to the time between them.
std::int64_t look_cost_ns() {
  constexpr int looks = 100;
  static const std::int64_t least = [] {
    std::int64_t shortest = thread_time_ns();
    for (std::int64_t i = 0, before = thread_time_ns(); i < looks; ++i) {
      const std::int64_t now = thread_time_ns();
      shortest = std::min(shortest, now - before);
      before = now;
    }
    return shortest;
  }();
  return least;
}

// When the rank's program begins.
Time start_of(const WorldSetup& setup, RankId rank) {
  const auto most = static_cast<std::uint64_t>(setup.start_skew.in_ps());
  Rng dice = Rng(setup.seed).stream("start", rank.index);
  return Time::ps(static_cast<std::int64_t>(dice.below(most + 1)));
}

}  // namespace

Parcel* Parcel::make(ParcelPool* pool) {
  void* const memory =
      pool == nullptr ? ::operator new(sizeof(Parcel)) : pool->take(sizeof(Parcel));
  auto* const parcel = ::new (memory) Parcel;
  parcel->pool_ = pool;
  return parcel;
}

void Parcel::operator delete(Parcel* parcel, std::destroying_delete_t) {
  ParcelPool* const pool = parcel->pool_;
  parcel->~Parcel();
  if (pool == nullptr)
    ::operator delete(parcel);
  else
    pool->give_back(parcel);
}

SimRank::SimRank(Machinery& machinery, RankId self)
    : machinery_(machinery),
      fabric_{.self = self,
              .ranks = machinery.setup.placement->ranks(),
              .ordered = machinery.in_order && machinery.setup.node.rails == 1 &&
                         machinery.setup.model.fidelity == Fidelity::packet,
              .carries_data = machinery.setup.carry_data,
              .transport = *this,
              .connections = *this,
              .rails = *this,
              .processor = *this,
              .observer = this},
      self_(self),
      until_(start_of(machinery.setup, self)) {
  if (machinery.setup.storage.any()) storage = std::make_unique<StorageClient>(*this);
}

int SimRank::rail_count(RankId) const {
  return machinery_.setup.node.rails;
}

RailFacts SimRank::rail_facts(RankId, RailId rail) const {
  const NodeModel& node = machinery_.setup.node;
  const bool near =
      node.socket_of_card(static_cast<int>(rail.index)) == machinery_.socket_of(self_);
  return {machinery_.setup.machine.inject_rate, near ? Duration::zero() : node.far_latency, true};
}

bool SimRank::needs_connection(RankId peer) const {
  return machinery_.node_of(peer) != machinery_.node_of(self_);
}

SimRank::Connection& SimRank::connection(RankId peer) {
  if (connections_ == nullptr) connections_ = std::make_unique<ConnectionTable>();
  return (*connections_)[peer.index];
}

bool SimRank::connected(RankId peer) const {
  if (!needs_connection(peer)) return true;
  if (connections_ == nullptr) return false;
  const auto known = connections_->find(peer.index);
  return known != connections_->end() && known->second.open();
}

// Simulated NICs reach all ranks without connections; connections cost time if they are asked for.
void SimRank::connect(RankId peer) {
  if (!needs_connection(peer)) {
    tell_up(peer, now());
  } else if (!connection(peer).greets) {
    greet(peer);
  }
}

// Both have agreed to it; but on a network that keeps no order the peer's greeting may be the last
// thing to come.
void SimRank::disconnect(RankId peer) {
  if (!needs_connection(peer)) return;
  Connection& old = connection(peer);
  const bool late = !old.heard;
  old = {};
  old.late = late;
}

void SimRank::greet(RankId peer) {
  connection(peer).greets = true;
  spend_in_mpi(machinery_.setup.node.connect_time);
  settle();
  const SendPath path{peer, RailId(0), Duration::zero()};
  Parcel* const parcel = make_parcel(path, 0);
  parcel->greeting = Parcel::Greeting::hello;
  machinery_.send(parcel, path, clock_);
}

// A connection is open once each has greeted the other. What came after the greeting is looked at
// after it, however long we took to answer.
void SimRank::hear(RankId peer, Time at) {
  if (std::exchange(connection(peer).late, false)) return;
  connection(peer).heard = true;
  if (!connection(peer).greets) greet(peer);
  tell_up(peer, at);
}

void SimRank::tell_up(RankId peer, Time at) {
  for (std::uint32_t i = 0; i < machinery_.rails(); ++i) {
    Parcel* const up = machinery_.make_parcel();
    up->from = peer;
    up->rail = RailId(i);
    up->greeting = Parcel::Greeting::up;
    push({at, peer.index, sequence_++, up, 0});
  }
}

Parcel* SimRank::make_parcel(const SendPath& path, std::uint64_t cookie) {
  WEFT_CHECK(path.peer.index < fabric_.ranks && path.rail.index < machinery_.rails());
  Parcel* const parcel = machinery_.make_parcel();
  parcel->from = self_;
  parcel->to = path.peer;
  parcel->rail = path.rail;
  parcel->sequence = sequence_++;
  parcel->cookie = cookie;
  return parcel;
}

void SimRank::post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                   std::uint64_t cookie) {
  if (local.reach(path.peer)) local.spend_on_sending(payload.size);
  settle();
  Parcel* const parcel = make_parcel(path, cookie);
  parcel->head = head;
  parcel->size = payload.size;
  parcel->held = payload.held();
  if (payload.data != nullptr && payload.size > 0) {
    parcel->source = payload.data;
    if (!stable) {
      parcel->data = std::make_unique_for_overwrite<std::byte[]>(parcel->held);
      std::memcpy(parcel->data.get(), payload.data, parcel->held);
      parcel->source = nullptr;
    }
  }
  machinery_.send(parcel, path, clock_);
}

void SimRank::write(const SendPath& path, Payload payload, RemoteMemory target,
                    const FrameHead& notice, std::uint64_t cookie) {
  settle();
  Parcel* const parcel = make_parcel(path, cookie);
  parcel->is_write = true;
  parcel->head = notice;
  parcel->size = parcel->held = payload.size;
  parcel->source = payload.data;
  if (target.key != 0) parcel->target = reinterpret_cast<std::byte*>(target.key) + target.offset;
  if (machinery_.setup.own_memory && payload.data != nullptr) {
    parcel->data = std::make_unique_for_overwrite<std::byte[]>(payload.size);
    std::memcpy(parcel->data.get(), payload.data, payload.size);
    parcel->source = nullptr;
  }
  if (!local.writes(path.peer, parcel)) machinery_.send(parcel, path, clock_);
}

bool SimRank::poll(Completion& out) {
  settle();
  Event event;
  for (;;) {
    if (inbox_.empty() || inbox_.front().at > clock_) return false;
    std::pop_heap(inbox_.begin(), inbox_.end());
    event = inbox_.back();
    inbox_.pop_back();
    if (event.parcel == nullptr || event.parcel->task == nullptr) break;
    storage->hear(std::unique_ptr<Parcel>(event.parcel));
  }
  if (event.parcel != nullptr && event.parcel->greeting == Parcel::Greeting::hello) {
    const std::unique_ptr<Parcel> greeting(event.parcel);
    hear(greeting->from, event.at);
    return poll(out);
  }
  out.peer = RankId(event.peer);
  out.cookie = event.cookie;
  if (event.parcel == nullptr) {
    out.kind = Completion::Kind::sent;
    return true;
  }
  std::unique_ptr<Parcel> parcel(event.parcel);
  if (parcel->copy != nullptr && !local.finish(parcel)) return poll(out);
  if (parcel->greeting == Parcel::Greeting::none && local.reach(parcel->from))
    local.spend_on_receiving(parcel->is_write ? 0 : parcel->size);
  out.kind = parcel->is_write ? Completion::Kind::written : Completion::Kind::frame;
  if (parcel->greeting == Parcel::Greeting::up) out.kind = Completion::Kind::rail_up;
  out.rail = parcel->rail;
  out.size = parcel->size;
  out.head = parcel->head;
  out.data = std::move(parcel->data);
  out.target = parcel->is_write && out.data != nullptr ? parcel->target : nullptr;
  return true;
}

void SimRank::sleep(State state, Time until) {
  state_ = state;
  until_ = until;
  leave_call();  // The thread's time until our next turn is not ours.
  fiber->pause();
  state_ = State::running;
}

void SimRank::settle() {
  if (lag_ == Duration::zero()) return;
  const Duration work = std::exchange(lag_, Duration::zero());
  if (threads != nullptr) {
    threads->work(work);
  } else {
    sleep(State::busy, machinery_.work_end(self_, clock_, work));
  }
}

void SimRank::wait(Time until) {
  settle();
  if (until <= clock_ || (!inbox_.empty() && inbox_.front().at <= clock_)) return;
  const Time since = clock_;
  // What a rank did before it first waits (constructors, reading its arguments) is mostly deeper
  // than what it does while it communicates.
  if (threads != nullptr) {
    threads->sleep_in_network(until);
  } else {
    if (!has_waited_) machinery_.stacks->give_back_unused(self_.index);
    has_waited_ = true;
    sleep(State::waiting, until);
  }
  counts.waited += clock_ - since;
  const NodeModel& node = machinery_.setup.node;
  if (machinery_.shares_cores(self_)) {
    spend_in_mpi(node.switch_time);
  } else if (clock_ - since > node.poll_time) {
    spend_in_mpi(node.wake_time);
  }
}

void SimRank::copy(std::byte* to, const std::byte* from, std::size_t size) {
  if (size == 0) return;
  if (to != nullptr && from != nullptr) std::memcpy(to, from, size);
  if (machinery_.shares_memory(self_)) settle();
  const Time from_when = now();
  const NodeModel& node = machinery_.setup.node;
  const Bytes bytes{static_cast<std::int64_t>(size)};
  const Machinery::CopyWork work{size, node.copy_time(bytes), node.fits_cache(bytes)};
  spend_in_mpi(machinery_.copy_end(self_, from_when, work) - from_when);
}

void SimRank::catch_up() {
  if (machinery_.setup.compute_factor <= 0 || user_since_ns_ < 0) return;
  const std::int64_t now_ns = thread_time_ns();
  const auto own_ns =
      static_cast<double>(std::max<std::int64_t>(now_ns - user_since_ns_ - look_cost_ns(), 0));
  spend(Duration::ps(static_cast<std::int64_t>(own_ns * 1e3 * machinery_.setup.compute_factor)));
  user_since_ns_ = now_ns;
}

// The only thread is charged when it next does something that others see.
void SimRank::compute(Duration time) {
  spend(time);
  if (threads != nullptr && threads->has_several()) settle();
}

std::uint32_t SimRank::thread() const {
  return threads == nullptr ? 0 : threads->current().number;
}

void SimRank::charge(Work work, std::size_t bytes) {
  const NodeModel& node = machinery_.setup.node;
  if (work != Work::reduction) {
    spend_in_mpi(work == Work::request ? node.request_overhead : node.collective_overhead);
  } else if (node.reduce_rate == Rate()) {
    copy(nullptr, nullptr, bytes);
  } else {
    spend_in_mpi(serialise(Bytes{static_cast<std::int64_t>(bytes)}, node.reduce_rate));
  }
}

void SimRank::enter_call() {
  catch_up();
  user_since_ns_ = -1;
  spend_in_mpi(machinery_.setup.node.call_overhead);
}

void SimRank::leave_call() {
  if (machinery_.setup.compute_factor > 0) user_since_ns_ = thread_time_ns();
}

void SimRank::sending(const MessageFacts& message) {
  ++counts.messages;
  counts.bytes += message.size;
  if (!machinery_.setup.count_pairs) return;
  if (pairs == nullptr) pairs = std::make_unique<std::unordered_map<std::uint32_t, Pair>>();
  Pair& pair = (*pairs)[message.destination.index];
  ++pair.messages;
  pair.bytes += message.size;
}

Time SimRank::next_turn() const {
  if (done) return Time::never();
  if (threads != nullptr) return threads->next_turn();
  switch (state_) {
    case State::fresh:
      return until_;
    case State::busy:
      return until_;
    case State::waiting:
      return inbox_.empty() ? until_ : std::min(until_, inbox_.front().at);
    case State::running:
      break;
  }
  return Time::never();
}

void SimRank::take_turn(Time now) {
  clock_ = now;
  if (state_ == State::fresh) {
    machinery_.start(*this);
    state_ = State::running;
  }
  Current::set(&fabric_, layer_);
  machinery_.program.enter(self_);
  if (threads == nullptr) {
    leave_call();
    fiber->resume();
  }
  // The fiber may have become one of several threads while it ran.
  if (threads != nullptr && !done) {
    CallLock::select(nullptr);
    threads->take_turn(now);
  }
  machinery_.program.leave(self_);
  if (!machinery_.stacks->intact(self_.index)) machinery_.note_overflow(self_, now);
  layer_ = Current::layer();
  Current::set(nullptr, nullptr);
  machinery_.waiting_ranks[self_.index] = {fiber != nullptr ? fiber->frame() : nullptr, layer_};
  if (fiber != nullptr && fiber->done()) done = true;
  if (done) machinery_.rank_ended(*this);
}

void SimRank::end() {
  done = true;
  counts.ended = now();
  if (threads != nullptr) threads->pause();
  fiber->pause();
  WEFT_CHECK(false);  // A rank that has ended is never resumed.
  __builtin_unreachable();
}

void SimRank::push(const Event& event) {
  inbox_.push_back(event);
  std::push_heap(inbox_.begin(), inbox_.end());
}

void SimRank::push(Time at, std::uint32_t peer, std::uint32_t sequence, Parcel* parcel) {
  push({at, peer, sequence, parcel, 0});
}

void SimRank::push_sent(Time at, RankId peer, std::uint64_t cookie) {
  push({at, peer.index, sequence_++, nullptr, cookie});
}

void SimRank::drop_parcels() {
  for (const Event& event : inbox_) delete event.parcel;
  inbox_.clear();
}

}  // namespace weft
