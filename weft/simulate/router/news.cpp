// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <weft/simulate/router/flow.hpp>

namespace weft::detail {

namespace {

constexpr std::uint64_t one_vc = 256;  // In words of LineKind::average.

std::uint64_t low_bits(int count) {
  return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

// Lines in their order, as many to a flit as its bits carry; one that is longer than a flit is cut.
std::vector<std::vector<NewsPart>> pack_lines(const Lines& lines, int port,
                                              const NewsPlane& plane) {
  std::vector<std::vector<NewsPart>> flits;
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

}  // namespace

void Engine::make_news() {
  const Lines* const lines = policy_.lines();
  if (lines == nullptr) return;
  const NewsPlane& plane = machine_.news;
  news_ = std::make_unique<News>(
      News{.lines = *lines,
           .plane = plane,
           .ports = lines->ports(),
           .count = lines->count(),
           .size = plane.any_credit ? std::min(machine_.flit, machine_.packet_max()).count
                                    : machine_.packet_max().count,
           .flit_ps = serialise(machine_.flit, machine_.link.rate).in_ps()});
  News& news = *news_;
  WEFT_CHECK(news.ports <= 64 && news.count <= max_vcs);
  for (int p = 0; p < news.ports; ++p) news.flits.push_back(pack_lines(*lines, p, plane));
  const std::size_t count = ids_.size();
  news.told.resize(news.place(static_cast<std::uint32_t>(count), 0) *
                   static_cast<std::size_t>(news.count));
  news.cables.resize(news.place(static_cast<std::uint32_t>(count), 0));
  news.stirred.assign(count, 0);
  news.owing.assign(count, 0);
  news.inbox.resize(count);
  news.inbox_at.assign(count, never_at);
  for (std::uint32_t r = 0; r < count; ++r) {
    for (int p = 0; p < news.ports; ++p) make_news_port(r, p);
  }
  if (abroad_ == nullptr || plane.mode != NewsMode::instant) return;
  // Everybody may be on somebody's line.
  abroad_->neighbours.clear();
  for (int process = 0; process < abroad_->peers.count(); ++process) {
    if (process != abroad_->peers.self()) abroad_->neighbours.push_back(process);
  }
}

void Engine::make_news_port(std::uint32_t r, int port) {
  News& news = *news_;
  const auto ports = graph_.ports(RouterId(ids_[r]));
  const auto usable = [&](int p) {
    return static_cast<std::size_t>(p) < ports.size() &&
           ports[static_cast<std::size_t>(p)].usable();
  };
  News::Port& own = news.cables[news.place(r, port)];
  own.ready = usable(port) ? all_vcs_ : 0;
  const int behind = news.lines.behind(port);
  if (usable(behind)) {
    const Port& back = ports[static_cast<std::size_t>(behind)];
    own.audience = back.peer.index;
    const Duration hop = news.plane.hop > Duration::zero()
                             ? news.plane.hop
                             : machine_.switch_delay +
                                   machine_.cabling(graph_.link_classes()[back.link_class]).delay;
    own.flit_ps = static_cast<std::uint32_t>(
        serialise(machine_.flit, machine_.cabling(graph_.link_classes()[back.link_class]).rate)
            .in_ps());
    own.delay = static_cast<std::uint32_t>(news.plane.mode == NewsMode::instant ? news.flit_ps
                                                                                : hop.in_ps());
  }
  if (!usable(port)) return;
  const bool full = news.lines.starts_full() || news.plane.mode == NewsMode::instant;
  News::Told* const told = news.lines_of(r, port);
  for (int l = 0; l < news.count; ++l) {
    const Line line = news.lines.line(RouterId(ids_[r]), port, l);
    told[l].vcs = line.vcs & all_vcs_;
    told[l].length = static_cast<std::uint8_t>(line.length);
    told[l].least = static_cast<std::uint8_t>(line.least);
    told[l].next = line.next < 0 ? News::no_next : static_cast<std::uint8_t>(line.next);
  }
  if (!full || news.plane.mode == NewsMode::none) return;
  const RouterId ahead = ports[static_cast<std::size_t>(port)].peer;
  for (int l = 0; l < news.count; ++l) {
    // What nobody has said is taken as said.
    const LineNews beyond = all_free(ahead, port, l);
    told[l].ahead = beyond.word;
    told[l].ahead_length = static_cast<std::uint8_t>(beyond.length);
  }
  for (int l = 0; l < news.count; ++l) {
    const LineNews now = line_news(r, port, l, own.ready);
    told[l].sent = now.word;
    told[l].sent_length = static_cast<std::uint8_t>(now.length);
  }
}

// A line of idle routers, as far as its cables work; round a ring, no further than is asked for.
LineNews Engine::all_free(RouterId router, int port, int line, int most) const {
  const auto ports = graph_.ports(router);
  if (static_cast<std::size_t>(port) >= ports.size()) return {};
  const Port& cable = ports[static_cast<std::size_t>(port)];
  const Line own = news_->lines.line(router, port, line);
  if (!cable.usable() || own.length == 0) return {};
  const bool ends = own.next < 0 || most == 0;
  if (news_->lines.kind() == LineKind::average) {
    const auto free = one_vc * static_cast<std::uint64_t>(std::popcount(own.vcs & all_vcs_));
    if (ends) return {free, 1};
    return {(free + all_free(cable.peer, port, own.next, most - 1).word) / 2, 1};
  }
  if (most == 0) return {};
  most = std::min(most, own.length) - 1;
  const int length = ends ? 1 : 1 + all_free(cable.peer, port, own.next, most).length;
  return {low_bits(length), length};
}

// Where nothing counts as said, all have something to say.
void Engine::start_news() {
  if (news_ == nullptr || news_->lines.starts_full() || news_->plane.mode == NewsMode::none) return;
  for (std::uint32_t r = 0; r < ids_.size(); ++r) {
    news_->owing[r] = low_bits(news_->ports);
    bring_forward(r, news_actor(r), 0);
    wake(worker_of(r), r, 0);
  }
}

// What the router would say of a line whose own VCs are these.
LineNews Engine::line_news(std::uint32_t r, int port, int line, VcMask ready) const {
  News::Told* const told = news_->lines_of(r, port);
  const News::Told& own = told[line];
  if (own.length == 0) return {};
  const bool ends = own.next == News::no_next;
  if (news_->lines.kind() == LineKind::average) {
    const auto free = one_vc * static_cast<std::uint64_t>(std::popcount(ready & own.vcs));
    return {ends ? free : (free + told[own.next].ahead) / 2, 1};
  }
  const std::uint64_t bit = own.free(ready) ? 1 : 0;
  if (ends) return {bit, 1};
  const int length = std::min<int>(own.length, 1 + told[own.next].ahead_length);
  return {(bit | (told[own.next].ahead << 1)) & low_bits(length), length};
}

LineNews Engine::line(RouterId router, int port, int line) const {
  if (news_ == nullptr || !is_here(router)) return {};
  const std::uint32_t r = index_[router.index];
  return line_news(r, port, line, news_->cables[news_->place(r, port)].ready);
}

// The same as it is now, for a head that has to choose.
LineNews Engine::line_now(std::uint32_t r, int port, int line, std::int64_t now) {
  News& news = *news_;
  if (news.inbox_at[r] <= now) take_news(r, now);
  const VcMask vcs = news.lines_of(r, port)[line].vcs;
  const std::uint32_t output = routers_[r].first_output + static_cast<std::uint32_t>(port);
  VcMask ready = 0;
  for (VcMask left = vcs; left != 0; left &= left - 1) {
    const int vc = std::countr_zero(left);
    if (is_ready(output, vc, now)) ready |= VcMask{1} << vc;
  }
  return line_news(r, port, line, ready);
}

bool Engine::is_ready(std::uint32_t output, int vc, std::int64_t now) {
  if (vc_free_at(output, vc) > now) return false;
  Account& account = accounts_[std::size_t{output} * vcs_ + static_cast<std::uint32_t>(vc)];
  const Output& out = outputs_[output];
  if (has_room(account, out, news_->size)) return true;
  reclaim(account, inputs_[out.target + static_cast<std::uint32_t>(vc)], now);
  return has_room(account, out, news_->size);
}

void Engine::stir(std::uint32_t r, int output, std::int64_t at) {
  if (output >= routers_[r].ports || output >= news_->ports) return;
  news_->stirred[r] |= std::uint64_t{1} << output;
  bring_forward(r, news_actor(r), at);
}

void Engine::receive_news(int worker, std::uint32_t r, const NewsItem& item) {
  news_->inbox[r].push_back(item);
  news_->inbox_at[r] = std::min(news_->inbox_at[r], item.at);
  bring_forward(r, news_actor(r), item.at);
  wake(worker, r, item.at);
}

// Items about one line come in the order of their times; those about different lines do not touch
// each other.
void Engine::take_news(std::uint32_t r, std::int64_t now) {
  News& news = *news_;
  std::vector<NewsItem>& inbox = news.inbox[r];
  std::int64_t later = never_at;
  std::size_t kept = 0;
  for (const NewsItem& item : inbox) {
    if (item.at > now) {
      later = std::min(later, item.at);
      inbox[kept++] = item;
      continue;
    }
    News::Told& told = news.lines_of(r, item.port)[item.line];
    const std::uint64_t mask = low_bits(item.count) << item.from;
    told.ahead = (told.ahead & ~mask) | (item.word & mask);
    if (item.length > 0) told.ahead_length = item.length;
    news.owing[r] |= std::uint64_t{1} << item.port;
  }
  inbox.resize(kept);
  news.inbox_at[r] = later;
}

// All outputs have acted: what has become of our VCs, and who is to be told.
void Engine::tell_news(int worker, std::uint32_t r, std::int64_t now) {
  News& news = *news_;
  if (news.inbox_at[r] <= now) take_news(r, now);
  std::int64_t next = news.inbox_at[r];
  for (std::uint64_t left = news.stirred[r]; left != 0; left &= left - 1)
    next = std::min(next, note_ready(worker, r, std::countr_zero(left), now));
  if (news.plane.mode == NewsMode::none || news.plane.mode == NewsMode::instant) news.owing[r] = 0;
  for (std::uint64_t left = news.owing[r]; left != 0; left &= left - 1)
    next = std::min(next, tell_line(worker, r, std::countr_zero(left), now));
  next_of(r, news_actor(r)) = next;
}

// Returns when it may change by itself; credits come of theirs.
std::int64_t Engine::note_ready(int worker, std::uint32_t r, int port, std::int64_t now) {
  News& news = *news_;
  News::Port& own = news.cables[news.place(r, port)];
  const std::uint32_t output = routers_[r].first_output + static_cast<std::uint32_t>(port);
  VcMask ready = 0;
  std::int64_t again = never_at;
  for (int vc = 0; vc < machine_.vcs; ++vc) {
    const std::int64_t at = room_at(output, vc, news.size, now);
    if (at <= now) {
      ready |= VcMask{1} << vc;
    } else {
      again = std::min(again, at);
    }
  }
  if (again == never_at) news.stirred[r] &= ~(std::uint64_t{1} << port);
  const VcMask before = own.ready;
  if (ready == before) return again;
  own.ready = ready;
  news.owing[r] |= std::uint64_t{1} << port;
  if (news.plane.mode == NewsMode::instant) tell_all(worker, r, port, before, now);
  // Heads without a VC may think again.
  if (committing_ && (ready & ~before) != 0) bring_forward(r, 0, now);
  return again;
}

// In band or on wires of its own; returns when there may be more to say.
std::int64_t Engine::tell_line(int worker, std::uint32_t r, int port, std::int64_t now) {
  News& news = *news_;
  News::Port& own = news.cables[news.place(r, port)];
  const std::uint64_t paid = ~(std::uint64_t{1} << port);
  if (own.audience == News::nobody) {
    news.owing[r] &= paid;
    return never_at;
  }
  const bool inband = news.plane.mode == NewsMode::inband;
  if (inband) {
    const int cable = news.lines.behind(port) + (buffered_ ? cable_count(r) : 0);
    const std::int64_t free_at =
        std::max(own.busy_until,
                 outputs_[routers_[r].first_output + static_cast<std::uint32_t>(cable)].free_at);
    if (free_at > now) return free_at;
  }
  const auto& flits = news.flits[static_cast<std::size_t>(port)];
  for (std::size_t i = 0; i < flits.size(); ++i) {
    const std::size_t f = (own.turn + i) % flits.size();
    if (!tell_parts(worker, r, port, flits[f], now) || !inband) continue;
    ++own.flits;
    own.turn = static_cast<std::uint8_t>((f + 1) % flits.size());
    own.busy_until = now + own.flit_ps;
    return own.busy_until;
  }
  news.owing[r] &= paid;
  return never_at;
}

// False if there is nothing new in it.
bool Engine::tell_parts(int worker, std::uint32_t r, int port, const std::vector<NewsPart>& parts,
                        std::int64_t now) {
  News& news = *news_;
  const News::Port& own = news.cables[news.place(r, port)];
  bool told_any = false;
  for (const NewsPart& part : parts) {
    News::Told& told = news.lines_of(r, port)[part.line];
    const LineNews is = line_news(r, port, part.line, own.ready);
    const std::uint64_t mask = low_bits(part.count) << part.from;
    // Whoever has the last element says how long the line is.
    const bool longer =
        is.length != told.sent_length && is.length > part.from &&
        (is.length <= part.from + part.count || news.lines.kind() == LineKind::average);
    if (((is.word ^ told.sent) & mask) == 0 && !longer) continue;
    told.sent = (told.sent & ~mask) | (is.word & mask);
    if (longer) told.sent_length = static_cast<std::uint8_t>(is.length);
    send_news(worker, own.audience,
              {.at = now + own.delay,
               .word = is.word,
               .port = static_cast<std::uint8_t>(port),
               .line = static_cast<std::uint8_t>(part.line),
               .length = told.sent_length,
               .from = static_cast<std::uint8_t>(part.from),
               .count = static_cast<std::uint8_t>(part.count)});
    told_any = true;
  }
  return told_any;
}

// The whole line learns at once what has changed here.
void Engine::tell_all(int worker, std::uint32_t r, int port, VcMask before, std::int64_t now) {
  News& news = *news_;
  const News::Port& own = news.cables[news.place(r, port)];
  for (int line = 0; line < news.count; ++line) {
    const News::Told& told = news.lines_of(r, port)[line];
    const bool was = told.free(before), is = told.free(own.ready);
    if (told.length == 0 || was == is) continue;
    RouterId at(ids_[r]);
    int spoken = line;  // Of the router whose line it is part of.
    for (int position = 0;; ++position) {
      const auto ports = graph_.ports(at);
      const Port& back = ports[static_cast<std::size_t>(news.lines.behind(port))];
      if (!back.usable()) break;
      at = back.peer;
      int leads = -1;
      for (int l = 0; l < news.count && leads < 0; ++l) {
        const Line theirs = news.lines.line(at, port, l);
        if (theirs.next == spoken && theirs.length > position + 1) leads = l;
      }
      if (leads < 0) break;
      send_news(worker, at.index,
                {.at = now + news.flit_ps,
                 .word = std::uint64_t{is ? 1u : 0u} << position,
                 .port = static_cast<std::uint8_t>(port),
                 .line = static_cast<std::uint8_t>(spoken),
                 .length = 0,
                 .from = static_cast<std::uint8_t>(position),
                 .count = 1});
      spoken = leads;
    }
  }
}

void Engine::send_news(int worker, std::uint32_t audience, const NewsItem& item) {
  if (abroad_ != nullptr && index_[audience] == elsewhere) {
    abroad_->boxes[abroad_->owner[audience]].news.push_back({audience, item});
    return;
  }
  const std::uint32_t r = index_[audience];
  const int owner = worker_of(r);
  if (owner == worker) {
    receive_news(worker, r, item);
    return;
  }
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  crew.mail[crew.side][static_cast<std::size_t>(owner)].news.push_back({r, item});
  crew.mailed_at = std::min(crew.mailed_at, item.at);
}

// The cable's share of news, by the port it is at.
std::uint64_t Engine::news_flits(std::uint32_t r, int cable) const {
  if (news_ == nullptr) return 0;
  for (int p = 0; p < news_->ports; ++p) {
    if (news_->lines.behind(p) == cable) return news_->cables[news_->place(r, p)].flits;
  }
  return 0;
}

}  // namespace weft::detail
