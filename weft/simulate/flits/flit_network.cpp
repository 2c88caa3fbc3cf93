// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/flit_network.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/parallel/des/windows.hpp>
#include <weft/simulate/flits/cards.hpp>
#include <weft/simulate/flits/deadlock.hpp>
#include <weft/simulate/flits/state.hpp>
#include <weft/simulate/flits/worker.hpp>

namespace weft {
namespace {

class FlitNetwork final : public Network {
 public:
  FlitNetwork(const flits::Setup& setup, const Parts& parts, Host& host,
              const NetworkOptions& options);

  void set_alarm(NodeId node, Time at) override {
    if (at < Time::never()) worker_of(node).set_alarm(number(node), at.in_ps());
  }
  void send(const Outgoing& message, Time now) override {
    worker_of(message.from).send(message, now);
  }
  Result<bool> run(Time until) override;
  std::string find_deadlock() const override { return flits::find_deadlock(workers_); }
  bool is_here(RouterId) const override { return true; }
  bool is_here(NodeId) const override { return true; }
  NetworkCounts counts() const override;
  LinkCount link(LinkId link, Time at) const override;
  NodeLinkCount node_link(NodeId node, Time) const override {
    return worker_of(node).cards().count(number(node));
  }
  BufferLevel buffer(RouterId router, int port, int vc, Time at) const override;
  LineNews line(RouterId router, int port, int line) const override {
    if (lines_ == nullptr) return {};
    return lines_->line(tables_.placement.router_number[router.index], port, line);
  }
  MemoryUse memory() const override;
  Duration window() const override { return cycles(window_); }
  // A window begins with a cycle that may be later than the moment for which it is played.
  Time last_moment(Time time) const override { return time + cycles(tables_.window_max + 1); }

 private:
  Duration cycles(std::int64_t count) const { return Duration::ps(cycle_ps_ * count); }
  std::uint32_t number(NodeId node) const { return tables_.placement.node_number[node.index]; }
  flits::Worker& worker_of(NodeId node) const {
    if (workers_.size() == 1) return *workers_.front();
    return *workers_[static_cast<std::size_t>(tables_.placement.worker_of_node(number(node)))];
  }
  const flits::Router& router_at(RouterId id) const {
    return tables_.routers[tables_.placement.router_number[id.index]];
  }
  std::string failure() const;
  std::int64_t window_end(std::int64_t from_ps, std::int64_t until_ps) const;
  std::int64_t run_windows(std::int64_t until_ps);
  std::int64_t run_worker(int worker, std::int64_t until_ps, MinBarrier& barrier);

