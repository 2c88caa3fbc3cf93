// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/progress.hpp>
#include <weft/base/progress_file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/message/coll/few_connections.hpp>
#include <weft/parallel/processes/agree.hpp>
#include <weft/program/run_record/call_timeline.hpp>
#include <weft/program/simulated_run/clock_hint.hpp>
#include <weft/program/simulated_run/crash.hpp>
#include <weft/program/simulated_run/deadlock.hpp>
#include <weft/program/simulated_run/footprint.hpp>
#include <weft/program/simulated_run/rank_thread_calls.hpp>
#include <weft/program/simulated_run/sampler.hpp>
#include <weft/program/simulated_run/simulated_run.hpp>
#include <weft/program/simulated_run/summary.hpp>
#include <weft/program/simulated_run/workers.hpp>

namespace weft {

namespace {

std::atomic<bool> end_requested = false;

double seconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// How far to simulate before handling signals, output and progress: about a fifth of a second of
// wall time. Results do not depend on it.
class Slices {
 public:
  Time next(Time now) const { return now + length_; }
  Duration length() const { return length_; }
  void set(Duration length) { length_ = length; }
  void took(double seconds) {
    if (seconds < 0.1 && length_ < Duration::ms(1'000'000)) length_ = length_ * 2;
    if (seconds > 0.4 && length_ > Duration::ns(2)) length_ = length_ / 2;
  }

 private:
  Duration length_ = Duration::us(10);
};

// The grid of ranks, if they fill a torus or mesh one per node in order.
coll::Grid machine_grid(const SimulationSetup& setup) {
  const Lattice* const lattice = setup.machine.topology->shape->lattice();
  const Graph& graph = setup.machine.topology->graph;
  if (lattice == nullptr || !setup.placement->is_block() ||
      setup.machine.nodes() != graph.router_count() ||
      setup.placement->ranks() != setup.machine.nodes()) {
    return {};
  }
  return {{lattice->radix.rbegin(), lattice->radix.rend()}};
}

class SimulatedRun {
 public:
  SimulatedRun(const SimulationOptions& options, const SimulationSetup& setup,
               ProgramCopies& copies, ProcessGroup* peers)
      : options_(options),
        setup_(setup),
        copies_(copies),
        peers_(peers),
        console_(setup.placement->ranks(), options.label),
        ranks_(setup, collectives_, copies, console_) {}

  Result<int> run(const ProgramCall& call);

 private:
  Status set_up(const ProgramCall& call);
  Status add_samplers();
  Status sample(Time now, bool last);
  Status simulate();
  void show_progress(Progress& progress, Time now);
  void show_clock_hint(Time now);
  void handle_events(Time now, Slices& slices);
  Status start_progress_file();
  void plan_threads(WorldSetup& setup);
  Status start_processes(const ProgramCall& call, WorldSetup& setup);
  bool messages_move();
  bool all_ranks_stuck();
  int conclude(const ProgramCall& call);
  int report_ending(const RunTotals& totals, const RunSummary& summary);
  void show_deadlock(const RunTotals& totals);
  Status write_files(const RunSummary& summary, const RunTotals& totals) const;
  Status write_timeline() const;
  bool is_root() const { return peers_ == nullptr || peers_->self() == 0; }
  void print(const std::string& text) const {
    if (is_root()) Console::write_out(2, text);
  }
  std::string ending(const RunTotals& totals) const;

