// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/network.hpp"

#include <algorithm>

#include <weft/simulate/router/cards.hpp>
#include <weft/simulate/router/engine.hpp>
#include <weft/simulate/router/layout.hpp>
#include <weft/simulate/router/line_table.hpp>

namespace weft {

namespace {

// No more parts than routers: surplus workers get no part.
Result<Parts> cut(const Topology& topology, const NetworkOptions& options, int wanted) {
  const int most = static_cast<int>(parts_max(topology));
  auto parts = partition(topology, {std::min(wanted, most), options.cut, options.weight});
  while (parts && parts->count() < wanted) parts->first.push_back(parts->first.back());
  return parts;
}

// Process 0 cuts for all: machines that differ might cut differently.
Result<Parts> share_out(const Topology& topology, const NetworkOptions& options) {
  ProcessGroup* const peers = options.peers;
  if (peers == nullptr || peers->count() == 1)
    return cut(topology, options, std::clamp(options.workers, 1, 63));
  Packer mine;
  if (peers->self() == 0) {
    const auto parts = cut(topology, options, peers->count());
    mine.put_text(parts ? "" : parts.error().message());
    mine.put_list(parts ? parts->order : std::vector<std::uint32_t>{});
    mine.put_list(parts ? parts->first : std::vector<std::uint32_t>{});
  }
  const PeerBytes bytes = peers->broadcast(mine.take());
  Unpacker theirs(bytes);
  if (const std::string error = theirs.take_text(); !error.empty()) return Error::call(error);
  Parts parts;
  parts.order = theirs.take_list<std::uint32_t>();
  parts.first = theirs.take_list<std::uint32_t>();
  return parts;
}

class PacketNetwork final : public Network {
 public:
  explicit PacketNetwork(std::unique_ptr<detail::Engine> engine) : engine_(std::move(engine)) {}

  void set_alarm(NodeId node, Time at) override { detail::set_alarm(engine_->state(), node, at); }
  void send(const Outgoing& message, Time now) override {
    detail::send_message(engine_->state(), message, now);
  }
  Result<bool> run(Time until) override { return engine_->run(until); }
  std::string find_deadlock() const override { return engine_->find_deadlock(); }
  bool is_here(RouterId router) const override { return engine_->state().placement.has(router); }
  bool is_here(NodeId node) const override { return engine_->state().is_here(node.index); }
  NetworkCounts counts() const override { return engine_->counts(); }
  LinkCount link(LinkId link, Time at) const override { return engine_->link(link, at); }
  NodeLinkCount node_link(NodeId node, Time at) const override {
    return engine_->node_link(node, at);
  }
  BufferLevel buffer(RouterId router, int port, int vc, Time at) const override {
    return engine_->buffer(router, port, vc, at);
  }
  LineNews line(RouterId router, int port, int line) const override {
    return engine_->line(router, port, line);
  }
  MemoryUse memory() const override { return engine_->memory(); }
  Duration window() const override { return engine_->window(); }
  Time last_moment(Time time) const override { return engine_->last_moment(time); }

 private:
  const std::unique_ptr<detail::Engine> engine_;
};

}  // namespace

Result<std::unique_ptr<Network>> Network::make(const Topology& topology,
                                               const NetworkHardware& machine, const Policy& policy,
                                               Host& host, const NetworkOptions& options) {
  if (Status status = check_hardware(machine); !status) return std::move(status).error();
  if (Status status = detail::check_size(topology, machine); !status)
    return std::move(status).error();
  if (const Lines* const lines = policy.lines(); lines != nullptr) {
    if (Status status = detail::check_news(*lines, machine.news); !status)
      return std::move(status).error();
  }
  auto parts = share_out(topology, options);
  if (!parts) return std::move(parts).error();
  const detail::Setup setup(topology, machine, policy, host, options.seed);
  return std::unique_ptr<Network>(
      std::make_unique<PacketNetwork>(std::make_unique<detail::Engine>(setup, options, *parts)));
}

}  // namespace weft
