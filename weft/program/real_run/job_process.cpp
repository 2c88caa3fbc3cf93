// SPDX-License-Identifier: Apache-2.0
#include "job_process.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include <weft/base/config.hpp>
#include <weft/base/file.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/message/coll/few_connections.hpp>
#include <weft/message/conn/managed.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/runtime.hpp>
#include <weft/message/port/call_lock.hpp>
#include <weft/program/real_run/recorder.hpp>
#include <weft/program/real_run/seat_desk.hpp>
#include <weft/program/real_run/shared_blocks.hpp>
#include <weft/program/real_run/singleton.hpp>
#include <weft/real/launch/seat.hpp>
#include <weft/real/wire/stand_in.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft {

namespace {

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "weft: error: %s\n", error.text().c_str());
  std::fflush(nullptr);
  ::_exit(1);
}

// The folder of the library that contains this code.
std::string own_folder() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&begin_job_process), &info) == 0 ||
      info.dli_fname == nullptr) {
    return ".";
  }
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

// Defaults for real networks; the user's settings win.
Result<mp::Options> read_messages(const launch::Settings& settings) {
  mp::Options options;
  options.split = mp::Split::measured;
  options.head_start = Bytes{65536};
  std::vector<std::string> sets;
  for (const std::string& text : settings.messages) sets.push_back("messages." + text);
  const auto none = Config::read_text("", "messages");
  if (!none) return Error(none.error());
  const auto config = none->with_overrides(sets);
  if (!config) return Error(config.error());
  if (Status read = mp::read_options(*config, options); !read) return Error(read.error());
  return options;
}

