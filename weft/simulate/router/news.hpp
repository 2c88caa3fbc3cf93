// SPDX-License-Identifier: Apache-2.0
// What routers know of the lines ahead of them (line_table.hpp), and when they tell each other.
//
// A router notes which VCs of its own outputs are ready, and tells the router behind what has
// changed. In band an update is a packet of one flit. It goes when its cable carries no data and no
// data wants it at that moment: data never waits for it, and only the newest state is sent, however
// long it had to wait.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/simulate/router/line_table.hpp>
#include <weft/simulate/router/news_item.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

class News {
 public:
  // REQUIRES: the policy has lines, and the state is laid out.
  explicit News(State& state);

  // Schedules the first announcements, where nothing is known at the start.
  void start();
  // The VCs of an output may have changed, or will at `at`.
  void check_port(RouterIndex r, LocalOutput output, std::int64_t at);
  // An item arrives at router r, now or later.
  void receive(int worker, RouterIndex r, const NewsItem& item);
  // All outputs of r have acted: notes the state of their VCs and tells the routers that need it.
  void act(int worker, RouterIndex r, std::int64_t now);

  // What r knows of a line: as it noted last, or exactly as it is now (for a head that chooses).
  LineNews line(RouterIndex r, int port, int line) const {
    return table_.line(r.value, port, line);
  }
  LineNews line_now(RouterIndex r, int port, int line, std::int64_t now);

  // Flits of news that the cable at this port has carried, in band.
  std::uint64_t flits_on(RouterIndex r, int cable) const { return table_.flits_on(r.value, cable); }
  // The least time that news takes from one router to another; never_at for no news.
  std::int64_t least_delay_ps() const { return table_.least_delay_ps(); }
  std::size_t bytes() const { return table_.bytes(); }

 private:
  OutputIndex output_at(RouterIndex r, int port) const {
    return state_.output_at(r, LocalOutput(static_cast<std::uint32_t>(port)));
  }
  bool is_ready(OutputIndex output, Vc vc, std::int64_t now);
  void apply_received(RouterIndex r, std::int64_t now);
  std::int64_t update_ready(int worker, RouterIndex r, int port, std::int64_t now);
  std::int64_t announce(int worker, RouterIndex r, int port, std::int64_t now);

  State& state_;
  LineTable table_;
  const NewsMode mode_;
  const int port_count_;
  const std::int64_t size_;  // Room that makes a VC ready.
  Table<std::uint64_t, RouterIndex> changed_,
      pending_;  // Masks of ports: check VCs; announce.
  Table<std::vector<NewsItem>, RouterIndex> inbox_;
  Table<std::int64_t, RouterIndex> inbox_at_;  // The earliest item.
};

}  // namespace weft::detail