  const SimulationOptions& options_;
  int workers_ = 1;
  const SimulationSetup& setup_;
  const ProgramCopies& copies_;
  ProcessGroup* const peers_;
  coll::Usage algorithm_usage_;
  coll::Choices collectives_;
  Console console_;
  ProgramRanks ranks_;
  std::unique_ptr<SeparateRanks> processes_;  // Null: ranks live in this process.
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<Sampler>> samplers_;
  FootprintWatch footprint_;
  std::optional<ProgressFile> progress_file_;
  bool interrupted_ = false, time_limit_reached_ = false;
  std::uint64_t moves_ = 0;  // Of packets, at the last look for ranks that are stuck.
  bool hinted_ = false;      // At what a program that waits for a time needs.
  double started_ = 0;
};

Status SimulatedRun::set_up(const ProgramCall& call) {
  for (const std::string& text : options_.collectives) {
    if (Status forced = collectives_.force(text); !forced)
      return Error::call("--coll: " + forced.error().message());
  }
  collectives_.set_machine(machine_grid(setup_));
  collectives_.set_usage(algorithm_usage_);
  if (setup_.layout != nullptr) {
    collectives_.set_groups(setup_.layout->groups(),
                            bundling_of(*setup_.layout, setup_.connections));
  }
  WorldSetup setup;
  setup.topology = setup_.machine.topology.get();
  setup.policy = setup_.policy.get();
  setup.machine = setup_.machine.hardware;
  setup.node = setup_.machine.node;
  setup.storage = setup_.machine.storage;
  setup.placement = setup_.placement.get();
  setup.model = {setup_.model, setup_.machine.flow, setup_.machine.flit};
  workers_ = has_workers(setup_.model) ? options_.threads : 1;
  if (workers_ == 0 && peers_ != nullptr) workers_ = 1;
  if (workers_ == 0)
    workers_ = workers_that_pay(setup_.machine.topology->graph.router_count(), idle_cores());
  if (options_.separation == "processes") {
    if (Status started = start_processes(call, setup); !started) return started;
  } else {
    plan_threads(setup);
    setup.compute_factor = options_.compute_factor;
  }
  setup.workers = workers_;
  const auto cut = parse_cut(options_.partition);
  if (!cut) return Error::call("--partition: " + cut.error().message());
  setup.cut = *cut;
  setup.peers = peers_;
  setup.seed = options_.seed;
  setup.start_skew = options_.start_skew;
  setup.carry_data = options_.carry_data;
  setup.stack_bytes = static_cast<std::size_t>(options_.stack.count);
  setup.count_pairs = options_.matrix;
  setup.measure_waits = !options_.out.empty();
  auto world = World::make(setup, ranks_);
  if (!world) return std::move(world).error();
  world_ = std::move(*world);
  ranks_.attach(*world_, call);
  if (options_.timeline) ranks_.keep_timelines();
  if (options_.record_output && is_root()) {
    if (Status opened = console_.record_to(options_.out); !opened) return opened;
  }
  watch_for_crashes(*world_, console_);
  if (Status started = agree(peers_, start_progress_file()); !started) return started;
  return add_samplers();
}

// Each process measures what it computes itself.
Status SimulatedRun::start_processes(const ProgramCall& call, WorldSetup& setup) {
  const std::uint32_t ranks = setup_.placement->ranks();
  if (peers_ != nullptr)
    return Error::call("--separate processes: needs one process of weft sim; use --threads");
  if (ranks > SeparateRanks::ranks_max)
    return Error::call(
        fmt::format("--separate processes: {} ranks would be as many processes of this machine; at "
                    "most {} (-n)",
                    ranks, SeparateRanks::ranks_max));
  auto started = SeparateRanks::start(ranks, {options_.program, call.arguments, call.environment,
                                              options_.libraries + "/libmpi_abi.so"});
  if (!started) return std::move(started).error();
  processes_ = std::move(*started);
  setup.own_memory = true;
  ranks_.separate(*processes_, options_.compute_factor);
  return {};
}

// Threads of ranks need one worker: libraries that serve several ranks, above all the heap, have
// locks for threads of the system, and one that a paused thread holds must not stop another worker.
void SimulatedRun::plan_threads(WorldSetup& setup) {
  const ThreadUse use = find_thread_use(copies_);
  if (!options_.thread_obstacle.empty()) {
    if (use == ThreadUse::open_mp && !options_.quiet)
      print("weft: warning: OpenMP gets one thread: " + options_.thread_obstacle + "\n");
    return;
  }
  ranks_.allow_threads(cores_told(options_, setup_));
  setup.cores_per_rank = options_.cores_per_rank;
  setup.own_threads = use == ThreadUse::open_mp;
  if (use != ThreadUse::none) workers_ = 1;
  if (workers_ == 1) make_threads_of_ranks();
}

Status SimulatedRun::start_progress_file() {
  if (options_.progress_file.empty() || !is_root()) return {};
  auto file = ProgressFile::start(options_.progress_file, seconds_now);
  if (!file) return std::move(file).error();
  progress_file_.emplace(*std::move(file));
  return {};
}

Status SimulatedRun::add_samplers() {
  using Make = Result<std::unique_ptr<Sampler>> (*)(const SamplerSetup&);
  const std::pair<bool, Make> wanted[] = {{options_.series > Duration::zero(), sample_series},
                                          {!setup_.watched.empty(), watch_buffers}};
  for (const auto& [is_wanted, make] : wanted) {
    if (!is_wanted) continue;
    auto sampler = make({options_, setup_, *world_, peers_, seconds_now});
    if (!sampler) return std::move(sampler).error();
    samplers_.push_back(std::move(*sampler));
  }
  return {};
}

Status SimulatedRun::sample(Time now, bool last) {
  for (const auto& sampler : samplers_) {
    const Time at = sampler->next();
    if (at == Time::never() || (now != at && !last)) continue;
    // At the end nothing changes any more, and the wall time of arrival must not influence the
    // sample.
    if (Status wrote = agree(peers_, sampler->sample(at)); !wrote) return wrote;
  }
  return {};
}

// Process 0 decides the length of slices, and all processes stop if one is asked to.
void SimulatedRun::handle_events(Time now, Slices& slices) {
  const Time shown = std::min(now - Duration::ps(1), world_->stopped_at());
  interrupted_ = end_requested;
  if (peers_ != nullptr) {
    Packer mine;
    mine.put(interrupted_);
    mine.put(slices.length());
    const std::vector<PeerBytes> all = peers_->all_gather(mine.take());
    for (const PeerBytes& bytes : all) interrupted_ |= Unpacker(bytes).take<bool>();
    Unpacker first(all[0]);
    first.take<bool>();
    slices.set(first.take<Duration>());
    console_.gather(*peers_, shown);
  }
  if (is_root()) console_.show(shown);
}

// Ranks may wait for what is still on its way. A flow says nothing of itself until it ends.
bool SimulatedRun::messages_move() {
  Packer own;
  own.put(world_->network().counts());
  NetworkCounts counts;
  for (const PeerBytes& bytes : all_gather(peers_, own.take())) {
    const auto part = Unpacker(bytes).take<NetworkCounts>();
    counts.packets_sent += part.packets_sent;
    counts.hops += part.hops;
    counts.packets_delivered += part.packets_delivered;
  }
  const std::uint64_t moves = counts.packets_sent + counts.hops + counts.packets_delivered;
  const bool any = std::exchange(moves_, moves) != moves || setup_.model == Fidelity::flow;
  return any && counts.packets_sent != counts.packets_delivered;
}

bool SimulatedRun::all_ranks_stuck() {
  const bool here = !messages_move() && ranks_stuck(*world_, setup_.placement->ranks());
  return peers_ == nullptr ? here : peers_->all_reduce_min(here ? 1 : 0) == 1;
}

void SimulatedRun::show_progress(Progress& progress, Time now) {
  const bool known = options_.until < Time::never();
  const double share =
      known ? (now - Time::zero()).in_seconds() / (options_.until - Time::zero()).in_seconds() : -1;
  const std::string text = fmt::format("simulated {}", to_text(now - Time::zero()));
  progress.update(share, text);
  if (!progress_file_) return;
  progress_file_->note("simulated_ps", now.in_ps());
  progress_file_->update(share, text);
}

// Once, after half a minute or when the user loses patience.
void SimulatedRun::show_clock_hint(Time now) {
  constexpr double patience_s = 30;
  const double wall = seconds_now() - started_;
  if (hinted_ || options_.quiet || (wall < patience_s && !interrupted_)) return;
  hinted_ = true;
  print(clock_hint({wall, now - Time::zero(), ranks_.clock_reads(), options_.compute_factor > 0}));
}

Status SimulatedRun::simulate() {
  Progress progress =
      options_.quiet || !is_root() ? Progress(seconds_now, {}) : Progress::to_stderr(seconds_now);
  Slices slices;
  Time now, next_look = Time::zero() + idle_max;
  for (;;) {
    Time until = std::min({slices.next(now), options_.until, next_look});
    for (const auto& sampler : samplers_) until = std::min(until, sampler->next());
    const bool cut_short = until < slices.next(now);
    const double before = seconds_now();
    auto more = world_->run(until);
    if (!more) return std::move(more).error();
    now = until;
    if (!cut_short) slices.took(seconds_now() - before);
    if (options_.verbose) footprint_.look(*world_, copies_);
    if (Status wrote = sample(now, !*more); !wrote) return wrote;
    show_progress(progress, now);
    if (!*more) return {};
    handle_events(now, slices);
    show_clock_hint(now);
    // Checked at fixed virtual times, so that the result is reproducible.
    if (now == next_look) {
      if (all_ranks_stuck()) return {};
      next_look = next_look + idle_max;
    }
    time_limit_reached_ = !interrupted_ && now >= options_.until;
    if (interrupted_ || time_limit_reached_) return {};
  }
}

std::string SimulatedRun::ending(const RunTotals& totals) const {
  if (!totals.aborts.empty()) return "aborted";
  if (interrupted_) return "interrupted";
  if (time_limit_reached_) return "stopped at " + to_text(options_.until - Time::zero());
  return totals.ranks_open() == 0 ? "complete" : "deadlock";
}

Status SimulatedRun::write_files(const RunSummary& summary, const RunTotals& totals) const {
  if (options_.out.empty()) return {};
  const auto write = [&](const char* name, const std::string& text) {
    return write_file(options_.out + "/" + name, text);
  };
  if (Status s = write("summary.json", to_json(summary)); !s) return s;
  if (Status s = write("ranks.csv", ranks_csv(setup_, totals)); !s) return s;
  if (Status s = write("node_links.csv", node_links_csv(setup_, totals)); !s) return s;
  if (Status s = write("calls.csv", calls_csv(summary)); !s) return s;
  if (setup_.layout != nullptr) {
    if (Status s = write("connections.csv", connections_csv(totals)); !s) return s;
  }
  if (!options_.matrix) return {};
  return write("traffic.txt", traffic_text(totals));
}

// Collective; process 0 writes.
Status SimulatedRun::write_timeline() const {
  if (!options_.timeline) return {};
  const Timeline timeline = gather_timelines(peers_, ranks_.timelines());
  return is_root() ? write_timeline_raw(options_.out, timeline) : Status();
}

// Prints how the run ended and returns the exit code. In process 0, which has all totals.
int SimulatedRun::report_ending(const RunTotals& totals, const RunSummary& summary) {
  int code = totals.exit_code();
  if (!totals.aborts.empty()) {
    const ProgramRanks::Abort& abort = totals.aborts.front();
    print(fmt::format("weft: rank {} ended the job with code {} after {}{}{}\n", abort.rank.index,
                      abort.code, to_text(abort.at - Time::zero()),
                      abort.message.empty() ? "" : ": ", abort.message));
    code = abort.code == 0 ? 1 : abort.code;
  } else if (summary.ending == "deadlock") {
    code = 1;
  } else if (!summary.complete) {
    print("weft: " + summary.ending + ", results cover the simulated part only\n");
    code = interrupted_ ? 130 : 0;
  }
  if (code != 0 && !interrupted_ && !options_.carry_data && summary.bytes > 0)
    print(
        "weft: messages carried no data; a program that needs what it receives wants --payload "
        "full\n");
  if (code == 0 && summary.complete && processes_ != nullptr && !ranks_.any_joined()) {
    print(
        "weft: error: no rank called weft's MPI library: the program is no MPI program, or was "
        "built for another library than the one of the standard ABI (libmpi_abi.so)\n");
    code = 1;
  }
  Status wrote = write_files(summary, totals);
  if (progress_file_) {
    const bool failed = !wrote || summary.ending == "aborted" || summary.ending == "deadlock";
    const Status noted = progress_file_->finish(failed         ? ProgressFile::State::failed
                                                : interrupted_ ? ProgressFile::State::interrupted
                                                               : ProgressFile::State::done);
    if (wrote && !noted) wrote = Error(noted.error());
  }
  if (!wrote) {
    print("weft: error: " + wrote.error().text() + "\n");
    code = code == 0 ? 1 : code;
  }
  return code & 0xff;
}

void SimulatedRun::show_deadlock(const RunTotals& totals) {
  const std::string network = world_->network().find_deadlock();
  const auto open = waiting_ranks(peers_, *world_, setup_.placement->ranks());
  if (is_root()) print("weft: error: " + describe_deadlock(open, totals, network) + "\n");
}

int SimulatedRun::conclude(const ProgramCall& call) {
  console_.drop_after(world_->stopped_at());
  if (peers_ != nullptr) console_.gather(*peers_, Time::never());
  if (is_root()) console_.show(Time::never());
  console_.give_back();
  const double wall = seconds_now() - started_;
  const RunTotals totals = merge_totals(peers_, take_totals(setup_, *world_, ranks_));
  RunSummary summary = collect(setup_, totals);
  summary.program = std::filesystem::path(call.arguments[0]).filename().string();
  summary.ending = ending(totals);
  summary.carried_data = options_.carry_data;
  // Only process 0 knows how the run ended.
  const auto from_first = [&](std::int64_t own) {
    return peers_ == nullptr ? own : peers_->all_reduce_min(is_root() ? own : INT64_MAX);
  };
  if (from_first(summary.ending == "deadlock" ? 1 : 0) != 0) show_deadlock(totals);
  auto code = static_cast<int>(from_first(is_root() ? report_ending(totals, summary) : 0));
  for (const Status& wrote : {write_timeline(), console_.finish_record()}) {
    if (wrote) continue;
    print("weft: error: " + wrote.error().text() + "\n");
    code = code == 0 ? 1 : code;
  }
  if (!options_.quiet) print(to_table(summary));
  if (options_.verbose) {
    const int workers = peers_ == nullptr ? workers_ : peers_->count();
    print(fmt::format("simulated in           {:.2f} s with {} {}: {:.2f} M packet-hops/s\n", wall,
                      workers, peers_ == nullptr ? "workers" : "processes",
                      static_cast<double>(summary.hops) / wall / 1e6) +
          footprint_.table());
  }
  if (processes_ != nullptr) processes_->end_all();
  if (Console::dropped() > 0)
    print(fmt::format("weft: nobody read the output: {} dropped\n",
                      to_text(Bytes{static_cast<std::int64_t>(Console::dropped())})));
  return code;
}

Result<int> SimulatedRun::run(const ProgramCall& call) {
  started_ = seconds_now();
  if (Status ready = set_up(call); !ready) return std::move(ready).error();
  console_.take_over();
  Status played = simulate();
  ::alarm(0);  // Cancels the alarm of a termination signal: the end is reached.
  if (!played) {
    console_.show(Time::never());
    console_.give_back();
    return std::move(played).error();
  }
  return conclude(call);
}

}  // namespace

void request_end() {
  end_requested = true;
  Console::hurry();
}

Result<int> run_simulated(const SimulationOptions& options, const SimulationSetup& setup,
                          ProgramCopies& copies, const ProgramCall& call, ProcessGroup* peers) {
  // Static, because its members must outlive ranks that never ended.
  static SimulatedRun run(options, setup, copies, peers);
  return run.run(call);
}

}  // namespace weft
