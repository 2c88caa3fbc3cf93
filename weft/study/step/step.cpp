// SPDX-License-Identifier: Apache-2.0
#include "weft/study/step/step.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <weft/simulate/router/network.hpp>
#include <weft/study/step/senders.hpp>

namespace weft {
namespace {

// A slice is the work between two looks at the stop flag, some hundredths of a second. It follows
// the packets moved, not the clock of the machine, so that the course is the same everywhere.
constexpr std::uint64_t slice_hops_min = 100'000, slice_hops_max = 400'000;
constexpr Duration slice_first = Duration::us(1), slice_least = Duration::ns(1),
                   slice_most = Duration::ms(1000);

bool flows(const StepOptions& options) {
  return options.model.fidelity == Fidelity::flow;
}

// Flows are handed over whole; their card serves destinations in its own order.
SendPlan plan_of(const Arena& arena, const StepOptions& options) {
  constexpr int flows_at_once = 256;
  SendPlan plan{.order = arena.hardware.order,
                .burst = options.burst,
                .shrink = options.shrink,
                .mtu = arena.hardware.mtu,
                .workers = std::clamp(options.threads, 1, 63)};
  if (!flows(options)) return plan;
  plan.order = SendOrder::queue;
  plan.burst = UINT32_MAX;
  plan.stock = flows_at_once;
  return plan;
}

class Run {
 public:
  Run(const Arena& arena, const StepOptions& options, Senders& senders)
      : ground_(arena), options_(options), senders_(senders) {}

  Status open();
  Status play();
  StepResult result() const;

 private:
  Time next_stop() const;
  Status look_for_deadlock(bool at_rest) const;
  bool asked_to_stop() const {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }
  void measure_links(StepResult& result) const;

  const Arena& ground_;
  const StepOptions& options_;
  Senders& senders_;
  std::unique_ptr<Network> network_;
  StepState state_ = StepState::complete;
  Time now_;
  Duration slice_ = slice_first;
};

Status Run::open() {
  NetworkOptions how;
  how.seed = options_.seed;
  how.workers = options_.threads;
  how.cut = options_.cut;
  NetworkHardware hardware = ground_.hardware;
  // The senders hand over packets in the order that the card is to have.
  if (!flows(options_)) hardware.order = SendOrder::queue;
  auto made =
      make_network(options_.model, ground_.topology, hardware, ground_.policy, senders_, how);
  if (!made) return std::move(made).error();
  network_ = *std::move(made);
  senders_.attach(*network_);
  return {};
}

Time Run::next_stop() const {
  const Time end = now_ + slice_;
  if (options_.limit == Duration::zero()) return end;
  return std::min(end, Time::zero() + options_.limit);
}

Status Run::play() {
  NetworkCounts before;
  while (!senders_.all_arrived()) {
    if (asked_to_stop()) {
      state_ = StepState::stopped;
      return {};
    }
    if (options_.limit > Duration::zero() && now_ - Time::zero() >= options_.limit) {
      state_ = StepState::late;
      return {};
    }
    now_ = next_stop();
    const Result<bool> remains = network_->run(now_);
    if (!remains) return Error(remains.error());
    const NetworkCounts counts = network_->counts();
    if (!*remains || counts.packets_delivered == before.packets_delivered)
      if (Status s = look_for_deadlock(!*remains); !s) return s;
    const std::uint64_t hops = counts.hops - before.hops;
    if (hops < slice_hops_min) slice_ = std::min(slice_ * 2, slice_most);
    if (hops > slice_hops_max) slice_ = std::max(slice_ / 2, slice_least);
    before = counts;
    if (options_.progress)
      options_.progress(static_cast<double>(counts.packets_delivered) /
                        static_cast<double>(senders_.packets()));
  }
  return {};
}

// Nothing has arrived for a while; at rest, nothing will ever happen again.
Status Run::look_for_deadlock(bool at_rest) const {
  if (senders_.all_arrived()) return {};
  const std::string circle = network_->find_deadlock();
  if (!circle.empty())
    return Error::run(
        fmt::format("deadlock in the network after {} ns: {}; use a routing that is "
                    "free of it, or more VCs",
                    (now_ - Time::zero()).in_ns(), circle));
  WEFT_CHECK(!at_rest);  // A packet would be lost.
  return {};
}

void Run::measure_links(StepResult& result) const {
  const Graph& graph = ground_.topology.graph;
  const double seconds = result.time.in_seconds();
  result.link_bytes.resize(graph.link_count());
  std::uint64_t usable = 0;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    const Port& port = graph.port(LinkId(l));
    if (!port.usable()) continue;
    result.link_bytes[l] = network_->link(LinkId(l)).bytes;
    ++usable;
    if (seconds == 0) continue;
    const Rate rate = ground_.hardware.cabling(graph.link_classes()[port.link_class]).rate;
    const double share =
        static_cast<double>(result.link_bytes[l]) / (rate.in_byte_per_s() * seconds);
    result.mean_share += share;
    if (share <= result.busiest_share) continue;
    result.busiest_share = share;
    result.busiest = LinkId(l);
  }
  if (usable > 0) result.mean_share /= static_cast<double>(usable);
}

StepResult Run::result() const {
  StepResult result;
  result.state = state_;
  senders_.report(result);
  if (state_ == StepState::late) result.time = options_.limit;
  const NetworkCounts counts = network_->counts();
  result.packets = counts.packets_sent;
  result.hops = counts.hops;
  measure_links(result);
  return result;
}

Status check(const Arena& arena, const TrafficMatrix& traffic,
             std::span<const std::uint32_t> node_of_rank, const StepOptions& options) {
  if (options.shrink < 1) return Error::call("a step cannot be shrunk by 0; give 1 for all of it");
  if (options.burst < 1) return Error::call("a burst needs at least one packet");
  if (options.threads < 1) return Error::call("a step needs at least one thread");
  if (options.limit < Duration::zero()) return Error::call("a step's limit must not be negative");
  if (node_of_rank.size() < traffic.ranks())
    return Error::call(fmt::format("the traffic has {} ranks but the map has only {}",
                                   traffic.ranks(), node_of_rank.size()));
  const std::uint32_t nodes = arena.topology.graph.node_count();
  for (std::uint32_t rank = 0; rank < traffic.ranks(); ++rank)
    if (node_of_rank[rank] >= nodes)
      return Error::call(fmt::format("the map puts rank {} on node {}, but the network has {}",
                                     rank, node_of_rank[rank], nodes));
  return check_hardware(arena.hardware);
}

}  // namespace

const char* to_text(StepState state) {
  switch (state) {
    case StepState::complete:
      return "complete";
    case StepState::late:
      return "late";
    case StepState::stopped:
      return "stopped";
  }
  return "";
}

Result<StepResult> play_step(const Arena& arena, const TrafficMatrix& traffic,
                             std::span<const std::uint32_t> node_of_rank,
                             const StepOptions& options) {
  if (Status s = check(arena, traffic, node_of_rank, options); !s) return std::move(s).error();
  Senders senders(traffic, node_of_rank, arena.topology.graph.node_count(),
                  plan_of(arena, options));
  Run run(arena, options, senders);
  if (Status s = run.open(); !s) return std::move(s).error();
  if (Status s = run.play(); !s) return std::move(s).error();
  return run.result();
}

}  // namespace weft
