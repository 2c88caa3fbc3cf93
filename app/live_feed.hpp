// SPDX-License-Identifier: Apache-2.0
// What a live page is told, as events of a stream (text/event-stream). One for each browser that
// looks.
#pragma once

#include <optional>
#include <string>

#include "live.hpp"

#include <weft/record/series_raw.hpp>

namespace weft::app {

class LiveFeed {
 public:
  explicit LiveFeed(const LiveWish& wish);

  // What has happened since it was last asked; empty: nothing. All new samples become one frame.
  std::string news();
  // When the run is over: its numbers, if it came to write them.
  std::string farewell() const;

 private:
  bool take_samples(SeriesSample& all);
  std::string frame(const SeriesSample& sample);

  const LiveWish& wish_;
  std::vector<std::uint32_t> kept_;  // Links with a cable.
  NetworkFacts network_;             // Those alone.
  std::optional<SeriesReader> series_;
  std::int64_t seen_ps_ = 0;
  SeriesSample::Head before_;
  std::string last_progress_;
};

// One event of a stream.
std::string event_text(const std::string& name, const std::string& data);

}  // namespace weft::app