  const std::int64_t cycle_ps_;
  flits::Tables tables_;
  flits::CardTables cards_;
  std::unique_ptr<detail::LineTable> lines_;  // If the policy wants to know of lines.
  flits::Workers workers_;
  std::int64_t window_;
  WorkerThreads threads_;  // Last: they use the others until they have ended.
};

FlitNetwork::FlitNetwork(const flits::Setup& setup, const Parts& parts, Host& host,
                         const NetworkOptions& options)
    : cycle_ps_(setup.timing.cycle_ps),
      tables_(setup, parts),
      cards_(setup, tables_),
      window_(tables_.window),
      threads_(parts.count()) {
  for (int w = 0; w < parts.count(); ++w)
    workers_.push_back(
        std::make_unique<flits::Worker>(setup, tables_, cards_, host, options.seed, w));
  if (const Lines* const lines = setup.policy.lines(); lines != nullptr) {
    lines_ = std::make_unique<detail::LineTable>(setup.graph, *lines, setup.machine,
                                                 tables_.placement.routers);
    if (const std::int64_t least = lines_->least_delay_ps(); least != INT64_MAX)
      window_ = std::min(window_, flits::news_cycles(least, cycle_ps_));
    for (const auto& worker : workers_) worker->tell_news(*lines_);
  }
  if (options.window > Duration::zero())
    window_ = std::clamp<std::int64_t>(options.window.in_ps() / cycle_ps_, 1, window_);
}

// The first one, of several in a cycle that of the router with the lowest id: one worker would have
// stopped there.
std::string FlitNetwork::failure() const {
  const flits::Failure* first = nullptr;
  for (const auto& worker : workers_) {
    const flits::Failure& one = worker->failure();
    if (one.text.empty()) continue;
    if (first == nullptr ||
        std::pair(one.at, one.router.index) < std::pair(first->at, first->router.index))
      first = &one;
  }
  return first == nullptr ? std::string() : first->text;
}

Result<bool> FlitNetwork::run(Time until) {
  if (const std::string before = failure(); !before.empty()) return Error::run(before);
  const std::int64_t next =
      workers_.size() == 1 ? workers_.front()->play(until.in_ps()) : run_windows(until.in_ps());
  if (const std::string found = failure(); !found.empty()) return Error::run(found);
  return next != flits::Worker::never;
}

// What happens in a window reaches other workers' routers after it.
std::int64_t FlitNetwork::window_end(std::int64_t from_ps, std::int64_t until_ps) const {
  const std::int64_t first = from_ps / cycle_ps_ + (from_ps % cycle_ps_ != 0 ? 1 : 0);
  return std::min((first + window_) * cycle_ps_, until_ps);
}

std::int64_t FlitNetwork::run_windows(std::int64_t until_ps) {
  MinBarrier barrier(static_cast<int>(workers_.size()));
  std::int64_t next = flits::Worker::never;
  threads_.run([&](int worker) {
    try {
      const std::int64_t mine = run_worker(worker, until_ps, barrier);
      if (worker == 0) next = mine;
    } catch (...) {
      barrier.wait(MinBarrier::failed);  // Where the others wait for this one.
      throw;
    }
  });
  return next;
}

// Returns when something happens next, as all workers know it. Negative: it ends here.
std::int64_t FlitNetwork::run_worker(int worker, std::int64_t until_ps, MinBarrier& barrier) {
  constexpr std::int64_t no_way = -1;
  flits::Worker& own = *workers_[static_cast<std::size_t>(worker)];
  std::int64_t next = barrier.wait(own.next_ps());
  for (int side = 0; next >= 0 && next < until_ps; side ^= 1) {
    const std::int64_t end_ps = window_end(next, until_ps);
    own.begin_mail(side);
    next = own.play(end_ps);  // Before it is asked what was mailed meanwhile.
    next = std::min(next, own.mailed_ps());
    own.end_window(end_ps);
    next = barrier.wait(own.failure().text.empty() ? next : no_way);
    if (next == MinBarrier::failed) return next;
    // Nothing that was mailed matters before `next`, so it may be read here, before anyone writes
    // this side again.
    for (const auto& from : workers_) own.read_mail(*from, side);
  }
  return next;
}

NetworkCounts FlitNetwork::counts() const {
  NetworkCounts sum;
  for (const auto& worker : workers_) {
    const NetworkCounts& one = worker->cards().counts();
    sum.packets_sent += one.packets_sent;
    sum.packets_delivered += one.packets_delivered;
    sum.hops += one.hops;
    sum.visits += worker->state().visits;
  }
  return sum;
}

// What has crossed the switch counts as passed, and enters the link some cycles later; behind a
// buffer at the output, what has left that.
LinkCount FlitNetwork::link(LinkId link, Time) const {
  const Graph& graph = workers_.front()->state().setup.graph;
  const RouterId source = graph.source_of(link);
  const std::uint32_t port = link.index - graph.link(source, 0).index;
  const flits::Passed& out = tables_.passed(router_at(source).first_end + port);
  LinkCount count;
  count.packets = out.packets;
  count.bytes = out.bytes;
  if (lines_ != nullptr)
    count.news =
        lines_->flits_on(tables_.placement.router_number[source.index], static_cast<int>(port));
  return count;
}

BufferLevel FlitNetwork::buffer(RouterId router, int port, int vc, Time) const {
  const flits::Setup& setup = workers_.front()->state().setup;
  const std::uint32_t end = router_at(router).first_end + static_cast<std::uint32_t>(port);
  const flits::InputVc& in = tables_.inputs[end * setup.vcs + static_cast<std::uint32_t>(vc)];
  return {.packets = in.tail - in.head, .bytes = setup.machine.flit * in.flits};
}

MemoryUse FlitNetwork::memory() const {
  const std::size_t bytes = tables_.bytes() + (lines_ != nullptr ? lines_->bytes() : 0);
  return {.bytes_per_router = bytes / std::max<std::size_t>(1, tables_.routers.size()),
          .bytes_per_packet = sizeof(flits::Packet),
          .bytes_reserved = 0};
}

}  // namespace

Result<std::unique_ptr<Network>> make_flit_network(const Topology& topology,
                                                   const NetworkHardware& machine,
                                                   const Policy& policy, Host& host,
                                                   const NetworkOptions& options,
                                                   const FlitModel& model) {
  if (Status status = check_hardware(machine); !status) return std::move(status).error();
  if (Status status = flits::check_flit_hardware(topology, machine, policy, model); !status)
    return std::move(status).error();
  if (options.peers != nullptr && options.peers->count() > 1)
    return Error::call(
        "the flit model runs in one process; start weft without mpirun, or use --model packet");
  // No more parts than routers: surplus workers get no part.
  const int most = static_cast<int>(std::min<std::uint32_t>(parts_max(topology), 63));
  const auto parts =
      partition(topology, {std::clamp(options.workers, 1, most), options.cut, options.weight});
  if (!parts) return parts.error();
  return std::unique_ptr<Network>(std::make_unique<FlitNetwork>(
      flits::make_setup(topology, machine, policy, model), *parts, host, options));
}

}  // namespace weft
