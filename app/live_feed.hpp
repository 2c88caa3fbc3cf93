// SPDX-License-Identifier: Apache-2.0
// The events of a live page (text/event-stream), one feed for each browser.
#pragma once

#include <optional>
#include <string>

#include "live.hpp"

#include <weft/output/record/series_raw.hpp>

namespace weft::app {

class LiveFeed {
 public:
  explicit LiveFeed(const LiveSettings& settings);

  // The events since the last call; may be empty. The first call gives a frame for each sample,
  // later calls one frame that joins all new samples.
  std::string new_events();
  // The results of a run that is over; empty if it wrote none.
  std::string final_event() const;

 private:
  bool open_series();
  std::string frames();
  std::string frame(const SeriesSample& sample, std::int64_t begin_ps);

  const LiveSettings& settings_;
  std::vector<std::uint32_t> kept_;  // The links that have a cable.
  NetworkFacts network_;             // With these links only.
  std::optional<SeriesReader> series_;
  std::int64_t seen_ps_ = 0;
  SeriesSample::Head before_;
  std::string last_progress_;
};

}  // namespace weft::app
