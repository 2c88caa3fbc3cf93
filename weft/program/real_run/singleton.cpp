// SPDX-License-Identifier: Apache-2.0
#include "singleton.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>

#include <unistd.h>

#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/runtime.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft {

namespace {

[[noreturn]] void end(int code, const std::string& message) {
  if (!message.empty()) std::fprintf(stderr, "weft: error: %s\n", message.c_str());
  std::fflush(nullptr);
  ::_exit(code);
}

class LoopbackNetwork final : public Transport,
                              public Connections,
                              public Rails,
                              public Processor,
                              public MessageObserver {
 public:
  Fabric fabric() {
    return {.self = RankId(0),
            .ranks = 1,
            .transport = *this,
            .connections = *this,
            .rails = *this,
            .processor = *this,
            .observer = this};
  }

  int rail_count(RankId) const override { return 1; }
  RailFacts rail_facts(RankId, RailId) const override {
    return {Rate::gbyte_per_s(10), Duration::zero(), true};
  }
  void lower_rates(RankId, const std::byte*, std::span<double>) const override {}

  Time now() const override {
    const auto since = std::chrono::steady_clock::now() - start_;
    return Time::zero() + Duration::ns(std::chrono::nanoseconds(since).count());
  }
  void connect(RankId) override {
    Completion up;
    up.kind = Completion::Kind::rail_up;
    inbox_.push_back(std::move(up));
  }
  void disconnect(RankId) override {}
  bool connected(RankId) const override { return true; }
  bool needs_connection(RankId) const override { return false; }
  void post(const SendPath&, const FrameHead& head, Payload payload, bool,
            std::uint64_t cookie) override {
    Completion frame;
    frame.size = payload.size;
    frame.head = head;
    if (payload.data != nullptr && payload.size > 0) {
      frame.data = std::make_unique_for_overwrite<std::byte[]>(payload.size);
      std::memcpy(frame.data.get(), payload.data, payload.size);
    }
    inbox_.push_back(std::move(frame));
    sent(cookie);
  }
  void write(const SendPath&, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override {
    copy(reinterpret_cast<std::byte*>(target.key) + target.offset, payload.data, payload.size);
    Completion written;
    written.kind = Completion::Kind::written;
    written.size = payload.size;
    written.head = notice;
    inbox_.push_back(std::move(written));
    sent(cookie);
  }
  bool take_back(RankId, std::uint64_t) override { return false; }
  std::uint64_t register_memory(RankId, std::byte* data, std::size_t) override {
    return reinterpret_cast<std::uint64_t>(data);
  }
  void deregister_memory(std::uint64_t) override {}
  bool poll(Completion& out) override {
    if (inbox_.empty()) return false;
    out = std::move(inbox_.front());
    inbox_.pop_front();
    return true;
  }
  // No other rank can send: a wait with a deadline sleeps, one without is a deadlock.
  void wait(Time until) override {
    if (!inbox_.empty()) return;
    if (until < Time::never()) {
      const Duration left = until - now();
      if (left > Duration::zero()) ::usleep(static_cast<useconds_t>(left.in_ps() / 1'000'000 + 1));
      return;
    }
    const Waiting waits = teller_ == nullptr ? Waiting{} : teller_->waiting();
    end(1, "deadlock: the only rank, in " + waits.call + ", waits for " + waits.what);
  }
  void copy(std::byte* to, const std::byte* from, std::size_t size) override {
    if (to != nullptr && from != nullptr && size > 0) std::memcpy(to, from, size);
  }
  void set_teller(const WaitTeller* teller) override { teller_ = teller; }

 private:
  void sent(std::uint64_t cookie) {
    if (cookie == 0) return;
    Completion done;
    done.kind = Completion::Kind::sent;
    done.cookie = cookie;
    inbox_.push_back(std::move(done));
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::deque<Completion> inbox_;
  const WaitTeller* teller_ = nullptr;
};

class AloneRuntime final : public mpi::Runtime {
 public:
  [[noreturn]] void abort(RankId, int code, const std::string& message) override {
    end(code == 0 ? 1 : code, message);
  }
  std::string processor_name(RankId) const override {
    char name[256] = "localhost";
    ::gethostname(name, sizeof name - 1);
    return name;
  }
  int thread_level() const override { return MPI_THREAD_SERIALIZED; }
  NoDesk no_desk() const override { return without_weft_run(); }
  double tick() const override { return clock_tick(); }
  std::uint32_t node_of(RankId) const override { return 0; }
};

}  // namespace

mpi::Runtime::NoDesk without_weft_run() {
  return {MPI_ERR_SPAWN,
          "only weft run can start further processes: start the program with it (weft run -n 1)"};
}

double clock_tick() {
  timespec tick{};
  ::clock_getres(CLOCK_MONOTONIC, &tick);
  return static_cast<double>(tick.tv_sec) + 1e-9 * static_cast<double>(tick.tv_nsec);
}

void begin_singleton() {
  begin_singleton(*new AloneRuntime);
}

void begin_singleton(mpi::Runtime& runtime) {
  // These live until the process ends: exit handlers of the program may still call the library.
  // They stay known here when a job's rank takes their place, so that nobody sees a leak.
  static auto* const network = new LoopbackNetwork;
  static const mp::Options options;
  static auto* const process = new mpi::Process(network->fabric(), options, runtime);
  Current::set_everywhere(&process->fabric, process);
}

}  // namespace weft
