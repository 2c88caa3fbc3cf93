// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/news.hpp"

#include <algorithm>

#include <weft/simulate/router/credits.hpp>
#include <weft/simulate/router/exchange.hpp>

namespace weft::detail {

namespace {

constexpr std::uint64_t one_vc = 256;  // In words of LineKind::average.

std::uint64_t bits(int count) {
  return low_bits(static_cast<std::uint32_t>(count));
}
std::uint64_t bit(int port) {
  return std::uint64_t{1} << port;
}

}  // namespace

// Lines in their order, as many to a flit as its bits carry; one that is longer than a flit is cut.
std::vector<News::Flit> News::pack_lines(const Lines& lines, int port, const NewsPlane& plane) {
  std::vector<Flit> flits;
  int left = 0;
  for (int line = 0; line < lines.count(); ++line) {
    const int width = lines.width(port, line);
    for (int from = 0; from < width; from += plane.bits) {
      const int count = std::min(width - from, plane.bits);
      if (flits.empty() || plane.one_line || count > left) {
        flits.emplace_back();
        left = plane.bits;
      }
      flits.back().push_back({line, from, count});
      left -= count;
    }
  }
  return flits;
}

News::News(State& state)
    : state_(state),
      lines_(*state.setup.policy.lines()),
      plane_(state.setup.machine.news),
      port_count_(lines_.ports()),
      line_count_(lines_.count()),
      size_(plane_.any_credit
                ? std::min(state.setup.machine.flit, state.setup.machine.packet_max()).count
                : state.setup.machine.packet_max().count),
      flit_ps_(serialise(state.setup.machine.flit, state.setup.machine.link.rate).in_ps()) {
  WEFT_CHECK(port_count_ <= 64 && line_count_ <= 32);
  for (int p = 0; p < port_count_; ++p) flits_.push_back(pack_lines(lines_, p, plane_));
  const std::size_t count = state.placement.ids.size();
  const std::size_t ports = count * static_cast<std::size_t>(port_count_);
  line_states_.resize(ports * static_cast<std::size_t>(line_count_));
  ports_.resize(ports);
  changed_.assign(count, 0);
  pending_.assign(count, 0);
  inbox_.resize(count);
  inbox_at_.assign(count, never_at);
  for (RouterIndex r; r.value < count; ++r) {
    for (int p = 0; p < port_count_; ++p) make_port(r, p);
  }
}

void News::make_port(RouterIndex r, int port) {
  const auto ports = state_.setup.graph.ports(state_.placement.ids[r]);
  const auto usable = [&](int p) {
    return static_cast<std::size_t>(p) < ports.size() &&
           ports[static_cast<std::size_t>(p)].usable();
  };
  PortState& own = port_state(r, port);
  own.ready = usable(port) ? state_.setup.all_vcs : 0;
  const int behind = lines_.behind(port);
  if (usable(behind)) find_audience(own, ports[static_cast<std::size_t>(behind)]);
  if (usable(port)) make_lines(r, port);
}

void News::find_audience(PortState& own, const Port& back) const {
  const NetworkHardware& machine = state_.setup.machine;
  const Cabling& cable = machine.cabling(state_.setup.graph.link_classes()[back.link_class]);
  own.audience = back.peer;
  const Duration hop =
      plane_.hop > Duration::zero() ? plane_.hop : machine.switch_delay + cable.delay;
  own.flit_ps = static_cast<std::uint32_t>(serialise(machine.flit, cable.rate).in_ps());
  own.delay = static_cast<std::uint32_t>(plane_.mode == NewsMode::instant ? flit_ps_ : hop.in_ps());
}

void News::make_lines(RouterIndex r, int port) {
  const RouterId here = state_.placement.ids[r];
  LineState* const known = lines_of(r, port);
  for (int l = 0; l < line_count_; ++l) {
    const Line line = lines_.line(here, port, l);
    known[l].vcs = line.vcs & state_.setup.all_vcs;
    known[l].length = static_cast<std::uint8_t>(line.length);
    known[l].least = static_cast<std::uint8_t>(line.least);
    known[l].next = line.next < 0 ? no_next : static_cast<std::uint8_t>(line.next);
    if (line.next >= 0) known[line.next].behind |= 1u << l;
  }
  const bool full = lines_.starts_full() || plane_.mode == NewsMode::instant;
  if (!full || plane_.mode == NewsMode::none) return;
  const RouterId ahead = state_.setup.graph.ports(here)[static_cast<std::size_t>(port)].peer;
  for (int l = 0; l < line_count_; ++l) {
    // As if everyone had announced that all is free.
    const LineNews beyond = all_free(ahead, port, l);
    known[l].ahead = beyond.word;
    known[l].ahead_length = static_cast<std::uint8_t>(beyond.length);
  }
  for (int l = 0; l < line_count_; ++l) {
    const LineNews now = line(r, port, l);
    known[l].sent = now.word;
    known[l].sent_length = static_cast<std::uint8_t>(now.length);
  }
}

// A line of idle routers, as far as its cables work; round a ring, no further than is asked for.
LineNews News::all_free(RouterId router, int port, int line, int most) const {
  const auto ports = state_.setup.graph.ports(router);
  if (static_cast<std::size_t>(port) >= ports.size()) return {};
  const Port& cable = ports[static_cast<std::size_t>(port)];
  const Line own = lines_.line(router, port, line);
  if (!cable.usable() || own.length == 0) return {};
  const bool ends = own.next < 0 || most == 0;
  if (lines_.kind() == LineKind::average) {
    const auto free =
        one_vc * static_cast<std::uint64_t>(std::popcount(own.vcs & state_.setup.all_vcs));
    if (ends) return {free, 1};
    return {(free + all_free(cable.peer, port, own.next, most - 1).word) / 2, 1};
  }
  if (most == 0) return {};
  most = std::min(most, own.length) - 1;
  const int length = ends ? 1 : 1 + all_free(cable.peer, port, own.next, most).length;
  return {bits(length), length};
}

void News::start() {
  if (lines_.starts_full() || plane_.mode == NewsMode::none) return;
  for (RouterIndex r; r.value < state_.placement.ids.size(); ++r) {
    pending_[r] = bits(port_count_);
    state_.bring_forward(r, state_.routers[r].news_actor(), 0);
    state_.wake(state_.placement.worker_of(r), r, 0);
  }
}

// What the router would say of a line if these VCs of its own output are ready.
LineNews News::combine(RouterIndex r, int port, int line, VcMask ready) const {
  const LineState* const known = lines_of(r, port);
  const LineState& own = known[line];
  if (own.length == 0) return {};
  const bool ends = own.next == no_next;
  if (lines_.kind() == LineKind::average) {
    const auto free = one_vc * static_cast<std::uint64_t>(std::popcount(ready & own.vcs));
    return {ends ? free : (free + known[own.next].ahead) / 2, 1};
  }
  const std::uint64_t nearest = own.free(ready) ? 1 : 0;
  if (ends) return {nearest, 1};
  const int length = std::min<int>(own.length, 1 + known[own.next].ahead_length);
  return {(nearest | (known[own.next].ahead << 1)) & bits(length), length};
}

LineNews News::line(RouterIndex r, int port, int line) const {
  return combine(r, port, line, port_state(r, port).ready);
}

LineNews News::line_now(RouterIndex r, int port, int line, std::int64_t now) {
  if (inbox_at_[r] <= now) apply_received(r, now);
  VcMask ready = 0;
  for (VcMask left = lines_of(r, port)[line].vcs; left != 0; left &= left - 1) {
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(left)));
    if (is_ready(output_at(r, port), vc, now)) ready |= VcMask{1} << vc.value;
  }
  return combine(r, port, line, ready);
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

