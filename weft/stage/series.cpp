// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <weft/record/series_raw.hpp>
#include <weft/stage/sampler.hpp>

namespace weft {

namespace {

class Series final : public Sampler {
 public:
  Series(SampleFile file, const Scene& scene, Duration interval)
      : file_(std::move(file)),
        graph_(scene.topology->graph),
        vcs_(scene.machine.vcs),
        interval_(interval),
        next_(Time::zero() + interval),
        before_(graph_.link_count()),
        links_(graph_.link_count()),
        levels_(graph_.router_count()) {
    SeriesHeader header;
    header.links = links_.size();
    header.routers = levels_.size();
    header.interval_ps = interval.in_ps();
    file_.write(&header, 1);
  }

  Time next() const override { return next_; }

  Status sample(const Network& network, Time now) override {
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      const LinkCount count = network.link(LinkId(l));
      links_[l] = {count.bytes - before_[l].bytes, count.packets - before_[l].packets};
      before_[l] = {count.bytes, count.packets};
    }
    for (std::uint32_t r = 0; r < levels_.size(); ++r)
      levels_[r] = level(network, RouterId(r), now);
    const std::int64_t at = now.in_ps();
    file_.write(&at, 1);
    file_.write(links_.data(), links_.size());
    file_.write(levels_.data(), levels_.size());
    while (next_ <= now) next_ = next_ + interval_;
    return file_.flush();
  }

 private:
  std::uint64_t level(const Network& network, RouterId router, Time now) const {
    const std::size_t ports = graph_.ports(router).size() + graph_.nodes_at(router).size();
    Bytes sum;
    for (int p = 0; p < static_cast<int>(ports); ++p) {
      for (int v = 0; v < vcs_; ++v) sum += network.buffer(router, p, v, now).bytes;
    }
    return static_cast<std::uint64_t>(sum.count);
  }

  SampleFile file_;
  const Graph& graph_;
  const int vcs_;
  const Duration interval_;
  Time next_;
  std::vector<LinkSample> before_, links_;
  std::vector<std::uint64_t> levels_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> sample_series(const Plan& plan, const Scene& scene) {
  auto file = SampleFile::create(plan.out + "/series.raw");
  if (!file) return std::move(file).error();
  return std::unique_ptr<Sampler>(new Series(*std::move(file), scene, plan.series));
}

}  // namespace weft
