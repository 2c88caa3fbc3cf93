// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include <weft/program/rank_process/remote_rank.hpp>

namespace weft {

namespace {

// By a system call: the C library's function may show virtual time.
std::int64_t thread_time_ns() {
  timespec t = {};
  ::syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// The simulator has ended, and says why itself.
[[noreturn]] void end_with_simulator() {
  ::syscall(SYS_exit_group, 1);
  __builtin_unreachable();
}

void put_path(const SendPath& path, Packer& out) {
  out.put(path.peer);
  out.put(path.rail);
  out.put(path.gap);
  out.put(path.more);
}

void put_payload(const Payload& payload, Packer& out) {
  out.put(std::uint64_t{payload.size});
  out.put(std::uint64_t{payload.given});
  const bool has_data = payload.data != nullptr && payload.size > 0;
  out.put(has_data);
  if (has_data) out.put_bytes(payload.data, payload.held());
}

}  // namespace

RemoteRank::RemoteRank(RankChannel channel, Reporter& reporter)
    : channel_(std::move(channel)), reporter_(reporter) {
  begin(Request::join).put(rank_channel_version);
  Unpacker in = ask();
  welcome_ = unpack_welcome(in);
}

Fabric RemoteRank::fabric() {
  return {.self = welcome_.self,
          .ranks = welcome_.ranks,
          .ordered = welcome_.ordered,
          .carries_data = welcome_.carries_data,
          .transport = *this,
          .connections = *this,
          .rails = *this,
          .processor = *this,
          .observer = this};
}

Packer& RemoteRank::begin(Request request) const {
  kept_.put(request);
  return kept_;
}

Unpacker RemoteRank::ask() const {
  if (!channel_.send(kept_.take())) end_with_simulator();
  for (;;) {
    if (!channel_.receive(answer_)) end_with_simulator();
    Unpacker in(answer_);
    const auto reply = in.take<Reply>();
    now_ = in.take<Time>();
    is_exact_ = true;
    if (reply == Reply::answer) return in;
    answer_questions(reply);
  }
}

void RemoteRank::answer_questions(Reply reply) const {
  Packer out;
  if (reply == Reply::report) {
    pack(reporter_.report(), out);
  } else {
    RankWait wait;
    if (teller_ != nullptr)
      wait = {teller_->waiting(), teller_->threads_waiting(), teller_->idle()};
    pack(wait, out);
  }
  if (!channel_.send(out.take())) end_with_simulator();
}

Time RemoteRank::now() const {
  if (is_exact_) return now_;
  begin(Request::now);
  ask();
  return now_;
}

int RemoteRank::rail_count(RankId peer) const {
  const auto known = rails_.find(peer.index);
  if (known != rails_.end()) return known->second;
  begin(Request::rail_count).put(peer);
  return rails_[peer.index] = ask().take<int>();
}

// Simulated rails do not change.
RailFacts RemoteRank::rail_facts(RankId peer, RailId rail) const {
  const auto known = facts_.find({peer.index, rail.index});
  if (known != facts_.end()) return known->second;
  Packer& out = begin(Request::rail_facts);
  out.put(peer);
  out.put(rail);
  const auto facts = ask().take<RailFacts>();
  facts_.emplace(std::pair(peer.index, rail.index), facts);
  return facts;
}

void RemoteRank::connect(RankId peer) {
  begin(Request::connect).put(peer);
  is_exact_ = false;
}

void RemoteRank::disconnect(RankId peer) {
  begin(Request::disconnect).put(peer);
  is_exact_ = false;
}

bool RemoteRank::connected(RankId peer) const {
  begin(Request::connected).put(peer);
  return ask().take<bool>();
}

bool RemoteRank::needs_connection(RankId peer) const {
  const auto known = needs_.find(peer.index);
  if (known != needs_.end()) return known->second;
  begin(Request::needs_connection).put(peer);
  return needs_[peer.index] = ask().take<bool>();
}

// The data is copied: stable or not, it may change afterwards.
void RemoteRank::post(const SendPath& path, const FrameHead& head, Payload payload, bool,
                      std::uint64_t cookie) {
  Packer& out = begin(Request::post);
  put_path(path, out);
  out.put(head);
  put_payload(payload, out);
  out.put(cookie);
  is_exact_ = false;
}

void RemoteRank::write(const SendPath& path, Payload payload, RemoteMemory target,
                       const FrameHead& notice, std::uint64_t cookie) {
  Packer& out = begin(Request::write);
  put_path(path, out);
  payload.given = 0;  // Writes are whole.
  put_payload(payload, out);
  out.put(target.key);
  out.put(std::uint64_t{target.offset});
  out.put(notice);
  out.put(cookie);
  is_exact_ = false;
}

bool RemoteRank::poll(Completion& out) {
  begin(Request::poll);
  Unpacker in = ask();
  if (!in.take<bool>()) return false;
  unpack(in, out);
  return true;
}

void RemoteRank::wait(Time until) {
  begin(Request::wait).put(until);
  ask();
}

void RemoteRank::copy(std::byte* to, const std::byte* from, std::size_t size) {
  if (size == 0) return;
  if (to != nullptr && from != nullptr) std::memcpy(to, from, size);
  begin(Request::copy).put(std::uint64_t{size});
  is_exact_ = false;
}

void RemoteRank::spend_here(Duration time) {
  now_ = now_ + time;
}

void RemoteRank::spend(Duration time) {
  begin(Request::spend).put(time);
  spend_here(time);
  if (!in_call_) tell_now();
}

void RemoteRank::compute(Duration time) {
  begin(Request::compute).put(time);
  spend_here(time);
  if (!in_call_) tell_now();
}

void RemoteRank::charge(Work work, std::size_t bytes) {
  Packer& out = begin(Request::charge);
  out.put(work);
  out.put(std::uint64_t{bytes});
  if (work == Work::reduction) {
    is_exact_ = false;
  } else {
    spend_here(work == Work::request ? welcome_.request_overhead : welcome_.collective_overhead);
  }
}

void RemoteRank::catch_up() {
  if (welcome_.compute_factor <= 0 || user_since_ns_ < 0) return;
  const std::int64_t now_ns = thread_time_ns();
  const auto own_ns = static_cast<double>(std::max<std::int64_t>(now_ns - user_since_ns_, 0));
  spend(Duration::ps(static_cast<std::int64_t>(own_ns * 1e3 * welcome_.compute_factor)));
  user_since_ns_ = now_ns;
}

void RemoteRank::enter_call() {
  in_call_ = true;
  catch_up();
  user_since_ns_ = -1;
  begin(Request::enter_call);
  spend_here(welcome_.call_overhead);
}

// What the program prints next belongs to the time after this.
void RemoteRank::tell_now() {
  if (kept_.empty()) return;
  begin(Request::now);
  ask();
}

void RemoteRank::leave_call() {
  tell_now();
  in_call_ = false;
  if (welcome_.compute_factor > 0) user_since_ns_ = thread_time_ns();
}

void RemoteRank::sending(const MessageFacts& message) {
  pack(message, begin(Request::sending));
}

void RemoteRank::entered(const char* call, Time at) {
  Packer& out = begin(Request::entered);
  out.put_text(call);
  out.put(at);
}

void RemoteRank::left(const char* call, Time at) {
  Packer& out = begin(Request::left);
  out.put_text(call);
  out.put(at);
}

void RemoteRank::place_memory(const void* data, std::size_t size, int socket) {
  Packer& out = begin(Request::place_memory);
  out.put(reinterpret_cast<std::uint64_t>(data));
  out.put(std::uint64_t{size});
  out.put(socket);
}

void RemoteRank::begin_window(std::string_view name) {
  begin(Request::begin_window).put_text(name);
}

void RemoteRank::end_window() {
  begin(Request::end_window);
}

void RemoteRank::note(std::string_view text) {
  begin(Request::note).put_text(text);
}

bool RemoteRank::recall(std::uint64_t key, void* data, std::size_t size) {
  Packer& out = begin(Request::recall);
  out.put(key);
  out.put(std::uint64_t{size});
  Unpacker in = ask();
  const bool known = in.take<bool>();
  const auto bytes = in.take_list<std::byte>();
  if (known && size > 0) std::memcpy(data, bytes.data(), size);
  return known;
}

void RemoteRank::remember(std::uint64_t key, const void* data, std::size_t size) {
  Packer& out = begin(Request::remember);
  out.put(key);
  out.put_list(std::span(static_cast<const std::byte*>(data), size));
}

void RemoteRank::leave() {
  begin(Request::leave);
  ask();
}

void RemoteRank::tell_report() {
  pack(reporter_.report(), begin(Request::report));
  begin(Request::now);
  ask();
}

// There is no answer: the simulator ends the process, or itself.
void RemoteRank::abort(int code, std::string_view message) {
  std::fflush(nullptr);
  Packer& out = begin(Request::abort);
  out.put(code);
  out.put_text(message);
  ask();
  end_with_simulator();
}

}  // namespace weft
