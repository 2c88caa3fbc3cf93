// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/progress.hpp>
#include <weft/base/quantity.hpp>
#include <weft/stage/crash.hpp>
#include <weft/stage/deadlock.hpp>
#include <weft/stage/findings.hpp>
#include <weft/stage/performance.hpp>
#include <weft/stage/sampler.hpp>

namespace weft {

namespace {

std::atomic<bool> end_requested = false;

double seconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// How far to simulate before looking around (signals, output, progress): about a fifth of a second
// of ours. No result depends on it.
class Slices {
 public:
  Time next(Time now) const { return now + length_; }
  void took(double seconds) {
    if (seconds < 0.1 && length_ < Duration::ms(1'000'000)) length_ = length_ * 2;
    if (seconds > 0.4 && length_ > Duration::ns(2)) length_ = length_ / 2;
  }

 private:
  Duration length_ = Duration::us(10);
};

// Where the ranks stand, if they fill a torus or mesh one by one.
coll::Grid machine_grid(const Scene& scene) {
  const auto* const cube = std::get_if<Cube>(&scene.topology->shape);
  const Graph& graph = scene.topology->graph;
  if (cube == nullptr || !scene.placement->is_block() || scene.nodes() != graph.router_count() ||
      scene.placement->ranks() != scene.nodes()) {
    return {};
  }
  return {{cube->radix.rbegin(), cube->radix.rend()}};
}

class Performance {
 public:
  Performance(const Plan& plan, const Scene& scene, Images& images)
      : plan_(plan),
        scene_(scene),
        console_(scene.placement->ranks(), plan.label),
        cast_(scene, collectives_, images, console_) {}

  Result<int> run(const ProgramCall& call);

 private:
  Status set_up(const ProgramCall& call);
  Status add_samplers();
  Status sample(Time now, bool last);
  Status play();
  int conclude(const ProgramCall& call);
  Status write_files(const Findings& findings) const;
  void tell(const std::string& text) const { Console::raw_write(2, text.data(), text.size()); }
  std::string ending() const;