// Items about one line come in the order of their times; those about different lines do not affect
// each other.
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
    LineState& known = lines_of(r, item.port)[item.line];
    port_state(r, item.port).untold |= known.behind;
    const std::uint64_t mask = bits(item.count) << item.from;
    known.ahead = (known.ahead & ~mask) | (item.word & mask);
    if (item.length > 0) known.ahead_length = item.length;
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
  if (plane_.mode == NewsMode::none || plane_.mode == NewsMode::instant) pending_[r] = 0;
  for (std::uint64_t left = pending_[r]; left != 0; left &= left - 1)
    next = std::min(next, announce(worker, r, std::countr_zero(left), now));
  state_.next_of(r, state_.routers[r].news_actor()) = next;
}

// Notes which VCs of the port are ready. Returns when that may change by time alone; credits call
// check_port().
std::int64_t News::update_ready(int worker, RouterIndex r, int port, std::int64_t now) {
  PortState& own = port_state(r, port);
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
  const VcMask before = own.ready;
  if (ready == before) return again;
  own.ready = ready;
  own.untold = ~std::uint32_t{0};
  pending_[r] |= bit(port);
  if (plane_.mode == NewsMode::instant) tell_whole_line(worker, r, port, before, now);
  return again;
}

// Tells the router behind what has changed, in band or on wires of its own. Returns when there may
// be more to say.
std::int64_t News::announce(int worker, RouterIndex r, int port, std::int64_t now) {
  PortState& own = port_state(r, port);
  if (own.audience == no_router) {
    pending_[r] &= ~bit(port);
    return never_at;
  }
  const bool inband = plane_.mode == NewsMode::inband;
  if (inband) {
    const int ends = static_cast<int>(state_.routers[r].ends());
    const int cable = lines_.behind(port) + (state_.setup.buffered ? ends : 0);
    const std::int64_t free_at =
        std::max(own.busy_until, state_.outputs[output_at(r, cable)].free_at);
    if (free_at > now) return free_at;
  }
  const auto& flits = flits_[static_cast<std::size_t>(port)];
  for (std::size_t i = 0; i < flits.size(); ++i) {
    const std::size_t f = (own.turn + i) % flits.size();
    if (!announce_flit(worker, r, port, flits[f], now) || !inband) continue;
    ++own.flits;
    own.turn = static_cast<std::uint8_t>((f + 1) % flits.size());
    own.busy_until = now + own.flit_ps;
    return own.busy_until;
  }
  pending_[r] &= ~bit(port);
  return never_at;
}

