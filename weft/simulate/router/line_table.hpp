// SPDX-License-Identifier: Apache-2.0
// What routers know of the lines ahead of them (route/lines.hpp), and what they have told others of
// it; for every model of routers. When a VC is ready, when news may go and how long it takes is the
// model's affair, so nothing here happens by itself.
//
// A router knows which VCs of its own outputs are ready, as it noted last. What it knows of a line
// is that, followed by what the router ahead has told last. Whenever this differs from what it has
// told itself, it owes the router behind an update. Routers have numbers of the model's.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/route/lines.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/router/hardware.hpp>
#include <weft/simulate/router/news_item.hpp>

namespace weft::detail {

// Whether news of such lines can travel as this machine says.
Status check_news(const Lines& lines, const NewsPlane& plane);

class LineTable {
 public:
  struct Port {
    std::int64_t busy_until = 0;    // For the model: the cable behind carries news, in band.
    std::uint64_t flits = 0;        // Of news that the cable has carried, in band.
    RouterId audience = no_router;  // The router behind.
    std::uint32_t delay = 0;        // To it, ps.
    std::uint32_t flit_ps = 0;      // Time of a flit on the cable to it.
    VcMask ready = 0;               // As noted last.
    // Lines of which there may be something to tell. Of the others all has been told.
    std::uint32_t untold = ~std::uint32_t{0};
    std::uint8_t turn = 0;  // The flit to look at first.
  };

  // `routers`: by number.
  LineTable(const Graph& graph, const Lines& lines, const NetworkHardware& machine,
            std::span<const RouterId> routers);

  int ports() const { return port_count_; }
  const Lines& lines() const { return lines_; }
  const NewsPlane& plane() const { return plane_; }
  // Room that makes a VC ready, in bytes.
  std::int64_t room() const { return room_; }
  // A flit on the usual cable.
  std::int64_t flit_ps() const { return flit_ps_; }
  Port& port(std::uint32_t r, int port) { return ports_[place(r, port)]; }
  const Port& port(std::uint32_t r, int port) const { return ports_[place(r, port)]; }
  // The VCs that a line's first element is about.
  VcMask vcs(std::uint32_t r, int port, int line) const { return lines_of(r, port)[line].vcs; }
  // Every router begins by telling what it knows.
  bool tells_first() const { return !lines_.starts_full() && plane_.mode != NewsMode::none; }

  // What the router would say of a line if these VCs of its own output are ready.
  LineNews combine(std::uint32_t r, int port, int line, VcMask ready) const;
  LineNews line(std::uint32_t r, int port, int line) const {
    return combine(r, port, line, ports_[place(r, port)].ready);
  }
  // Items about one line come in the order of their times; those about different lines do not
  // affect each other.
  void learn(std::uint32_t r, const NewsItem& item);
  // These VCs of its own output are ready. False: as noted before.
  bool note(std::uint32_t r, int port, VcMask ready);

  // Calls send(item) for what is new of a port's lines to the router behind: for all of it, or for
  // what goes in one flit. False: there was nothing. The item's time is for the model.
  template <typename Send>
  bool tell(std::uint32_t r, int port, bool one_flit, Send&& send);
  // NewsMode::instant: all routers of the line learn at once what has changed here, where these VCs
  // were ready before. Calls send(router, item).
  template <typename Send>
  void tell_whole_line(std::uint32_t r, int port, VcMask before, Send&& send) const;

  // Flits of news that the cable at this port has carried, in band.
  std::uint64_t flits_on(std::uint32_t r, int cable) const;
  // The least time that news takes from one router to another; INT64_MAX for no news.
  std::int64_t least_delay_ps() const;
  std::size_t bytes() const;

 private:
  static constexpr std::uint8_t no_next = 0xff;
  static constexpr std::uint64_t one_vc = 256;  // In words of LineKind::average.

  // What is known and was told of one line of one port.
  struct LineState {
    std::uint64_t ahead = 0,
                  sent = 0;  // The last word of the router ahead, and our own.
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
  // Bits of a line that go in one flit.
  struct Part {
    int line, from, count;
  };
  using Flit = std::vector<Part>;

