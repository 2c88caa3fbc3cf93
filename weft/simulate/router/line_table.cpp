// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/line_table.hpp"

#include <algorithm>
#include <string>

#include <weft/base/check.hpp>

namespace weft::detail {

Status check_news(const Lines& lines, const NewsPlane& plane) {
  if (lines.kind() != LineKind::average) return {};
  if (plane.mode == NewsMode::instant)
    return Error::input(
        "news.mode = instant tells single elements of a line, "
        "but this routing hands on means; use "
        "sideband");
  if (lines.width(0, 0) > plane.bits)
    return Error::input("news.bits must be at least " + std::to_string(lines.width(0, 0)) +
                        " for this routing: a mean goes in one flit");
  return {};
}

// Lines in their order, as many to a flit as its bits carry; one that is longer than a flit is cut.
std::vector<LineTable::Flit> LineTable::pack_lines(const Lines& lines, int port,
                                                   const NewsPlane& plane) {
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

LineTable::LineTable(const Graph& graph, const Lines& lines, const NetworkHardware& machine,
                     std::span<const RouterId> routers)
    : graph_(graph),
      lines_(lines),
      machine_(machine),
      plane_(machine.news),
      routers_(routers.begin(), routers.end()),
      all_vcs_(vc_range(0, machine.vcs)),
      port_count_(lines.ports()),
      line_count_(lines.count()),
      room_(machine.news.any_credit ? std::min(machine.flit, machine.packet_max()).count
                                    : machine.packet_max().count),
      flit_ps_(serialise(machine.flit, machine.link.rate).in_ps()) {
  WEFT_CHECK(port_count_ <= 64 && line_count_ <= 32);
  for (int p = 0; p < port_count_; ++p) flits_.push_back(pack_lines(lines_, p, plane_));
  const std::size_t ports = routers_.size() * static_cast<std::size_t>(port_count_);
  line_states_.resize(ports * static_cast<std::size_t>(line_count_));
  ports_.resize(ports);
  for (std::uint32_t r = 0; r < routers_.size(); ++r) {
    for (int p = 0; p < port_count_; ++p) make_port(r, p);
  }
}

void LineTable::make_port(std::uint32_t r, int port) {
  const auto ports = graph_.ports(routers_[r]);
  const auto usable = [&](int p) {
    return static_cast<std::size_t>(p) < ports.size() &&
           ports[static_cast<std::size_t>(p)].usable();
  };
  Port& own = ports_[place(r, port)];
  own.ready = usable(port) ? all_vcs_ : 0;
  const int behind = lines_.behind(port);
  if (usable(behind)) find_audience(own, ports[static_cast<std::size_t>(behind)]);
  if (usable(port)) make_lines(r, port);
}

void LineTable::find_audience(Port& own, const weft::Port& back) const {
  const Cabling& cable = machine_.cabling(graph_.link_classes()[back.link_class]);
  own.audience = back.peer;
  const Duration hop =
      plane_.hop > Duration::zero() ? plane_.hop : machine_.switch_delay + cable.delay;
  own.flit_ps = static_cast<std::uint32_t>(serialise(machine_.flit, cable.rate).in_ps());
  own.delay = static_cast<std::uint32_t>(plane_.mode == NewsMode::instant ? flit_ps_ : hop.in_ps());
}

void LineTable::make_lines(std::uint32_t r, int port) {
  const RouterId here = routers_[r];
  LineState* const known = lines_of(r, port);
  for (int l = 0; l < line_count_; ++l) {
    const Line line = lines_.line(here, port, l);
    known[l].vcs = line.vcs & all_vcs_;
    known[l].length = static_cast<std::uint8_t>(line.length);
    known[l].least = static_cast<std::uint8_t>(line.least);
    known[l].next = line.next < 0 ? no_next : static_cast<std::uint8_t>(line.next);
    if (line.next >= 0) known[line.next].behind |= 1u << l;
  }
  const bool full = lines_.starts_full() || plane_.mode == NewsMode::instant;
  if (!full || plane_.mode == NewsMode::none) return;
  const RouterId ahead = graph_.ports(here)[static_cast<std::size_t>(port)].peer;
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
LineNews LineTable::all_free(RouterId router, int port, int line, int most) const {
  const auto ports = graph_.ports(router);
  if (static_cast<std::size_t>(port) >= ports.size()) return {};
  const weft::Port& cable = ports[static_cast<std::size_t>(port)];
  const Line own = lines_.line(router, port, line);
  if (!cable.usable() || own.length == 0) return {};
  const bool ends = own.next < 0 || most == 0;
  if (lines_.kind() == LineKind::average) {
    const auto free = one_vc * static_cast<std::uint64_t>(std::popcount(own.vcs & all_vcs_));
    if (ends) return {free, 1};
    return {(free + all_free(cable.peer, port, own.next, most - 1).word) / 2, 1};
  }
  if (most == 0) return {};
  most = std::min(most, own.length) - 1;
  const int length = ends ? 1 : 1 + all_free(cable.peer, port, own.next, most).length;
  return {bits(length), length};
}

LineTable::Step LineTable::step_back(RouterId at, int port, int line, int position) const {
  const weft::Port& back = graph_.ports(at)[static_cast<std::size_t>(lines_.behind(port))];
  if (!back.usable()) return {at, -1};
  for (int l = 0; l < line_count_; ++l) {
    const Line theirs = lines_.line(back.peer, port, l);
    if (theirs.next == line && theirs.length > position + 1) return {back.peer, l};
  }
  return {back.peer, -1};
}

std::uint64_t LineTable::flits_on(std::uint32_t r, int cable) const {
  for (int p = 0; p < port_count_; ++p) {
    if (lines_.behind(p) == cable) return port(r, p).flits;
  }
  return 0;
}

std::int64_t LineTable::least_delay_ps() const {
  std::int64_t least = INT64_MAX;
  for (const Port& port : ports_) {
    if (port.audience != no_router) least = std::min<std::int64_t>(least, port.delay);
  }
  return least;
}

std::size_t LineTable::bytes() const {
  return line_states_.size() * sizeof(LineState) + ports_.size() * sizeof(Port);
}

}  // namespace weft::detail
