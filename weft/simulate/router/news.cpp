// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/news.hpp"

#include <algorithm>
#include <bit>

#include <weft/simulate/router/credits.hpp>
#include <weft/simulate/router/exchange.hpp>

namespace weft::detail {

namespace {

std::uint64_t bit(int port) {
  return std::uint64_t{1} << port;
}

}  // namespace

News::News(State& state)
    : state_(state),
      table_(state.setup.graph, *state.setup.policy.lines(), state.setup.machine,
             {state.placement.ids.begin(), state.placement.ids.end()}),
      mode_(state.setup.machine.news.mode),
      port_count_(table_.ports()),
      size_(table_.room()) {
  const std::size_t count = state.placement.ids.size();
  changed_.assign(count, 0);
  pending_.assign(count, 0);
  inbox_.resize(count);
  inbox_at_.assign(count, never_at);
}

void News::start() {
  if (!table_.tells_first()) return;
  for (RouterIndex r; r.value < state_.placement.ids.size(); ++r) {
    pending_[r] = low_bits(static_cast<std::uint32_t>(port_count_));
    state_.bring_forward(r, state_.routers[r].news_actor(), 0);
    state_.wake(state_.placement.worker_of(r), r, 0);
  }
}

LineNews News::line_now(RouterIndex r, int port, int line, std::int64_t now) {
  if (inbox_at_[r] <= now) apply_received(r, now);
  VcMask ready = 0;
  for (VcMask left = table_.vcs(r.value, port, line); left != 0; left &= left - 1) {
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(left)));
    if (is_ready(output_at(r, port), vc, now)) ready |= VcMask{1} << vc.value;
  }
  return table_.combine(r.value, port, line, ready);
}

bool News::is_ready(OutputIndex output, Vc vc, std::int64_t now) {
  if (state_.vc_free(output, vc) > now) return false;
  Account& account = state_.accounts[state_.channel(output, vc)];
  const Output& out = state_.outputs[output];
  if (has_room(account, out, size_)) return true;
  reclaim(state_, account, state_.inputs[out.target + vc], now);
  return has_room(account, out, size_);
}

void News::check_port(RouterIndex r, LocalOutput output, std::int64_t at) {
  const Router& router = state_.routers[r];
  if (output.value >= router.ports || output.value >= static_cast<std::uint32_t>(port_count_))
    return;
  changed_[r] |= std::uint64_t{1} << output.value;
  state_.bring_forward(r, router.news_actor(), at);
}

void News::receive(int worker, RouterIndex r, const NewsItem& item) {
  inbox_[r].push_back(item);
  inbox_at_[r] = std::min(inbox_at_[r], item.at);
  state_.bring_forward(r, state_.routers[r].news_actor(), item.at);
  state_.wake(worker, r, item.at);
}

void News::apply_received(RouterIndex r, std::int64_t now) {
  std::vector<NewsItem>& inbox = inbox_[r];
  std::int64_t later = never_at;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < inbox.size(); ++i) {
    const NewsItem& item = inbox[i];
    if (item.at > now) {
      later = std::min(later, item.at);
      if (kept != i) inbox[kept] = item;
      ++kept;
      continue;
    }
    table_.learn(r.value, item);
    pending_[r] |= bit(item.port);
  }
  inbox.resize(kept);
  inbox_at_[r] = later;
}

void News::act(int worker, RouterIndex r, std::int64_t now) {
  if (inbox_at_[r] <= now) apply_received(r, now);
  std::int64_t next = inbox_at_[r];
  for (std::uint64_t left = changed_[r]; left != 0; left &= left - 1)
    next = std::min(next, update_ready(worker, r, std::countr_zero(left), now));
  if (mode_ == NewsMode::none || mode_ == NewsMode::instant) pending_[r] = 0;
  for (std::uint64_t left = pending_[r]; left != 0; left &= left - 1)
    next = std::min(next, announce(worker, r, std::countr_zero(left), now));
  state_.next_of(r, state_.routers[r].news_actor()) = next;
}

// Notes which VCs of the port are ready. Returns when that may change by time alone; credits call
// check_port().
std::int64_t News::update_ready(int worker, RouterIndex r, int port, std::int64_t now) {
  VcMask ready = 0;
  std::int64_t again = never_at;
  const OutputIndex output = output_at(r, port);
  const ChannelIndex first = state_.channel(output, Vc(0));
  const Output& out = state_.outputs[output];
  const Account* const accounts = &state_.accounts[first];
  const std::int64_t* const free_at = state_.setup.holds_vcs ? &state_.vc_free_at[first] : nullptr;
  for (Vc vc{0}; vc.value < state_.setup.vcs; ++vc) {
    std::int64_t at = free_at != nullptr ? free_at[vc.value] : 0;
    if (at <= now && !has_room(accounts[vc.value], out, size_))
      at = count_room(state_, output, vc, size_, now);
    if (at <= now) {
      ready |= VcMask{1} << vc.value;
    } else {
      again = std::min(again, at);
    }
  }
  if (again == never_at) changed_[r] &= ~bit(port);
  const VcMask before = table_.port(r.value, port).ready;
  if (!table_.note(r.value, port, ready)) return again;
  pending_[r] |= bit(port);
  if (mode_ != NewsMode::instant) return again;
  table_.tell_whole_line(r.value, port, before, [&](RouterId to, NewsItem item) {
    item.at = now + table_.flit_ps();
    send_news(state_, worker, to, item);
  });
  return again;
}

// Tells the router behind what has changed, in band or on wires of its own. Returns when there may
// be more to say.
std::int64_t News::announce(int worker, RouterIndex r, int port, std::int64_t now) {
  LineTable::Port& own = table_.port(r.value, port);
  if (own.audience == no_router) {
    pending_[r] &= ~bit(port);
    return never_at;
  }
  const bool inband = mode_ == NewsMode::inband;
  if (inband) {
    const int ends = static_cast<int>(state_.routers[r].ends());
    const int cable = table_.lines().behind(port) + (state_.setup.buffered ? ends : 0);
    const std::int64_t free_at =
        std::max(own.busy_until, state_.outputs[output_at(r, cable)].free_at);
    if (free_at > now) return free_at;
  }
  const bool told = table_.tell(r.value, port, inband, [&](NewsItem item) {
    item.at = now + own.delay;
    send_news(state_, worker, own.audience, item);
  });
  if (told && inband) {
    own.busy_until = now + own.flit_ps;
    return own.busy_until;
  }
  pending_[r] &= ~bit(port);
  return never_at;
}

}  // namespace weft::detail
