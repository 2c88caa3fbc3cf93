// SPDX-License-Identifier: Apache-2.0
// Samples the buffers of chosen routers, in buffers.csv.
#include <vector>

#include <fmt/format.h>

#include <weft/parallel/processes/agree.hpp>
#include <weft/program/simulated_run/gather.hpp>
#include <weft/program/simulated_run/sampler.hpp>

namespace weft {

namespace {

struct WatchedBuffer {
  RouterId router;
  int port = 0, vc = 0;
  std::string name;  // "(0,0),from (1,0),2": router, upstream router, VC; names quoted.
  BufferLevel last;
};

class Watch final : public Sampler {
 public:
  Watch(SampleFile file, const SamplerSetup& what, std::vector<WatchedBuffer> buffers)
      : file_(std::move(file)),
        network_(what.world.network()),
        until_(what.options.watch_until),
        interval_(what.options.watch_every),
        next_(what.options.watch_from),
        buffers_(std::move(buffers)),
        levels_(what.peers, here(what)),
        own_(levels_.here().size()),
        all_(what.writes() ? buffers_.size() : 0) {
    file_.write("time_ps,router,from,vc,packets,bytes\n");
  }

  Time next() const override { return next_; }

  Status sample(Time now) override {
    if (now < next_) return {};
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const WatchedBuffer& b = buffers_[levels_.here()[i]];
      own_[i] = network_.buffer(b.router, b.port, b.vc, now);
    }
    levels_.collect(own_, all_);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      WatchedBuffer& b = buffers_[i];
      const BufferLevel level = all_[i];
      if (level == b.last) continue;
      b.last = level;
      file_.write(
          fmt::format("{},{},{},{}\n", now.in_ps(), b.name, level.packets, level.bytes.count));
    }
    next_ = next_ + interval_;
    if (next_ > until_) next_ = Time::never();
    return file_.flush();
  }

 private:
  std::vector<std::uint32_t> here(const SamplerSetup& what) const {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < buffers_.size(); ++i) {
      if (what.world.network().is_here(buffers_[i].router)) list.push_back(i);
    }
    return list;
  }

  SampleFile file_;
  const Network& network_;
  const Time until_;
  const Duration interval_;
  Time next_;
  std::vector<WatchedBuffer> buffers_;
  const IndexedGather<BufferLevel> levels_;
  std::vector<BufferLevel> own_, all_;
};

std::string feeder_name(const Topology& topology, RouterId router, std::size_t port) {
  const auto ports = topology.graph.ports(router);
  if (port >= ports.size())
    return "node " + node_name(topology, topology.graph.nodes_at(router)[port - ports.size()]);
  return ports[port].usable() ? router_name(topology, ports[port].peer) : "nowhere";
}

}  // namespace

Result<std::unique_ptr<Sampler>> watch_buffers(const SamplerSetup& what) {
  const SimulationSetup& setup = what.setup;
  const Topology& topology = *setup.machine.topology;
  std::vector<WatchedBuffer> buffers;
  for (const RouterId router : setup.watched) {
    const std::size_t ports =
        topology.graph.ports(router).size() + topology.graph.nodes_at(router).size();
    for (std::size_t p = 0; p < ports; ++p) {
      for (int v = 0; v < setup.machine.hardware.vcs; ++v) {
        buffers.push_back({router,
                           static_cast<int>(p),
                           v,
                           fmt::format("\"{}\",\"{}\",{}", router_name(topology, router),
                                       feeder_name(topology, router, p), v),
                           {}});
      }
    }
  }
  auto file = SampleFile::create(what.options.out + "/buffers.csv", what.writes());
  if (Status made = agree(what.peers, file ? Status() : Error(file.error())); !made)
    return std::move(made).error();
  return std::unique_ptr<Sampler>(new Watch(*std::move(file), what, std::move(buffers)));
}

}  // namespace weft
