// SPDX-License-Identifier: Apache-2.0
// What a live page is told, as events of a stream (text/event-stream). One for each browser that
// looks.
#pragma once

#include <optional>
#include <string>

#include "live.hpp"

#include <weft/output/record/series_raw.hpp>

namespace weft::app {

class LiveFeed {
 public:
  explicit LiveFeed(const LiveWish& wish);

  // What has happened since it was last asked; empty: nothing. At first a frame for each sample
  // that there is, later one of all that are new.
  std::string news();
  // When the run is over: its numbers, if it came to write them.
  std::string farewell() const;

 private:
  bool open_series();
  std::string frames();
  std::string frame(const SeriesSample& sample, std::int64_t begin_ps);

  const LiveWish& wish_;
  std::vector<std::uint32_t> kept_;  // Links with a cable.
  NetworkFacts network_;             // Those alone.
  std::optional<SeriesReader> series_;
  std::int64_t seen_ps_ = 0;
  SeriesSample::Head before_;
  std::string last_progress_;
};

}  // namespace weft::app
