// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <weft/peers/agree.hpp>
#include <weft/record/series_raw.hpp>
#include <weft/stage/sampler.hpp>
#include <weft/stage/together.hpp>

namespace weft {

namespace {

std::vector<std::uint32_t> links_here(const Sampled& what) {
  const Graph& graph = what.scene.topology->graph;
  std::vector<std::uint32_t> here;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    if (what.network.is_here(graph.source_of(LinkId(l)))) here.push_back(l);
  }
  return here;
}

std::vector<std::uint32_t> routers_here(const Sampled& what) {
  std::vector<std::uint32_t> here;
  for (std::uint32_t r = 0; r < what.scene.topology->graph.router_count(); ++r) {
    if (what.network.is_here(RouterId(r))) here.push_back(r);
  }
  return here;
}

class Series final : public Sampler {
 public:
  Series(SampleFile file, const Sampled& what)
      : file_(std::move(file)),
        graph_(what.scene.topology->graph),
        network_(what.network),
        vcs_(what.scene.machine.vcs),
        interval_(what.plan.series),
        next_(Time::zero() + interval_),
        links_(what.peers, links_here(what)),
        levels_(what.peers, routers_here(what)),
        before_(links_.here().size()),
        own_links_(links_.here().size()),
        own_levels_(levels_.here().size()),
        all_links_(what.writes() ? graph_.link_count() : 0),
        all_levels_(what.writes() ? graph_.router_count() : 0) {
    SeriesHeader header;
    header.links = all_links_.size();
    header.routers = all_levels_.size();
    header.interval_ps = interval_.in_ps();
    file_.write(&header, 1);
  }

  Time next() const override { return next_; }

  Status sample(Time now) override {
    for (std::size_t i = 0; i < own_links_.size(); ++i) {
      const LinkCount count = network_.link(LinkId(links_.here()[i]));
      own_links_[i] = {count.bytes - before_[i].bytes, count.packets - before_[i].packets};
      before_[i] = {count.bytes, count.packets};
    }
    for (std::size_t i = 0; i < own_levels_.size(); ++i)
      own_levels_[i] = level(RouterId(levels_.here()[i]), now);
    links_.collect(own_links_, all_links_);
    levels_.collect(own_levels_, all_levels_);
    const std::int64_t at = now.in_ps();
    file_.write(&at, 1);
    file_.write(all_links_.data(), all_links_.size());
    file_.write(all_levels_.data(), all_levels_.size());
    while (next_ <= now) next_ = next_ + interval_;
    return file_.flush();
  }

 private:
  std::uint64_t level(RouterId router, Time now) const {
    const std::size_t ports = graph_.ports(router).size() + graph_.nodes_at(router).size();
    Bytes sum;
    for (int p = 0; p < static_cast<int>(ports); ++p) {
      for (int v = 0; v < vcs_; ++v) sum += network_.buffer(router, p, v, now).bytes;
    }
    return static_cast<std::uint64_t>(sum.count);
  }

  SampleFile file_;
  const Graph& graph_;
  const Network& network_;
  const int vcs_;
  const Duration interval_;
  Time next_;
  const Together<LinkSample> links_;
  const Together<std::uint64_t> levels_;
  std::vector<LinkSample> before_, own_links_;
  std::vector<std::uint64_t> own_levels_;
  std::vector<LinkSample> all_links_;
  std::vector<std::uint64_t> all_levels_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> sample_series(const Sampled& what) {
  auto file = SampleFile::create(what.plan.out + "/series.raw", what.writes());
  if (Status made = agree(what.peers, file ? Status() : Error(file.error())); !made)
    return std::move(made).error();
  return std::unique_ptr<Sampler>(new Series(*std::move(file), what));
}

}  // namespace weft