  static std::uint64_t bits(int count) {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
  }
  static std::vector<Flit> pack_lines(const Lines& lines, int port, const NewsPlane& plane);
  std::size_t place(std::uint32_t r, int port) const {
    return std::size_t{r} * static_cast<std::size_t>(port_count_) + static_cast<std::size_t>(port);
  }
  LineState* lines_of(std::uint32_t r, int port) {
    return &line_states_[place(r, port) * static_cast<std::size_t>(line_count_)];
  }
  const LineState* lines_of(std::uint32_t r, int port) const {
    return &line_states_[place(r, port) * static_cast<std::size_t>(line_count_)];
  }
  void make_port(std::uint32_t r, int port);
  void find_audience(Port& own, const weft::Port& back) const;
  void make_lines(std::uint32_t r, int port);
  LineNews all_free(RouterId router, int port, int line, int most = Line::length_max) const;
  // The router behind on the way of the item, and the line of it that goes on with ours: less than
  // 0 if none does.
  struct Step {
    RouterId router;
    int line;
  };
  Step step_back(RouterId at, int port, int line, int position) const;
  template <typename Send>
  bool tell_flit(std::uint32_t r, int port, const Flit& flit, Send& send);

  const Graph& graph_;
  const Lines& lines_;
  const NetworkHardware machine_;
  const NewsPlane plane_;
  const std::vector<RouterId> routers_;
  const VcMask all_vcs_;
  const int port_count_, line_count_;
  const std::int64_t room_, flit_ps_;
  std::vector<std::vector<Flit>> flits_;  // By port: what goes together.
  std::vector<LineState> line_states_;    // By router, port and line.
  std::vector<Port> ports_;               // By router and port.
};

inline LineNews LineTable::combine(std::uint32_t r, int port, int line, VcMask ready) const {
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

inline void LineTable::learn(std::uint32_t r, const NewsItem& item) {
  LineState& known = lines_of(r, item.port)[item.line];
  ports_[place(r, item.port)].untold |= known.behind;
  const std::uint64_t mask = bits(item.count) << item.from;
  known.ahead = (known.ahead & ~mask) | (item.word & mask);
  if (item.length > 0) known.ahead_length = item.length;
}

inline bool LineTable::note(std::uint32_t r, int port, VcMask ready) {
  Port& own = ports_[place(r, port)];
  if (ready == own.ready) return false;
  own.ready = ready;
  own.untold = ~std::uint32_t{0};
  return true;
}

template <typename Send>
bool LineTable::tell(std::uint32_t r, int port, bool one_flit, Send&& send) {
  Port& own = ports_[place(r, port)];
  const std::vector<Flit>& flits = flits_[static_cast<std::size_t>(port)];
  bool any = false;
  for (std::size_t i = 0; i < flits.size(); ++i) {
    const std::size_t f = (own.turn + i) % flits.size();
    if (!tell_flit(r, port, flits[f], send)) continue;
    any = true;
    if (!one_flit) continue;
    ++own.flits;
    own.turn = static_cast<std::uint8_t>((f + 1) % flits.size());
    break;
  }
  return any;
}

// False if there is nothing new in it.
template <typename Send>
bool LineTable::tell_flit(std::uint32_t r, int port, const Flit& flit, Send& send) {
  Port& own = ports_[place(r, port)];
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
    send(NewsItem{.at = 0,
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

// Each router further back has the element one position further on in its line.
template <typename Send>
void LineTable::tell_whole_line(std::uint32_t r, int port, VcMask before, Send&& send) const {
  for (int first = 0; first < line_count_; ++first) {
    const LineState& known = lines_of(r, port)[first];
    const bool was = known.free(before), is = known.free(ports_[place(r, port)].ready);
    if (known.length == 0 || was == is) continue;
    RouterId at = routers_[r];
    int line = first;
    for (int position = 0;; ++position) {
      const Step back = step_back(at, port, line, position);
      if (back.line < 0) break;
      send(back.router, NewsItem{.at = 0,
                                 .word = std::uint64_t{is} << position,
                                 .port = static_cast<std::uint8_t>(port),
                                 .line = static_cast<std::uint8_t>(line),
                                 .length = 0,
                                 .from = static_cast<std::uint8_t>(position),
                                 .count = 1});
      at = back.router;
      line = back.line;
    }
  }
}

}  // namespace weft::detail