// False if there is nothing new in it.
bool News::announce_flit(int worker, RouterIndex r, int port, const Flit& flit, std::int64_t now) {
  PortState& own = port_state(r, port);
  bool told_any = false;
  for (const Part& part : flit) {
    if (((own.untold >> part.line) & 1) == 0) continue;
    LineState& known = lines_of(r, port)[part.line];
    const LineNews is = line(r, port, part.line);
    if (is.word == known.sent && is.length == known.sent_length) {
      own.untold &= ~(1u << part.line);
      continue;
    }
    const std::uint64_t mask = bits(part.count) << part.from;
    // The part with the last element says how long the line is.
    const bool longer = is.length != known.sent_length && is.length > part.from &&
                        (is.length <= part.from + part.count || lines_.kind() == LineKind::average);
    if (((is.word ^ known.sent) & mask) == 0 && !longer) continue;
    known.sent = (known.sent & ~mask) | (is.word & mask);
    if (longer) known.sent_length = static_cast<std::uint8_t>(is.length);
    send_news(state_, worker, own.audience,
              {.at = now + own.delay,
               .word = is.word,
               .port = static_cast<std::uint8_t>(port),
               .line = static_cast<std::uint8_t>(part.line),
               .length = known.sent_length,
               .from = static_cast<std::uint8_t>(part.from),
               .count = static_cast<std::uint8_t>(part.count)});
    told_any = true;
  }
  return told_any;
}

// NewsMode::instant: all routers of the line learn at once what has changed here.
void News::tell_whole_line(int worker, RouterIndex r, int port, VcMask before, std::int64_t now) {
  const PortState& own = port_state(r, port);
  for (int line = 0; line < line_count_; ++line) {
    const LineState& known = lines_of(r, port)[line];
    const bool was = known.free(before), is = known.free(own.ready);
    if (known.length == 0 || was == is) continue;
    tell_upstream(worker, r, line,
                  {.at = now + flit_ps_,
                   .word = is ? 1u : 0u,
                   .port = static_cast<std::uint8_t>(port),
                   .line = static_cast<std::uint8_t>(line),
                   .length = 0,
                   .from = 0,
                   .count = 1});
  }
}

// Each router further back has the element one position further on in its line.
void News::tell_upstream(int worker, RouterIndex r, int line, NewsItem item) {
  RouterId at = state_.placement.ids[r];
  const std::uint64_t word = item.word;
  for (int position = 0;; ++position) {
    const auto ports = state_.setup.graph.ports(at);
    const Port& back = ports[static_cast<std::size_t>(lines_.behind(item.port))];
    if (!back.usable()) return;
    at = back.peer;
    int leads = -1;  // The line of that router which ours continues.
    for (int l = 0; l < line_count_ && leads < 0; ++l) {
      const Line theirs = lines_.line(at, item.port, l);
      if (theirs.next == line && theirs.length > position + 1) leads = l;
    }
    if (leads < 0) return;
    item.word = word << position;
    item.line = static_cast<std::uint8_t>(line);
    item.from = static_cast<std::uint8_t>(position);
    send_news(state_, worker, at, item);
    line = leads;
  }
}

std::uint64_t News::flits_on(RouterIndex r, int cable) const {
  for (int p = 0; p < port_count_; ++p) {
    if (lines_.behind(p) == cable) return port_state(r, p).flits;
  }
  return 0;
}

std::int64_t News::least_delay_ps() const {
  std::int64_t least = never_at;
  for (const PortState& port : ports_) {
    if (port.audience != no_router) least = std::min<std::int64_t>(least, port.delay);
  }
  return least;
}

std::size_t News::bytes() const {
  return line_states_.size() * sizeof(LineState) + ports_.size() * sizeof(PortState);
}

}  // namespace weft::detail
