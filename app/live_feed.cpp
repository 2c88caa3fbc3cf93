// SPDX-License-Identifier: Apache-2.0
#include "live_feed.hpp"

#include <algorithm>

#include <weft/base/file.hpp>
#include <weft/output/report/blocks.hpp>
#include <weft/output/report/heat.hpp>
#include <weft/output/report/load.hpp>
#include <weft/output/report/page.hpp>

namespace weft::app {

namespace {

std::string event_text(const std::string& name, const std::string& data) {
  std::string text = "event: " + name + "\ndata: ";
  for (const char c : data) text += c == '\n' ? ' ' : c;
  return text + "\n\n";
}

std::string packed(const std::vector<std::uint8_t>& bytes) {
  return report::to_base64(
      report::deflate({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

// The progress in the keys of the page, without values that are unknown.
std::string progress_json(const std::string& line) {
  report::Json json = report::Json::parse(line, nullptr, false);
  if (!json.is_object()) return "{}";
  report::Json out = report::Json::object();
  for (const auto& [key, value] : json.items()) {
    if (!value.is_null()) out[key == "what" ? "text" : key] = value;
  }
  return out.dump(-1, ' ', false, report::Json::error_handler_t::replace);
}

}  // namespace

LiveFeed::LiveFeed(const LiveSettings& settings)
    : settings_(settings), network_(report::without_gaps(settings.network, kept_)) {}

bool LiveFeed::open_series() {
  if (series_) return true;
  auto opened = SeriesReader::open(settings_.folder + "/series.raw");
  if (!opened || opened->header().links != settings_.network.links()) return false;
  series_.emplace(*std::move(opened));
  return true;
}

std::string LiveFeed::frames() {
  std::string out;
  if (!open_series()) return out;
  const bool first = seen_ps_ == 0;
  SeriesSample all;
  std::int64_t begin_ps = -1;
  for (SeriesSample sample; series_->next_after(seen_ps_, sample);) {
    seen_ps_ = sample.head.end_ps;
    if (first) {
      out += frame(sample, series_->begin_ps());
    } else if (begin_ps < 0) {
      begin_ps = series_->begin_ps();
      all = std::move(sample);
    } else {
      all.join(sample);
    }
  }
  return begin_ps < 0 ? out : frame(all, begin_ps);
}

std::string LiveFeed::frame(const SeriesSample& sample, std::int64_t begin_ps) {
  const auto seconds_since = [&](std::int64_t ps) {
    return std::max(static_cast<double>(sample.head.end_ps - ps) / 1e12, 1e-15);
  };
  const double seconds = seconds_since(begin_ps), new_seconds = seconds_since(before_.end_ps);
  std::vector<double> carried(kept_.size());
  for (std::size_t l = 0; l < kept_.size(); ++l)
    carried[l] = static_cast<double>(sample.links[kept_[l]].bytes);
  const auto bytes_of = [](const std::vector<LinkSample>& samples) {
    std::vector<double> list;
    for (const LinkSample& one : samples) list.push_back(static_cast<double>(one.bytes));
    return list;
  };
  const auto messages = static_cast<double>(sample.head.messages - before_.messages);
  const auto bytes = static_cast<double>(sample.head.bytes - before_.bytes);
  const report::Json json = {
      {"end_ps", sample.head.end_ps},
      {"links", packed(report::heat_of_links(network_, carried, seconds))},
      {"buffers", packed(report::heat_of_buffers(network_, sample.buffers))},
      {"node-links", packed(report::heat_of_node_links(network_, bytes_of(sample.injected),
                                                       bytes_of(sample.ejected), seconds))},
      {"messages_per_s", messages / new_seconds},
      {"byte_per_s", bytes / new_seconds}};
  before_ = sample.head;
  return event_text("frame", json.dump());
}

std::string LiveFeed::new_events() {
  std::string out = frames();
  if (auto progress = read_file(settings_.progress_file); progress && *progress != last_progress_) {
    last_progress_ = *progress;
    out += event_text("progress", progress_json(last_progress_));
  }
  return out;
}

std::string LiveFeed::final_event() const {
  auto view = report::load(settings_.folder, {});
  if (!view) return "";
  view->name = settings_.title;
  view->remarks.clear();  // They name missing records, which a live page does not need.
  return event_text("record", report::Json{{"run", report::run_json_small(*view)}}.dump(
                                  -1, ' ', false, report::Json::error_handler_t::replace));
}

}  // namespace weft::app
