// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/news.hpp"

#include <algorithm>
#include <bit>

#include <weft/simulate/flits/state.hpp>

namespace weft::flits {
namespace {

std::uint64_t bit(int port) {
  return std::uint64_t{1} << port;
}

std::int64_t slowest(const State& state, const detail::LineTable& table) {
  std::int64_t cycles = 1;
  for (std::uint32_t r = 0; r < state.routers.size(); ++r)
    for (int port = 0; port < table.ports(); ++port)
      cycles =
          std::max(cycles, news_cycles(table.port(r, port).delay, state.setup.timing.cycle_ps));
  return cycles;
}

}  // namespace

std::int64_t news_cycles(std::int64_t delay_ps, std::int64_t cycle_ps) {
  return std::max<std::int64_t>(1, (delay_ps + cycle_ps / 2) / cycle_ps);
}

News::News(State& state, detail::LineTable& table)
    : state_(state),
      table_(table),
      first_(state.placement.first_router[static_cast<std::size_t>(state.worker)]),
      ports_(static_cast<std::uint32_t>(table.ports())),
      room_(static_cast<std::int32_t>(state.setup.flits_of(table.room()))),
      routers_(state.placement.first_router[static_cast<std::size_t>(state.worker) + 1] - first_),
      active_(first_, first_ + static_cast<std::uint32_t>(routers_.size())),
      arrivals_(slowest(state, table)) {
  if (!table.tells_first()) return;
  for (std::uint32_t i = 0; i < routers_.size(); ++i) {
    routers_[i].pending = ports_ < 64 ? bit(table.ports()) - 1 : ~std::uint64_t{0};
    active_.add(first_ + i);
  }
}

// The ends of nodes have no lines.
void News::check(std::uint32_t router, std::uint32_t port) {
  if (port >= ports_ || port >= state_.routers[router].ports) return;
  at(router).changed |= bit(static_cast<int>(port));
  active_.add(router);
}

VcMask News::ready(std::uint32_t router, int port) const {
  const std::uint32_t end = state_.routers[router].first_end + static_cast<std::uint32_t>(port);
  VcMask ready = 0;
  for (VcMask left = state_.out_ends[end].free; left != 0; left &= left - 1) {
    const auto vc = static_cast<std::uint32_t>(std::countr_zero(left));
    if (state_.outputs[end * state_.setup.vcs + vc].credits >= room_) ready |= VcMask{1} << vc;
  }
  return ready;
}

LineNews News::line_now(std::uint32_t router, int port, int line) const {
  return table_.combine(router, port, line, ready(router, port));
}

void News::take_arrivals() {
  const std::int64_t now = state_.now;
  for (const NewsArrival& news : arrivals_.due(now)) {
    table_.learn(news.router, news.item);
    at(news.router).pending |= bit(news.item.port);
    active_.add(news.router);
  }
  arrivals_.clear(now);
}

void News::act() {
  active_.each([&](std::uint32_t router) { act(router); });
}

void News::act(std::uint32_t router) {
  RouterNews& own = at(router);
  for (std::uint64_t left = own.changed; left != 0; left &= left - 1)
    update(router, std::countr_zero(left));
  own.changed = 0;
  const NewsMode mode = table_.plane().mode;
  if (mode == NewsMode::none || mode == NewsMode::instant) own.pending = 0;
  for (std::uint64_t left = own.pending; left != 0; left &= left - 1)
    announce(router, std::countr_zero(left));
  if (own.pending == 0) active_.remove(router);
}

void News::update(std::uint32_t router, int port) {
  const VcMask before = table_.port(router, port).ready;
  if (!table_.note(router, port, ready(router, port))) return;
  at(router).pending |= bit(port);
  if (table_.plane().mode != NewsMode::instant) return;
  table_.tell_whole_line(router, port, before, [&](RouterId to, const detail::NewsItem& item) {
    send(to, item, table_.flit_ps());
  });
}

bool News::is_cable_free(std::uint32_t router, const detail::LineTable::Port& own, int cable) {
  const RouterNews& known = at(router);
  if (known.asked_at == state_.now && (known.asked & bit(cable)) != 0) return false;
  const std::uint32_t end = state_.routers[router].first_end + static_cast<std::uint32_t>(cable);
  const std::int64_t free_at_ps = state_.setup.is_buffered() ? state_.buffers.ends[end].free_at_ps
                                                             : state_.out_ends[end].free_at_ps;
  return std::max(own.busy_until, free_at_ps) <= state_.now_ps();
}

// Tells the router behind what has changed, in band or on wires of its own.
void News::announce(std::uint32_t router, int port) {
  detail::LineTable::Port& own = table_.port(router, port);
  const bool inband = table_.plane().mode == NewsMode::inband;
  if (own.audience == no_router) {
    at(router).pending &= ~bit(port);
    return;
  }
  if (inband && !is_cable_free(router, own, table_.lines().behind(port))) return;
  const bool told = table_.tell(router, port, inband, [&](const detail::NewsItem& item) {
    send(own.audience, item, own.delay);
  });
  if (told && inband)
    own.busy_until = state_.now_ps() + own.flit_ps;
  else
    at(router).pending &= ~bit(port);
}

void News::send(RouterId to, detail::NewsItem item, std::int64_t delay_ps) {
  item.at = state_.now + news_cycles(delay_ps, state_.setup.timing.cycle_ps);
  const NewsArrival news{state_.placement.router_number[to.index], item};
  const int reader = state_.placement.worker_of_router(news.router);
  if (reader == state_.worker)
    receive(news);
  else
    state_.mail.send_news(reader, news);
}

}  // namespace weft::flits
