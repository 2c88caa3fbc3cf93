// SPDX-License-Identifier: Apache-2.0
// What routers know of the lines ahead of them (route/lines.hpp), and the news of it on its way.
//
// A router notes which of its own VCs are ready. What it knows of a line is that, followed by what
// the router ahead has said last; whenever this differs from what it has said itself, it owes the
// router behind a word. In band a word is a packet of one flit that goes when its cable carries no
// data and no data wants it in that moment: data never waits for it, and only the newest state is
// sent, however long it had to wait.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <weft/network/route/lines.hpp>
#include <weft/simulate/router/machine.hpp>

namespace weft::detail {

// On its way to a router.
struct NewsItem {
  std::int64_t at;
  std::uint64_t word;
  std::uint8_t port;    // Whose line it is about, there and here.
  std::uint8_t line;    // Of the router that speaks.
  std::uint8_t length;  // Elements known of it; 0: as many as before.
  std::uint8_t from;    // The bits of `word` that are told: so many, from this one on.
  std::uint8_t count;
};

// Bits of a line that go in one flit.
struct NewsPart {
  int line, from, count;
};

struct News {
  static constexpr std::uint32_t nobody = UINT32_MAX;
  static constexpr std::uint8_t no_next = 0xff;

  struct Told {                         // One line of one port.
    std::uint64_t ahead = 0, sent = 0;  // The last word of the router ahead, and our own.
    VcMask vcs = 0;
    std::uint8_t ahead_length = 0, sent_length = 0;
    std::uint8_t length = 0;
    std::uint8_t next = no_next;
    std::uint8_t least = 1;

    bool free(VcMask ready) const { return std::popcount(ready & vcs) >= least; }
  };
  struct Port {
    std::int64_t busy_until = 0;      // Of news on the cable behind, in band.
    std::uint64_t flits = 0;          // That it has carried.
    std::uint32_t audience = nobody;  // The router behind, by its number in the network.
    std::uint32_t delay = 0;          // To it, ps.
    std::uint32_t flit_ps = 0;        // Of the cable to it.
    VcMask ready = 0;                 // As noted last.
    std::uint8_t turn = 0;            // The flit to look at first.
  };

  std::size_t place(std::uint32_t r, int port) const {
    return std::size_t{r} * static_cast<std::size_t>(ports) + static_cast<std::size_t>(port);
  }
  Told* lines_of(std::uint32_t r, int port) {
    return &told[place(r, port) * static_cast<std::size_t>(count)];
  }

  const Lines& lines;
  NewsPlane plane;
  int ports, count;
  std::int64_t size, flit_ps;  // Room that makes a VC ready; a flit on the usual cable.
  std::vector<std::vector<std::vector<NewsPart>>> flits = {};  // By port: what goes together.
  std::vector<Told> told = {};
  std::vector<Port> cables = {};
  std::vector<std::uint64_t> stirred = {}, owing = {};  // Ports to look at, by router.
  std::vector<std::vector<NewsItem>> inbox = {};
  std::vector<std::int64_t> inbox_at = {};  // The earliest of them.
};

}  // namespace weft::detail
