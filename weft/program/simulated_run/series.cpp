// SPDX-License-Identifier: Apache-2.0
// Samples the traffic of links and the fill of buffers over time, in series.raw.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <weft/output/record/series_raw.hpp>
#include <weft/parallel/processes/agree.hpp>
#include <weft/program/simulated_run/gather.hpp>
#include <weft/program/simulated_run/sampler.hpp>

namespace weft {

namespace {

template <typename Is>
std::vector<std::uint32_t> those_here(std::uint32_t count, Is&& is_here) {
  std::vector<std::uint32_t> here;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (is_here(i)) here.push_back(i);
  }
  return here;
}

// Limits the file to about a quarter of a gigabyte. Even, so that samples can be merged in pairs.
std::uint64_t samples_max(const Graph& graph) {
  const std::uint64_t each =
      (std::uint64_t{graph.link_count()} + std::uint64_t{2} * graph.node_count()) *
          sizeof(LinkSample) +
      graph.router_count() * sizeof(std::uint64_t);
  return std::clamp<std::uint64_t>((std::uint64_t{1} << 28) / std::max<std::uint64_t>(each, 1), 16,
                                   256) &
         ~std::uint64_t{1};
}

// What has passed since the last look.
class LinkCounter {
 public:
  LinkSample take(const LinkCount& now) {
    const LinkSample more{now.bytes - before_.bytes, now.packets - before_.packets};
    before_ = {now.bytes, now.packets};
    return more;
  }

 private:
  LinkSample before_;
};

class Series final : public Sampler {
 public:
  Series(std::optional<SeriesWriter> file, const SamplerSetup& what, Duration interval)
      : file_(std::move(file)),
        world_(what.world),
        graph_(what.setup.machine.topology->graph),
        network_(what.world.network()),
        vcs_(what.setup.machine.hardware.vcs),
        peers_(what.peers),
        seconds_(what.seconds),
        grows_(what.options.series_grows),
        paced_(what.options.series_paced),
        most_(samples_max(graph_)),
        interval_(interval),
        next_(Time::zero() + interval_),
        ranks_(those_here(what.setup.placement->ranks(),
                          [&](std::uint32_t r) { return world_.is_here(RankId(r)); })),
        sent_(what.peers,
              {what.peers == nullptr ? 0U : static_cast<std::uint32_t>(what.peers->self())}),
        links_(what.peers, those_here(graph_.link_count(),
                                      [&](std::uint32_t l) {
                                        return network_.is_here(graph_.source_of(LinkId(l)));
                                      })),
        levels_(what.peers,
                those_here(graph_.router_count(),
                           [&](std::uint32_t r) { return network_.is_here(RouterId(r)); })),
        nodes_(what.peers,
               those_here(graph_.node_count(),
                          [&](std::uint32_t n) { return network_.is_here(NodeId(n)); })),
        link_counters_(links_.here().size()),
        injected_(nodes_.here().size()),
        ejected_(nodes_.here().size()),
        own_links_(links_.here().size()),
        own_nodes_(nodes_.here().size()),
        own_levels_(levels_.here().size()),
        all_sent_(what.peers == nullptr ? 1 : static_cast<std::size_t>(what.peers->count())) {
    if (!what.writes()) return;
    all_.links.resize(graph_.link_count());
    all_.buffers.resize(graph_.router_count());
    all_.injected.resize(graph_.node_count());
    all_.ejected.resize(graph_.node_count());
    all_nodes_.resize(graph_.node_count());
  }

  Time next() const override { return next_; }

  Status sample(Time now) override {
    look(now);
    ++samples_;
    if (file_) {
      if (Status wrote = file_->append(all_); !wrote) return wrote;
    }
    const bool full = grows_ && samples_ >= most_;
    if (full) samples_ /= 2;
    if (paced_) {
      adapt_interval();
      next_ = now + interval_;
    } else {
      if (full) interval_ = interval_ * 2;
      while (next_ <= now) next_ = next_ + interval_;
      if (full) next_ = now + interval_;
    }
    return full && file_ ? file_->halve() : Status();
  }

 private:
  static constexpr Duration interval_min = Duration::ns(100);
  struct Sent {
    std::uint64_t messages = 0, bytes = 0;
  };
  struct NodeSample {
    LinkSample injected, ejected;
  };

