// SPDX-License-Identifier: Apache-2.0
// What routers know of the lines ahead of them (route/lines.hpp), and how they tell each other.
//
// A router notes which VCs of its own outputs are ready. What it knows of a line is that, followed
// by what the router ahead has announced last. Whenever this differs from what it has announced
// itself, it owes the router behind an update. In band an update is a packet of one flit. It goes
// when its cable carries no data and no data wants it at that moment: data never waits for it, and
// only the newest state is sent, however long it had to wait.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <weft/network/route/lines.hpp>
#include <weft/simulate/router/hardware.hpp>
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
  LineNews line(RouterIndex r, int port, int line) const;
  LineNews line_now(RouterIndex r, int port, int line, std::int64_t now);

  // Flits of news that the cable at this port has carried, in band.
  std::uint64_t flits_on(RouterIndex r, int cable) const;
  // The least time that news takes from one router to another; never_at for no news.
  std::int64_t least_delay_ps() const;
  std::size_t bytes() const;

 private:
  static constexpr std::uint8_t no_next = 0xff;

  // What is known and was announced of one line of one port.
  struct LineState {
    std::uint64_t ahead = 0, sent = 0;  // The last word of the router ahead, and our own.
    VcMask vcs = 0;
    std::uint32_t behind = 0;  // Our lines that this one of the router ahead continues.
    std::uint8_t ahead_length = 0, sent_length = 0;
    std::uint8_t length = 0;
    std::uint8_t next = no_next;  // The line of the router ahead that continues it.
    std::uint8_t least = 1;

    bool free(VcMask ready) const {
      // Counting is slow where the processor's own way may not be used.
      return least == 1 ? (ready & vcs) != 0 : std::popcount(ready & vcs) >= least;
    }
  };
  struct PortState {
    std::int64_t busy_until = 0;    // The cable behind carries news, in band.
    std::uint64_t flits = 0;        // Flits of news that the cable has carried.
    RouterId audience = no_router;  // The router behind.
    std::uint32_t delay = 0;        // To it, ps.
    std::uint32_t flit_ps = 0;      // Time of a flit on the cable to it.
    VcMask ready = 0;               // As noted last.
    // Lines of which there may be something to tell. Of the others all has been told.
    std::uint32_t untold = ~std::uint32_t{0};
    std::uint8_t turn = 0;  // The flit to look at first.
  };
  // Bits of a line that go in one flit.
  struct Part {
    int line, from, count;
  };
  using Flit = std::vector<Part>;

  static std::vector<Flit> pack_lines(const Lines& lines, int port, const NewsPlane& plane);
  std::size_t place(RouterIndex r, int port) const {
    return std::size_t{r.value} * static_cast<std::size_t>(port_count_) +
           static_cast<std::size_t>(port);
  }
  PortState& port_state(RouterIndex r, int port) { return ports_[place(r, port)]; }
  const PortState& port_state(RouterIndex r, int port) const { return ports_[place(r, port)]; }
  LineState* lines_of(RouterIndex r, int port) {
    return &line_states_[place(r, port) * static_cast<std::size_t>(line_count_)];
  }
  const LineState* lines_of(RouterIndex r, int port) const {
    return const_cast<News*>(this)->lines_of(r, port);
  }
  OutputIndex output_at(RouterIndex r, int port) const {
    return state_.output_at(r, LocalOutput(static_cast<std::uint32_t>(port)));
  }

  void make_port(RouterIndex r, int port);
  void find_audience(PortState& own, const Port& back) const;
  void make_lines(RouterIndex r, int port);
  LineNews all_free(RouterId router, int port, int line, int most = Line::length_max) const;
  LineNews combine(RouterIndex r, int port, int line, VcMask ready) const;
  bool is_ready(OutputIndex output, Vc vc, std::int64_t now);
  void apply_received(RouterIndex r, std::int64_t now);
  std::int64_t update_ready(int worker, RouterIndex r, int port, std::int64_t now);
  std::int64_t announce(int worker, RouterIndex r, int port, std::int64_t now);
  bool announce_flit(int worker, RouterIndex r, int port, const Flit& flit, std::int64_t now);
  void tell_whole_line(int worker, RouterIndex r, int port, VcMask before, std::int64_t now);
  void tell_upstream(int worker, RouterIndex r, int line, NewsItem item);

  State& state_;
  const Lines& lines_;
  const NewsPlane plane_;
  const int port_count_, line_count_;
  const std::int64_t size_;                              // Room that makes a VC ready.
  const std::int64_t flit_ps_;                           // A flit on the usual cable.
  std::vector<std::vector<Flit>> flits_;                 // By port: what goes together.
  std::vector<LineState> line_states_;                   // By router, port and line.
  std::vector<PortState> ports_;                         // By router and port.
  Table<std::uint64_t, RouterIndex> changed_, pending_;  // Masks of ports: check VCs; announce.
  Table<std::vector<NewsItem>, RouterIndex> inbox_;
  Table<std::int64_t, RouterIndex> inbox_at_;  // The earliest item.
};

}  // namespace weft::detail
