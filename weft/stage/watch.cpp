// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fmt/format.h>

#include <weft/stage/sampler.hpp>

namespace weft {

namespace {

struct WatchedBuffer {
  RouterId router;
  int port = 0, vc = 0;
  std::string name;  // "(0,0),from (1,0),2": router, feeder, VC; the names quoted.
  BufferLevel last;
};

class Watch final : public Sampler {
 public:
  Watch(SampleFile file, const Plan& plan, std::vector<WatchedBuffer> buffers)
      : file_(std::move(file)),
        until_(plan.watch_until),
        interval_(plan.watch_every),
        next_(plan.watch_from),
        buffers_(std::move(buffers)) {
    file_.write("time_ps,router,from,vc,packets,bytes\n");
  }

  Time next() const override { return next_; }

  Status sample(const Network& network, Time now) override {
    if (now < next_) return {};
    for (WatchedBuffer& b : buffers_) {
      const BufferLevel level = network.buffer(b.router, b.port, b.vc, now);
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
  SampleFile file_;
  const Time until_;
  const Duration interval_;
  Time next_;
  std::vector<WatchedBuffer> buffers_;
};

std::string feeder_name(const Topology& topology, RouterId router, std::size_t port) {
  const auto ports = topology.graph.ports(router);
  if (port >= ports.size())
    return "node " + node_name(topology, topology.graph.nodes_at(router)[port - ports.size()]);
  return ports[port].usable() ? router_name(topology, ports[port].peer) : "nowhere";
}

}  // namespace

Result<std::unique_ptr<Sampler>> watch_buffers(const Plan& plan, const Scene& scene) {
  const Topology& topology = *scene.topology;
  std::vector<WatchedBuffer> buffers;
  for (const RouterId router : scene.watched) {
    const std::size_t ports =
        topology.graph.ports(router).size() + topology.graph.nodes_at(router).size();
    for (std::size_t p = 0; p < ports; ++p) {
      for (int v = 0; v < scene.machine.vcs; ++v) {
        buffers.push_back({router,
                           static_cast<int>(p),
                           v,
                           fmt::format("\"{}\",\"{}\",{}", router_name(topology, router),
                                       feeder_name(topology, router, p), v),
                           {}});
      }
    }
  }
  auto file = SampleFile::create(plan.out + "/buffers.csv");
  if (!file) return std::move(file).error();
  return std::unique_ptr<Sampler>(new Watch(*std::move(file), plan, std::move(buffers)));
}

}  // namespace weft