  // Aims at a few samples per second of wall time, which cost the run almost nothing. Process 0
  // decides.
  void adapt_interval() {
    const double now = seconds_(), passed = now - last_seconds_;
    last_seconds_ = now;
    if (passed < 0.15) interval_ = interval_ * 2;
    if (passed > 0.6 && interval_ > interval_min) interval_ = interval_ / 2;
    if (peers_ == nullptr) return;
    interval_ =
        Duration::ps(peers_->all_reduce_min(peers_->self() == 0 ? interval_.in_ps() : INT64_MAX));
  }

  void look(Time now) {
    look_at_links(now);
    for (std::size_t i = 0; i < own_levels_.size(); ++i)
      own_levels_[i] = level(RouterId(levels_.here()[i]), now);
    Sent own;
    for (const std::uint32_t rank : ranks_) {
      const RankCounts& counts = world_.counts(RankId(rank));
      own.messages += counts.messages;
      own.bytes += counts.bytes;
    }
    levels_.collect(own_levels_, all_.buffers);
    sent_.collect({own}, all_sent_);
    all_.head = {now.in_ps(), 0, 0};
    for (const Sent& sent : all_sent_) {
      all_.head.messages += sent.messages;
      all_.head.bytes += sent.bytes;
    }
  }

  void look_at_links(Time now) {
    for (std::size_t i = 0; i < own_links_.size(); ++i)
      own_links_[i] = link_counters_[i].take(network_.link(LinkId(links_.here()[i]), now));
    for (std::size_t i = 0; i < own_nodes_.size(); ++i) {
      const NodeLinkCount count = network_.node_link(NodeId(nodes_.here()[i]), now);
      own_nodes_[i] = {injected_[i].take(count.injected), ejected_[i].take(count.ejected)};
    }
    links_.collect(own_links_, all_.links);
    nodes_.collect(own_nodes_, all_nodes_);
    for (std::size_t n = 0; n < all_nodes_.size(); ++n) {
      all_.injected[n] = all_nodes_[n].injected;
      all_.ejected[n] = all_nodes_[n].ejected;
    }
  }

  std::uint64_t level(RouterId router, Time now) const {
    const std::size_t ports = graph_.ports(router).size() + graph_.nodes_at(router).size();
    Bytes sum;
    for (int p = 0; p < static_cast<int>(ports); ++p) {
      for (int v = 0; v < vcs_; ++v) sum += network_.buffer(router, p, v, now).bytes;
    }
    return static_cast<std::uint64_t>(sum.count);
  }

  std::optional<SeriesWriter> file_;  // Empty in processes that do not write.
  const World& world_;
  const Graph& graph_;
  const Network& network_;
  const int vcs_;
  ProcessGroup* const peers_;
  double (*const seconds_)();
  const bool grows_, paced_;
  const std::uint64_t most_;
  Duration interval_;
  Time next_;
  double last_seconds_ = 0;
  std::uint64_t samples_ = 0;
  const std::vector<std::uint32_t> ranks_;
  const IndexedGather<Sent> sent_;
  const IndexedGather<LinkSample> links_;
  const IndexedGather<std::uint64_t> levels_;
  const IndexedGather<NodeSample> nodes_;
  std::vector<LinkCounter> link_counters_, injected_, ejected_;
  std::vector<LinkSample> own_links_;
  std::vector<NodeSample> own_nodes_, all_nodes_;
  std::vector<std::uint64_t> own_levels_;
  std::vector<Sent> all_sent_;
  SeriesSample all_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> sample_series(const SamplerSetup& what) {
  const Graph& graph = what.setup.machine.topology->graph;
  SeriesHeader header;
  header.links = graph.link_count();
  header.routers = graph.router_count();
  header.nodes = graph.node_count();
  header.interval_ps = what.options.series.in_ps();
  std::optional<SeriesWriter> file;
  Status made;
  if (what.writes()) {
    auto writer = SeriesWriter::create(what.options.out + "/series.raw", header);
    if (writer) {
      file.emplace(*std::move(writer));
    } else {
      made = Error(writer.error());
    }
  }
  if (Status agreed = agree(what.peers, std::move(made)); !agreed) return std::move(agreed).error();
  return std::unique_ptr<Sampler>(new Series(std::move(file), what, what.options.series));
}

}  // namespace weft