// Lives as long as the process: exit handlers of the program may still call the library.
class WiredRuntime final : public mpi::Runtime {
 public:
  void join() override;
  void leave() override {
    if (recorder_ != nullptr) recorder_->finish();
    stand_in_.reset();  // From here on this thread serves others until all have come here.
    if (managed_ != nullptr) managed_->leave();
    wire_->leave(Duration::ms(30'000));
    seat_->leave();
  }
  void leave_at_exit() override;
  [[noreturn]] void abort(RankId, int code, const std::string& message) override {
    std::fflush(nullptr);
    if (seat_ == nullptr) give_up(Error::run(message));
    if (recorder_ != nullptr) {
      const CallLockHeld held;
      recorder_->end_early();
    }
    if (code == MPI_ERR_PROC_FAILED) seat_->abort_for_loss(code, message);
    seat_->abort(code == 0 ? 1 : code, message);
    __builtin_unreachable();  // Some compilers do not trust [[noreturn]] on a virtual function.
  }
  std::string processor_name(RankId rank) const override {
    return wire_ == nullptr ? wire::host_name() : wire_->host_of(rank);
  }
  int thread_level() const override {
    return wire_ == nullptr ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  }
  bool admit_threads() override { return wire_ != nullptr && bool(lock_threads()); }
  // Each process counts time from its own start.
  bool one_clock() const override { return false; }
  double tick() const override { return clock_tick(); }
  std::uint32_t node_of(RankId rank) const override {
    return wire_ == nullptr ? 0 : wire_->node_of(rank);
  }
  Result<std::unique_ptr<mpi::SharedBlock>> make_shared(std::size_t size) override {
    return wire_ == nullptr ? mpi::make_block_of_process(size) : make_block_of_host(size);
  }
  Result<std::unique_ptr<mpi::SharedBlock>> open_shared(const mpi::SharedTicket& ticket,
                                                        std::size_t size) override {
    return open_block_of_host(ticket, size);
  }
  std::string trouble_with(RankId rank) const override { return wire_->trouble_with(rank); }
  void tell_resilience(mpi::Resilience now) override {
    if (seat_ != nullptr) seat_->tell_resilience(static_cast<launch::Resilience>(now));
  }
  mpi::JobDesk* desk() override { return desk_.get(); }
  NoDesk no_desk() const override { return without_weft_run(); }
  int application() const override {
    return seat_ == nullptr ? 0 : static_cast<int>(seat_->birth().application);
  }
  std::optional<int> universe(int ranks) const override {
    if (desk_ == nullptr) return ranks;
    const auto slots = static_cast<int>(seat_->birth().universe);
    return slots == 0 ? std::nullopt : std::optional(std::max(slots, ranks));
  }
  bool others_leave() override { return seat_ != nullptr && seat_->others_leave(); }

 private:
  Status manage_connections();
  Status lock_threads();
  void relay_while_computing();

  CallLock lock_;  // Used if several threads may be inside the library.
  std::unique_ptr<launch::Seat> seat_;
  std::unique_ptr<wire::Wire> wire_;
  std::unique_ptr<SeatDesk> desk_;  // Null: the launcher takes no requests.
  std::unique_ptr<conn::Layout> layout_;
  std::unique_ptr<conn::Managed> managed_;   // Null: connections are opened on demand.
  std::unique_ptr<RunRecorder> recorder_;    // Null: nothing is recorded.
  std::unique_ptr<wire::StandIn> stand_in_;  // Null: no other rank depends on this one.
  mp::Options options_;
  coll::Usage algorithm_usage_;
  coll::Choices choices_;
};

// The program ends: it leaves, unless it still has to end its part in the job.
void leave_now() {
  mpi::Process& process = mpi::self();
  if (process.running() || process.has_left) return;
  process.has_left = true;
  process.runtime.leave();
}

void WiredRuntime::leave_at_exit() {
  if (wire_ != nullptr && std::atexit(&leave_now) != 0)
    give_up(Error::run("no room for another function that runs at exit"));
}

void WiredRuntime::join() {
  if (wire_ != nullptr) return;
  auto seat = launch::take_seat(own_folder());
  if (!seat) give_up(seat.error());
  seat_ = *std::move(seat);
  if (seat_ == nullptr) return;  // Another process of the program has taken the seat: we run alone.
  auto options = read_messages(seat_->settings());
  if (!options) seat_->abort(3, options.error().text());
  options_ = *options;
  for (const std::string& text : seat_->settings().collectives) {
    if (Status forced = choices_.force(text); !forced) seat_->abort(2, forced.error().text());
  }
  auto wire = wire::Wire::join(*seat_);
  if (!wire) seat_->abort(1, wire.error().text());
  wire_ = *std::move(wire);
  if (seat_->by_weft_run()) desk_ = std::make_unique<SeatDesk>(*seat_, *wire_);
  const launch::Settings& settings = seat_->settings();
  // Those that came later have connections as they need them, and are in nobody's record.
  const bool from_the_start = !seat_->birth().has_parent;
  if (from_the_start) {
    if (Status managed = manage_connections(); !managed) seat_->abort(3, managed.error().text());
  }
  const Fabric network = managed_ == nullptr ? wire_->fabric() : managed_->fabric();
  if (!settings.record.empty() && from_the_start) {
    recorder_ = std::make_unique<RunRecorder>(*wire_, network, managed_.get(), *seat_);
  }
  auto* const process =
      new mpi::Process(recorder_ == nullptr ? network : recorder_->fabric(), options_, *this);
  if (recorder_ != nullptr) choices_.set_usage(algorithm_usage_);
  process->choices = &choices_;
  process->take_over(mpi::self());
  process->real_time = true;
  process->timed = recorder_ != nullptr;
  Current::set_everywhere(&process->fabric, process);
  if (recorder_ != nullptr) recorder_->begin(*process);
  if (managed_ != nullptr && managed_->may_relay()) relay_while_computing();
}

Status WiredRuntime::lock_threads() {
  Status shared = wire_->share(lock_);
  if (shared) lock_.activate();
  return shared;
}

void WiredRuntime::relay_while_computing() {
  constexpr std::size_t at_once = 16;
  Status started = lock_threads();
  if (started) {
    auto made =
        wire::StandIn::start(*wire_, lock_,
                             {.serve = [this] { return managed_->serve(at_once); },
                              .count = [this] { return managed_->counts().passed_frames; },
                              .fail = [this](const std::string& why) { seat_->abort(1, why); }});
    if (made) {
      stand_in_ = *std::move(made);
    } else {
      started = std::move(made).error();
    }
  }
  if (started) return;
  std::fprintf(stderr, "weft: warning: ranks that send over rank %u wait while it computes: %s\n",
               wire_->self().index, started.error().text().c_str());
}

// All processes have the same information about each other, and so reach the same decision.
Status WiredRuntime::manage_connections() {
  const launch::Settings& settings = seat_->settings();
  const std::uint32_t ranks = wire_->ranks();
  std::vector<std::uint32_t> groups;
  std::vector<std::string> hosts;
  std::map<std::uint32_t, std::uint32_t> on_host;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    groups.push_back(wire_->node_of(RankId(rank)));
    hosts.push_back(wire_->host_of(RankId(rank)));
    ++on_host[groups.back()];
  }
  std::uint32_t most = 0;  // Connections of one rank if all ranks talk to each other.
  for (const auto& [host, count] : on_host)
    most = std::max(most, settings.shared_memory ? ranks - count : ranks - 1);
  const std::uint32_t room = wire_->room();
  if (settings.connections.empty() && most <= room) return {};
  auto request =
      conn::parse_request(settings.connections.empty() ? "managed" : settings.connections);
  if (!request) return Error(request.error());
  if (request->options.mode == conn::Mode::on_demand) return {};
  // weft run has read the groups for all ranks; other launchers have not.
  std::string text = settings.groups;
  if (text.empty() && !request->groups_file.empty()) {
    auto file = read_file(request->groups_file);
    if (!file) return Error(file.error());
    text = *std::move(file);
  }
  if (!request->groups_file.empty() || !text.empty()) {
    auto read = conn::groups_of_hosts(text, request->groups_file, hosts);
    if (!read) return Error(read.error());
    groups = *std::move(read);
  } else {
    groups = conn::groups_of_switches(groups);
  }
  if (request->options.mode == conn::Mode::managed && most > room)
    request->most = std::min(request->most.value_or(room), room);
  conn::Options options;
  auto layout = conn::lay_out(*request, groups, options);
  if (!layout) return Error(layout.error());
  layout_ = std::make_unique<conn::Layout>(*std::move(layout));
  choices_.set_groups(layout_->groups(), bundling_of(*layout_, options));
  managed_ = std::make_unique<conn::Managed>(wire_->fabric(), *layout_, options);
  return {};
}

}  // namespace

void begin_job_process() {
  begin_singleton(*new WiredRuntime);
}

}  // namespace weft
