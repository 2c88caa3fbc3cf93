// SPDX-License-Identifier: Apache-2.0
// The router model once more, slow and obvious: a list of times, and at each of them every part is
// asked whether it can act. Written from the description in machine.hpp, it shares neither state
// nor code with weft/simulate/router, and the property tests hold that to it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/router/hardware.hpp>

namespace weft::test {

struct Job {
  std::uint32_t from, to;
  std::int64_t size, born;
};

class Oracle {
 public:
  Oracle(const Topology& topology, const NetworkHardware& machine, const Policy& policy,
         std::uint64_t seed);
  // Arrival time of each job, in their order. Jobs of one node are given in order of birth.
  // INT64_MAX: never.
  std::vector<std::int64_t> run(const std::vector<Job>& jobs);
  std::uint64_t news_flits() const { return news_flits_; }

 private:
  struct Packet {
    std::size_t job;
    std::int64_t payload, size;
    std::int64_t head, tail;  // Arrival where it is now.
    std::uint64_t state;
    int hops;
  };
  struct Buffer {  // One VC of one input, of an output buffer or of a node.
    std::deque<Packet> packets;
    std::int64_t free_since = 0;  // The packet before the head has left.
    std::vector<Choice> ways;     // Empty: head not routed yet.
    std::int64_t ready = 0;
    bool committed = false;  // The head holds a VC of its one remaining way.
    int port = -1;           // Crossbar input; -1 for none.
    std::deque<std::pair<std::int64_t, std::int64_t>>
        credits;  // (usable at, bytes) of departed packets.
    std::int64_t room = 0;
    int packets_held = 0, packets_max = 0;
    std::int64_t vc_free = 0;
    std::int64_t credit_delay = 0;
    std::int64_t feeder_rate = 0;
  };
  struct Out {
    std::int64_t free = 0;
    std::size_t target = 0;      // First of its VCs' buffers.
    std::size_t candidates = 0;  // First buffer that may send through it.
    int candidate_count = 0;
    int own_from = 0;  // Candidates from here on belong to the own nodes.
    int pointer = 0, last_vc = 0;
    std::int64_t delay = 0, rate = 0, alloc = 0;
    bool link = false, node = false, connected = false, crossbar = false;
  };
  struct Card {
    std::size_t out = 0;
    std::deque<std::size_t> jobs;  // Not yet posted.
    // Queues in the order of their turns, each with its number and its jobs.
    std::deque<std::pair<std::uint32_t, std::deque<std::size_t>>> round;
    std::uint32_t packets = 0;
  };
  class View;

  // oracle_news.cpp
  struct Gazette {                                       // About the lines of one port.
    std::vector<std::pair<std::int64_t, VcMask>> ready;  // Since when.
    std::vector<LineNews> heard, said;
    std::int64_t busy = 0;
    std::size_t turn = 0;
  };
  struct Piece {  // Elements [from, to) of a line.
    int line, from, to;
  };
  struct Word {
    std::int64_t at;
    std::size_t to;
    int port;
    Piece piece;
    LineNews news;
  };
  void build_news();
  std::int64_t peer_of(std::int64_t r, int port) const;
  Line line_of(std::int64_t r, int port, int line) const;
  LineNews before_all(std::int64_t r, int port, int line, int most = Line::length_max) const;
  std::int64_t news_delay(std::int64_t speaker, int port) const;
  LineNews combine(const Line& own, VcMask ready, LineNews ahead) const;
  VcMask ready_now(std::uint32_t r, int port);
  VcMask ready_at(std::int64_t r, int port, std::int64_t time) const;
  LineNews said_at(std::int64_t r, int port, int line, std::int64_t time) const;
  LineNews all_at_once(std::uint32_t r, int port, int line);
  LineNews line_seen(std::uint32_t r, int port, int line);
  void hear();
  void tell();
  void tell_in_band(std::uint32_t r, int port);
  std::vector<std::vector<Piece>> cut_up(int port) const;
  bool say(std::uint32_t r, int port, const Piece& piece);
  void expect_word(std::uint32_t r, int port);

  void build();
  std::size_t add_buffers(int port, std::int64_t size, int packets);
  void wire(Out& out, std::size_t target, const Cabling& cable, bool through_switch, bool cabled);
  bool act_once(std::uint32_t r);
  bool route_heads(std::uint32_t r);
  void ask(std::uint32_t r, Buffer& buffer);
  bool serve(std::uint32_t r, int output, std::vector<int> in_service);
  std::vector<int> in_turn(int pointer, int own, int count) const;
  bool allocate_vcs(std::uint32_t r);
  bool serve_card(std::uint32_t r, int node);
  bool send_packet(std::uint32_t r, std::uint32_t node);
  bool post_jobs(Card& card);
  const Choice* way_to(const Buffer& buffer, int output) const;
  bool movable(std::uint32_t r, const Buffer& buffer) const;
  int pick_way(const Buffer& buffer, const Out& out, int output, const Choice*& way);
  int pick_vc(const Out& out, VcMask vcs, std::int64_t size);
  void send(std::uint32_t r, Out& out, std::size_t from, int vc, const Choice& way);
  void settle(Buffer& buffer);
  std::int64_t serialise_ps(std::int64_t size, std::int64_t rate) const;
  void at(std::int64_t time) { moments_.insert(time); }

  const Topology& topology_;
  const NetworkHardware machine_;
  const Policy& policy_;
  const bool committing_;
  const Rng bits_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<Out>> outs_;         // By router.
  std::vector<std::vector<std::size_t>> ins_;  // By router: first buffer of each crossbar input.
  std::vector<std::vector<std::int64_t>> crossbar_;
  std::vector<int> vc_pointer_;  // By router.
  std::vector<Card> cards_;
  std::vector<std::int64_t> sent_;  // By job.
  std::vector<Job> jobs_;
  std::vector<std::int64_t> missing_, arrived_;
  std::set<std::int64_t> moments_;
  std::int64_t now_ = 0;
  const Lines* lines_ = nullptr;
  std::int64_t flit_ps_ = 0;
  std::vector<std::vector<Gazette>> gazettes_;  // By router and port.
  std::vector<Word> words_;                     // On their way.
  std::uint64_t news_flits_ = 0;
};

}  // namespace weft::test
