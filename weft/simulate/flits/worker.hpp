// SPDX-License-Identifier: Apache-2.0
// A worker of the flit model: simulates its routers and nodes cycle by cycle, and skips the cycles
// in which nothing can happen. Alarms ring between cycles, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <weft/parallel/des/time_queue.hpp>
#include <weft/simulate/flits/cards.hpp>
#include <weft/simulate/flits/news.hpp>
#include <weft/simulate/flits/state.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft::flits {

// On cache lines of its own.
class alignas(128) Worker {
 public:
  static constexpr std::int64_t never = TimeQueue::never;

  Worker(const Setup& setup, Tables& tables, CardTables& cards, Host& host, std::uint64_t seed,
         int number)
      : state_(setup, tables, number),
        host_(host),
        cards_(state_, cards, host, seed),
        first_node_(tables.placement.first_node[static_cast<std::size_t>(number)]) {}

  void set_alarm(std::uint32_t node, std::int64_t at_ps);
  void send(const Outgoing& outgoing, Time now);

  // Simulates everything before `end_ps`, or until a packet has no way. Returns when something
  // happens next: never, if nothing does.
  std::int64_t play(std::int64_t end_ps);
  std::int64_t next_ps() { return std::min(cycle_at_ps(next_cycle()), next_act_ps()); }

  // Several workers: nothing comes from others for a time before `end_ps`.
  void end_window(std::int64_t end_ps);
  void begin_mail(int side) { state_.mail.begin(side); }
  std::int64_t mailed_ps() const { return cycle_at_ps(state_.mail.first_at()); }
  // Takes what the other has written to this side, and empties it.
  void read_mail(Worker& from, int side);

  // News of lines is told from now on; before the first run.
  void tell_news(detail::LineTable& table) {
    news_ = std::make_unique<News>(state_, table);
    state_.news = news_.get();
  }

  const State& state() const { return state_; }
  const Cards& cards() const { return cards_; }
  const Failure& failure() const { return state_.failure; }

 private:
  bool is_stuck(std::int64_t next);
  std::int64_t next_cycle();
  void step(std::int64_t cycle);
  void act_until(std::int64_t now_ps);
  std::int64_t next_act_ps() {
    return posts_.empty() ? alarms_.first_at()
                          : std::min(alarms_.first_at(), posts_.begin()->first);
  }
  std::int64_t cycle_at_ps(std::int64_t cycle) const {
    return cycle == never ? never : cycle * state_.setup.timing.cycle_ps;
  }
  // The first cycle at this moment or later.
  std::int64_t cycle_from(std::int64_t ps) const {
    const std::int64_t cycle_ps = state_.setup.timing.cycle_ps;
    return ps / cycle_ps + (ps % cycle_ps != 0 ? 1 : 0);
  }
  void ring(std::uint32_t node);

  State state_;
  Host& host_;
  Cards cards_;
  std::unique_ptr<News> news_;
  const std::uint32_t first_node_;
  TimeQueue alarms_;                                  // By node, from the first one on.
  std::multimap<std::int64_t, std::uint32_t> posts_;  // Messages that are not sent yet, by time.
  std::int64_t now_ps_ = 0;  // Not only whole cycles: alarms ring between them.
  std::int64_t last_ = -1;   // The last cycle that was simulated.
};

using Workers = std::vector<std::unique_ptr<Worker>>;

}  // namespace weft::flits
