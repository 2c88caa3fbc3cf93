// SPDX-License-Identifier: Apache-2.0
// News of lines, once more. On wires of its own, and where it is instant, nothing is sent here:
// what a router knows is computed from the state at the time it was told. In band news is sent.
#include <algorithm>
#include <bit>

#include "tests/property/oracle.hpp"

namespace weft::test {

namespace {

std::uint64_t ones(int count) {
  return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

}  // namespace

void Oracle::build_news() {
  lines_ = policy_.lines();
  if (lines_ == nullptr) return;
  flit_ps_ = serialise(machine_.flit, machine_.link.rate).in_ps();
  gazettes_.resize(topology_.graph.router_count());
  for (std::uint32_t r = 0; r < gazettes_.size(); ++r) {
    for (int port = 0; port < lines_->ports(); ++port) {
      Gazette gazette;
      gazette.ready = {{INT64_MIN, vc_range(0, machine_.vcs)}};
      for (int line = 0; line < lines_->count(); ++line) {
        gazette.heard.push_back(before_all(peer_of(r, port), port, line));
        gazette.said.push_back(before_all(static_cast<std::int64_t>(r), port, line));
      }
      gazettes_[r].push_back(gazette);
    }
  }
  if (!lines_->starts_full()) at(0);
}

// The router at the other end, or -1.
std::int64_t Oracle::peer_of(std::int64_t r, int port) const {
  const auto ports = topology_.graph.ports(RouterId(static_cast<std::uint32_t>(r)));
  if (static_cast<std::size_t>(port) >= ports.size()) return -1;
  const Port& end = ports[static_cast<std::size_t>(port)];
  return end.usable() ? static_cast<std::int64_t>(end.peer.index) : -1;
}

Line Oracle::line_of(std::int64_t r, int port, int line) const {
  if (r < 0) return {};
  return lines_->line(RouterId(static_cast<std::uint32_t>(r)), port, line);
}

// What routers know at the start: all is free, as far as cables work.
LineNews Oracle::before_all(std::int64_t r, int port, int line, int most) const {
  if (r < 0 || most == 0 || peer_of(r, port) < 0 || !lines_->starts_full()) return {};
  const Line own = line_of(r, port, line);
  // All values are the same, and so is their mean.
  if (lines_->kind() == LineKind::average)
    return {256u * static_cast<std::uint64_t>(std::popcount(own.vcs)), own.length > 0 ? 1 : 0};
  LineNews ahead;
  if (own.next >= 0)
    ahead = before_all(peer_of(r, port), port, own.next, std::min(most, own.length) - 1);
  return combine(own, vc_range(0, machine_.vcs), ahead);
}

std::int64_t Oracle::news_delay(std::int64_t speaker, int port) const {
  if (machine_.news.hop > Duration::zero()) return machine_.news.hop.in_ps();
  const Graph& graph = topology_.graph;
  const Port& back = graph.ports(RouterId(
      static_cast<std::uint32_t>(speaker)))[static_cast<std::size_t>(lines_->behind(port))];
  return (machine_.switch_delay + machine_.cabling(graph.link_classes()[back.link_class]).delay)
      .in_ps();
}

LineNews Oracle::combine(const Line& own, VcMask ready, LineNews ahead) const {
  if (own.length == 0) return {};
  const int free = std::popcount(ready & own.vcs);
  if (lines_->kind() == LineKind::average) {
    const std::uint64_t here = 256u * static_cast<std::uint64_t>(free);
    return {own.next < 0 ? here : (here + ahead.word) / 2, 1};
  }
  const int length = own.next < 0 ? 1 : std::min(own.length, 1 + ahead.length);
  const std::uint64_t beyond = own.next < 0 ? 0 : ahead.word << 1;
  return {((free >= own.least ? 1u : 0u) | beyond) & ones(length), length};
}

VcMask Oracle::ready_now(std::uint32_t r, int port) {
  VcMask ready = 0;
  std::int64_t size = machine_.packet_max().count;
  if (machine_.news.any_credit) size = std::min(size, machine_.flit.count);
  const Out& out = outs_[r][static_cast<std::size_t>(port)];
  for (int vc = 0; vc < machine_.vcs; ++vc) {
    Buffer& buffer = buffers_[out.target + static_cast<std::size_t>(vc)];
    settle(buffer);
    if (buffer.vc_free <= now_ && buffer.room >= size && buffer.packets_held < buffer.packets_max)
      ready |= VcMask{1} << vc;
  }
  return ready;
}

VcMask Oracle::ready_at(std::int64_t r, int port, std::int64_t time) const {
  VcMask found = 0;
  const auto& all = gazettes_[static_cast<std::size_t>(r)][static_cast<std::size_t>(port)].ready;
  for (const auto& [since, ready] : all) {
    if (since <= time) found = ready;
  }
  return found;
}

// What r announces at a time, on wires of its own.
LineNews Oracle::said_at(std::int64_t r, int port, int line, std::int64_t time) const {
  if (r < 0) return {};
  if (time < 0) return before_all(r, port, line);
  const Line own = line_of(r, port, line);
  LineNews ahead;
  const std::int64_t next = peer_of(r, port);
  if (own.next >= 0 && next >= 0)
    ahead = said_at(next, port, own.next, time - news_delay(next, port));
  return combine(own, ready_at(r, port, time), ahead);
}

LineNews Oracle::all_at_once(std::uint32_t r, int port, int line) {
  LineNews seen{0, line_of(r, port, line).length};
  std::int64_t router = r;
  for (int i = 0; i < seen.length; ++i) {
    const Line own = line_of(router, port, line);
    const VcMask ready = i == 0 ? ready_now(r, port) : ready_at(router, port, now_ - flit_ps_);
    if (std::popcount(ready & own.vcs) >= own.least) seen.word |= std::uint64_t{1} << i;
    router = peer_of(router, port);
    line = own.next;
  }
  return seen;
}

LineNews Oracle::line_seen(std::uint32_t r, int port, int line) {
  const Line own = line_of(r, port, line);
  const std::int64_t next = peer_of(r, port);
  if (own.length == 0 || next < 0) return {};
  LineNews ahead;
  switch (machine_.news.mode) {
    case NewsMode::none:
      break;
    case NewsMode::instant:
      return all_at_once(r, port, line);
    case NewsMode::sideband:
      if (own.next >= 0) ahead = said_at(next, port, own.next, now_ - news_delay(next, port));
      break;
    case NewsMode::inband:
      if (own.next >= 0)
        ahead =
            gazettes_[r][static_cast<std::size_t>(port)].heard[static_cast<std::size_t>(own.next)];
  }
  return combine(own, ready_now(r, port), ahead);
}

void Oracle::hear() {
  for (const Word& word : words_) {
    if (word.at != now_) continue;
    LineNews& heard = gazettes_[word.to][static_cast<std::size_t>(word.port)]
                          .heard[static_cast<std::size_t>(word.piece.line)];
    for (int bit = word.piece.from; bit < word.piece.to; ++bit) {
      const std::uint64_t mask = std::uint64_t{1} << bit;
      heard.word = (heard.word & ~mask) | (word.news.word & mask);
    }
    if (word.news.length > 0) heard.length = word.news.length;
  }
  std::erase_if(words_, [&](const Word& word) { return word.at <= now_; });
}

// All outputs have acted.
void Oracle::tell() {
  for (std::uint32_t r = 0; r < gazettes_.size(); ++r) {
    for (int port = 0; port < lines_->ports(); ++port) {
      if (peer_of(r, port) < 0) continue;
      Gazette& own = gazettes_[r][static_cast<std::size_t>(port)];
      const VcMask ready = ready_now(r, port);
      if (ready != own.ready.back().second) {
        own.ready.emplace_back(now_, ready);
        expect_word(r, port);
      }
      if (machine_.news.mode == NewsMode::inband) tell_in_band(r, port);
    }
  }
}

// Times at which another router will know of it.
void Oracle::expect_word(std::uint32_t r, int port) {
  if (machine_.news.mode == NewsMode::instant) at(now_ + flit_ps_);
  if (machine_.news.mode != NewsMode::sideband) return;
  std::int64_t when = now_, router = r;
  for (int i = 0; i < Line::length_max && peer_of(router, lines_->behind(port)) >= 0; ++i) {
    when += news_delay(router, port);
    router = peer_of(router, lines_->behind(port));
    at(when);
    if (router == r) return;
  }
}

void Oracle::tell_in_band(std::uint32_t r, int port) {
  Gazette& own = gazettes_[r][static_cast<std::size_t>(port)];
  const std::int64_t to = peer_of(r, lines_->behind(port));
  if (to < 0) return;
  const bool buffered = machine_.output_buffer.count > 0;
  const std::size_t cable =
      static_cast<std::size_t>(lines_->behind(port)) + (buffered ? ins_[r].size() : 0);
  if (outs_[r][cable].free > now_ || own.busy > now_) return;
  const std::vector<std::vector<Piece>> flits = cut_up(port);
  for (std::size_t i = 0; i < flits.size(); ++i) {
    const std::size_t f = (own.turn + i) % flits.size();
    bool news = false;
    for (const Piece& piece : flits[f]) news |= say(r, port, piece);
    if (!news) continue;
    ++news_flits_;
    own.turn = f + 1;
    const Graph& graph = topology_.graph;
    const Port& back = graph.ports(RouterId(r))[static_cast<std::size_t>(lines_->behind(port))];
    own.busy = now_ + serialise(machine_.flit,
                                machine_.cabling(graph.link_classes()[back.link_class]).rate)
                          .in_ps();
    at(own.busy);
    return;
  }
}

// Which elements of which lines go in which flit.
std::vector<std::vector<Oracle::Piece>> Oracle::cut_up(int port) const {
  std::vector<std::vector<Piece>> flits;
  int used = machine_.news.bits;
  for (int line = 0; line < lines_->count(); ++line) {
    int left = lines_->width(port, line), next = 0;
    while (left > 0) {
      const int take = std::min(left, machine_.news.bits);
      if (used + take > machine_.news.bits || machine_.news.one_line) {
        flits.emplace_back();
        used = 0;
      }
      flits.back().push_back({line, next, next + take});
      used += take;
      next += take;
      left -= take;
    }
  }
  return flits;
}

bool Oracle::say(std::uint32_t r, int port, const Piece& piece) {
  Gazette& own = gazettes_[r][static_cast<std::size_t>(port)];
  const Line shape = line_of(r, port, piece.line);
  const LineNews ahead =
      shape.next < 0 ? LineNews{} : own.heard[static_cast<std::size_t>(shape.next)];
  const LineNews is = combine(shape, own.ready.back().second, ahead);
  LineNews& said = own.said[static_cast<std::size_t>(piece.line)];
  const bool ends_here =
      is.length > piece.from && (is.length <= piece.to || lines_->kind() == LineKind::average);
  const bool grown = ends_here && is.length != said.length;
  bool differs = grown;
  for (int bit = piece.from; bit < piece.to; ++bit)
    differs |= (((is.word ^ said.word) >> bit) & 1) != 0;
  if (!differs) return false;
  for (int bit = piece.from; bit < piece.to; ++bit) {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    said.word = (said.word & ~mask) | (is.word & mask);
  }
  if (grown) said.length = is.length;
  words_.push_back({now_ + news_delay(r, port),
                    static_cast<std::size_t>(peer_of(r, lines_->behind(port))), port, piece, said});
  at(words_.back().at);
  return true;
}

}  // namespace weft::test
