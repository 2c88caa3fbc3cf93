// SPDX-License-Identifier: Apache-2.0
// When routers of the flit model tell each other of the lines ahead (router/line_table.hpp). A VC
// is ready if it is allotted to nobody and there are credits for a packet, or for a flit; with
// buffers at outputs, of those.
//
// All that happens in a cycle is seen at its end. In band a flit of news then goes if its cable
// was given to no flit of data and none asked for it, so data never waits. News on its
// way does not hold data up either.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/simulate/flits/arrivals.hpp>
#include <weft/simulate/flits/number_set.hpp>
#include <weft/simulate/flits/packet.hpp>
#include <weft/simulate/router/line_table.hpp>

namespace weft::flits {

struct State;

// Of one worker's routers.
class News {
 public:
  // The table is of all workers.
  News(State& state, detail::LineTable& table);

  // VCs of this output end of a router may no longer be as they were.
  void check(std::uint32_t router, std::uint32_t port);
  // In this cycle flits ask for the links of these output ends.
  void note_asked(std::uint32_t router, std::uint64_t ends, std::int64_t cycle) {
    RouterNews& own = at(router);
    own.asked = own.asked_at == cycle ? own.asked | ends : ends;
    own.asked_at = cycle;
  }
  // An item arrives in this cycle.
  void receive(const NewsArrival& news) { arrivals_.push(news.item.at, news); }
  // What arrives in this cycle is known from now on.
  void take_arrivals();
  // All routers have done their work: they note what has changed, and tell it.
  void act();

  bool busy() const { return !active_.empty(); }
  bool arrives(std::int64_t cycle) { return !arrivals_.due(cycle).empty(); }
  std::int64_t next_arrival(std::int64_t cycle) { return arrivals_.next(cycle); }
  // As the router sees its own output now, and has heard of the others.
  LineNews line_now(std::uint32_t router, int port, int line) const;

 private:
  struct RouterNews {
    std::uint64_t changed = 0,
                  pending = 0;  // Ports: to be looked at, with something to tell.
    std::uint64_t asked = 0;    // Output ends that flits asked for.
    std::int64_t asked_at = -1;
  };
  RouterNews& at(std::uint32_t router) { return routers_[router - first_]; }
  VcMask ready(std::uint32_t router, int port) const;
  void act(std::uint32_t router);
  void update(std::uint32_t router, int port);
  bool is_cable_free(std::uint32_t router, const detail::LineTable::Port& own, int cable);
  void announce(std::uint32_t router, int port);
  void send(RouterId to, detail::NewsItem item, std::int64_t delay_ps);

  State& state_;
  detail::LineTable& table_;
  const std::uint32_t first_, ports_;
  const std::int32_t room_;  // Credits that make a VC ready.
  std::vector<RouterNews> routers_;
  NumberSet active_;
  Arrivals<NewsArrival> arrivals_;
};

// How long news takes with this delay.
std::int64_t news_cycles(std::int64_t delay_ps, std::int64_t cycle_ps);

}  // namespace weft::flits