  const Plan& plan_;
  const Scene& scene_;
  coll::Choices collectives_;
  Console console_;
  Cast cast_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<Sampler>> samplers_;
  bool interrupted_ = false, cut_ = false;
  double started_ = 0;
};

Status Performance::set_up(const ProgramCall& call) {
  for (const std::string& text : plan_.collectives) {
    if (Status forced = collectives_.force(text); !forced)
      return Error::call("--coll: " + forced.error().message());
  }
  collectives_.set_machine(machine_grid(scene_));
  WorldSetup setup;
  setup.topology = scene_.topology.get();
  setup.policy = scene_.policy.get();
  setup.machine = scene_.machine;
  setup.node = scene_.node;
  setup.placement = scene_.placement.get();
  setup.workers = plan_.threads;
  setup.seed = plan_.seed;
  setup.carry_data = plan_.carry_data;
  setup.compute_factor = plan_.compute_factor;
  setup.stack_bytes = static_cast<std::size_t>(plan_.stack.count);
  setup.count_pairs = plan_.matrix;
  auto world = World::make(setup, cast_);
  if (!world) return std::move(world).error();
  world_ = std::move(*world);
  cast_.attach(*world_, call);
  watch_for_crashes(*world_, console_);
  return add_samplers();
}

Status Performance::add_samplers() {
  using Make = Result<std::unique_ptr<Sampler>> (*)(const Plan&, const Scene&);
  const std::pair<bool, Make> wanted[] = {{plan_.series > Duration::zero(), sample_series},
                                          {!scene_.watched.empty(), watch_buffers}};
  for (const auto& [is_wanted, make] : wanted) {
    if (!is_wanted) continue;
    auto sampler = make(plan_, scene_);
    if (!sampler) return std::move(sampler).error();
    samplers_.push_back(std::move(*sampler));
  }
  return {};
}

Status Performance::sample(Time now, bool last) {
  for (const auto& sampler : samplers_) {
    const Time at = sampler->next();
    if (at == Time::never() || (now != at && !last)) continue;
    // At the end nothing changes any more: when we came to it must not show.
    if (Status wrote = sampler->sample(world_->network(), at); !wrote) return wrote;
  }
  return {};
}

Status Performance::play() {
  Progress progress = plan_.quiet ? Progress(seconds_now, {}) : Progress::to_stderr(seconds_now);
  Slices slices;
  Time now, next_look = Time::zero() + idle_most;
  for (;;) {
    Time until = std::min({slices.next(now), plan_.until, next_look});
    for (const auto& sampler : samplers_) until = std::min(until, sampler->next());
    const bool cut_short = until < slices.next(now);
    const double before = seconds_now();
    auto more = world_->run(until);
    if (!more) return std::move(more).error();
    now = until;
    if (!cut_short) slices.took(seconds_now() - before);
    if (Status wrote = sample(now, !*more); !wrote) return wrote;
    progress.update(plan_.until < Time::never() ? (now - Time::zero()).in_seconds() /
                                                      (plan_.until - Time::zero()).in_seconds()
                                                : -1,
                    fmt::format("simulated {}", to_text(now - Time::zero())));
    if (!*more) return {};
    console_.show(std::min(now - Duration::ps(1), world_->stopped_at()));
    if (now ==
        next_look) {  // At moments of the simulated clock, so that the answer is always the same.
      if (nobody_moves(*world_, scene_.placement->ranks())) return {};
      next_look = next_look + idle_most;
    }
    if (end_requested) {
      interrupted_ = true;
      return {};
    }
    if (now >= plan_.until) {
      cut_ = true;
      return {};
    }
  }
}

std::string Performance::ending() const {
  if (cast_.first_abort() != nullptr) return "aborted";
  if (interrupted_) return "interrupted";
  if (cut_) return "stopped at " + to_text(plan_.until - Time::zero());
  return world_->ranks_open() == 0 ? "complete" : "deadlock";
}

Status Performance::write_files(const Findings& findings) const {
  if (plan_.out.empty()) return {};
  const auto write = [&](const char* name, const std::string& text) {
    return write_file(plan_.out + "/" + name, text);
  };
  if (Status s = write("summary.json", to_json(findings)); !s) return s;
  if (Status s = write("ranks.csv", ranks_csv(scene_, *world_)); !s) return s;
  if (Status s = write("calls.csv", calls_csv(findings)); !s) return s;
  if (!plan_.matrix) return {};
  return write("traffic.txt", traffic_text(*world_, scene_.placement->ranks()));
}

int Performance::conclude(const ProgramCall& call) {
  console_.drop_after(world_->stopped_at());
  console_.show(Time::never());
  console_.give_back();
  const double wall = seconds_now() - started_;
  int code = cast_.exit_code();
  Findings findings = collect(scene_, *world_, cast_);
  findings.program = std::filesystem::path(call.arguments[0]).filename().string();
  findings.ending = ending();
  findings.carried_data = plan_.carry_data;
  if (const Cast::Abort* abort = cast_.first_abort()) {
    tell(fmt::format("weft: rank {} ended the job with code {} after {}{}{}\n", abort->rank.index,
                     abort->code, to_text(abort->at - Time::zero()),
                     abort->message.empty() ? "" : ": ", abort->message));
    code = abort->code == 0 ? 1 : abort->code;
  } else if (findings.ending == "deadlock") {
    tell("weft: error: " + describe_deadlock(*world_, scene_.placement->ranks()) + "\n");
    code = 1;
  } else if (!findings.complete) {
    tell("weft: " + findings.ending + ", numbers are of what was simulated until then\n");
    code = interrupted_ ? 130 : 0;
  }
  if (code != 0 && !interrupted_ && !plan_.carry_data && findings.bytes > 0)
    tell(
        "weft: messages carried no data; a program that needs what it receives wants --payload "
        "full\n");
  if (Status wrote = write_files(findings); !wrote) {
    tell("weft: error: " + wrote.error().text() + "\n");
    code = code == 0 ? 1 : code;
  }
  if (!plan_.quiet) tell(to_table(findings));
  if (plan_.verbose) {
    rusage use = {};
    getrusage(RUSAGE_SELF, &use);
    tell(
        fmt::format("simulated in           {:.2f} s with {} workers: {:.2f} M packet-hops/s\n"
                    "peak memory            {:.1f} MB, {:.1f} KB per rank\n",
                    wall, plan_.threads, static_cast<double>(findings.hops) / wall / 1e6,
                    static_cast<double>(use.ru_maxrss) / 1e3,
                    static_cast<double>(use.ru_maxrss) / std::max(findings.ranks, 1u)));
  }
  return code & 0xff;
}

Result<int> Performance::run(const ProgramCall& call) {
  started_ = seconds_now();
  if (Status ready = set_up(call); !ready) return std::move(ready).error();
  console_.take_over();
  Status played = play();
  ::alarm(0);  // Of a signal that asked for the end: it has come.
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
}

Result<int> perform(const Plan& plan, const Scene& scene, Images& images, const ProgramCall& call) {
  // Not on the stack: what it owns must outlive ranks that never ended.
  static Performance performance(plan, scene, images);
  return performance.run(call);
}

}  // namespace weft
