// SPDX-License-Identifier: Apache-2.0
// Loads the utilisation of links and buffers over time, in as many frames as a page can hold.
#include <algorithm>

#include <fmt/format.h>

#include <weft/output/record/series_file.hpp>
#include <weft/output/report/heat.hpp>
#include <weft/output/report/load_parts.hpp>

namespace weft::report {

namespace {

// Accumulates samples into frames.
class FrameBuilder {
 public:
  FrameBuilder(const SeriesFile& series, const NetworkFacts& network,
               const std::vector<std::uint32_t>& kept, std::size_t samples_per_frame)
      : series_(series),
        network_(network),
        kept_(kept),
        per_frame_(samples_per_frame),
        bytes_(kept.size(), 0),
        levels_(network.routers, 0),
        injection_{{}, {"mean injection", {}, true}, {"fullest injection", {}, true}},
        ejection_{{}, {"mean ejection", {}, true}, {"fullest ejection", {}, true}} {
    if (has_node_links()) {
      heat.node_links.emplace();
      injection_.bytes.assign(network.node_router.size(), 0);
      ejection_.bytes.assign(network.node_router.size(), 0);
    }
    mean_.label = "mean of links";
    fullest_.label = "fullest link";
    carried_.label = "carried by links";
    sent_.label = "sent by ranks";
    messages_.label = "messages";
  }

  void add(std::size_t index, const SeriesRow& row) {
    for (std::size_t l = 0; l < kept_.size(); ++l)
      bytes_[l] += static_cast<double>(row.links[kept_[l]]);
    for (std::size_t r = 0; r < levels_.size(); ++r)
      levels_[r] = std::max(levels_[r], row.buffers[r]);
    if (has_node_links()) {
      injection_.add(row.injected);
      ejection_.add(row.ejected);
    }
    if ((index + 1) % per_frame_ == 0 || index + 1 == series_.end_ps.size()) close(index);
  }

  Heat heat;
  std::vector<ChartView> charts() const;

 private:
  // The links of all nodes in one direction.
  struct NodeLinks {
    std::vector<double> bytes;  // In this frame.
    Series mean, fullest;

    void add(const std::vector<std::uint64_t>& more) {
      for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] += static_cast<double>(more[n]);
    }
    void close(double begin, double seconds, const std::vector<double>& rates);
  };

  void close(std::size_t index);
  bool has_node_links() const {
    return !network_.injection_byte_per_s.empty() && !network_.ejection_byte_per_s.empty();
  }

  const SeriesFile& series_;
  const NetworkFacts& network_;
  const std::vector<std::uint32_t>& kept_;
  const std::size_t per_frame_;
  std::vector<double> bytes_;
  std::vector<std::uint64_t> levels_;
  NodeLinks injection_, ejection_;
  std::int64_t begin_ps_ = 0;
  std::uint64_t messages_before_ = 0, bytes_before_ = 0;
  Series mean_{"", {}, true}, fullest_{"", {}, true}, carried_{"", {}, true}, sent_{"", {}, true},
      messages_{"", {}, true};
};

// Bytes are whole, so a full link can have a fraction of one too many.
double share_of(double bytes, double seconds, double rate) {
  return rate > 0 ? std::min(bytes / seconds / rate, 1.0) : 0;
}

void FrameBuilder::NodeLinks::close(double begin, double seconds,
                                    const std::vector<double>& rates) {
  double sum = 0, most = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const double share = share_of(bytes[n], seconds, rates[n]);
    sum += share;
    most = std::max(most, share);
  }
  mean.points.push_back({begin, bytes.empty() ? 0 : sum / static_cast<double>(bytes.size())});
  fullest.points.push_back({begin, most});
  std::fill(bytes.begin(), bytes.end(), 0);
}

void FrameBuilder::close(std::size_t index) {
  const std::int64_t end_ps = series_.end_ps[index];
  const double seconds = std::max(static_cast<double>(end_ps - begin_ps_) / 1e12, 1e-15);
  const auto begin = static_cast<double>(begin_ps_);
  double sum = 0, most = 0, capacity = 0;
  for (std::size_t l = 0; l < bytes_.size(); ++l) {
    const double rate = network_.link_byte_per_s[l];
    sum += bytes_[l];
    capacity += rate;
    most = std::max(most, share_of(bytes_[l], seconds, rate));
  }
  const auto append = [](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(heat.links, heat_of_links(network_, bytes_, seconds));
  append(heat.buffers, heat_of_buffers(network_, levels_));
  if (has_node_links()) {
    append(*heat.node_links,
           heat_of_node_links(network_, injection_.bytes, ejection_.bytes, seconds));
    injection_.close(begin, seconds, network_.injection_byte_per_s);
    ejection_.close(begin, seconds, network_.ejection_byte_per_s);
  }
  heat.end_ps.push_back(end_ps);
  mean_.points.push_back({begin, capacity > 0 ? sum / seconds / capacity : 0});
  fullest_.points.push_back({begin, most});
  carried_.points.push_back({begin, sum / seconds});
  const auto rate = [&](std::uint64_t now, std::uint64_t before) {
    return static_cast<double>(now - std::min(now, before)) / seconds;
  };
  sent_.points.push_back({begin, rate(series_.bytes_sent[index], bytes_before_)});
  messages_.points.push_back({begin, rate(series_.messages[index], messages_before_)});
  begin_ps_ = end_ps;
  bytes_before_ = series_.bytes_sent[index];
  messages_before_ = series_.messages[index];
  std::fill(bytes_.begin(), bytes_.end(), 0);
  std::fill(levels_.begin(), levels_.end(), 0);
}

std::vector<ChartView> FrameBuilder::charts() const {
  const auto make = [&](const char* id, const char* title, const char* y, const Unit& unit,
                        std::vector<Series> series) {
    ChartView view{id, {}, "ps", unit};
    view.chart.title = title;
    view.chart.x = {"time", false, 0, std::nullopt};
    view.chart.y = {y, false, 0, std::nullopt};
    for (Series& s : series)
      s.points.push_back(
          {static_cast<double>(begin_ps_), s.points.empty() ? 0 : s.points.back().y});
    view.chart.series = std::move(series);
    return view;
  };
  std::vector<ChartView> all = {
      make("link-use", "Links over time", "share of the link rate", "share", {mean_, fullest_}),
      make("byte-rate", "Bytes over time", "rate", "B/s", {sent_, carried_}),
      make("message-rate", "Messages over time", "messages per second", "1", {messages_})};
  if (has_node_links()) {
    all.push_back(make("node-link-use", "Node links over time", "share of the link rate", "share",
                       {injection_.mean, injection_.fullest, ejection_.mean, ejection_.fullest}));
  }
  return all;
}

}  // namespace

Status load_series(const std::string& folder, const Limits& limits, RunView& view) {
  const auto series = read_series(folder);
  if (!series) return Error(series.error());
  std::vector<std::uint32_t> kept;
  NetworkFacts network = without_gaps(series->network, kept);
  const std::size_t frame =
      std::max<std::size_t>(kept.size() + std::size_t{2} * network.routers, 1);
  const std::size_t most = std::clamp<std::size_t>(limits.heat_bytes / frame, 8, 400);
  const std::size_t samples = series->end_ps.size();
  FrameBuilder frames(*series, network, kept,
                      std::max<std::size_t>((samples + most - 1) / most, 1));
  if (Status read =
          read_samples(folder, [&](std::size_t i, const SeriesRow& row) { frames.add(i, row); });
      !read) {
    return read;
  }
  if (frames.heat.frames() < samples)
    view.remarks.push_back(
        fmt::format("{} intervals are shown as {} frames.", samples, frames.heat.frames()));
  for (ChartView& chart : frames.charts()) view.charts.push_back(std::move(chart));
  view.heat = std::move(frames.heat);
  view.network = std::move(network);
  return {};
}

}  // namespace weft::report
