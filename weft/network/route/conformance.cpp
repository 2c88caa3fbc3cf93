// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/conformance.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace weft {
namespace {

constexpr std::size_t errors_kept = 5;
constexpr std::int64_t buffer_bytes = 4096;

bool same(const Choices& a, const Choices& b) {
  return std::equal(a.all().begin(), a.all().end(), b.all().begin(), b.all().end(),
                    [](const Choice& x, const Choice& y) {
                      return x.port == y.port && x.escape == y.escape && x.vcs == y.vcs &&
                             x.state == y.state;
                    });
}

}  // namespace

void FakeView::cut(LinkId link) {
  const Port& port = graph_.port(link);
  if (!port.connected()) return;
  down_[link.index] = true;
  down_[graph_.link(port.peer, port.peer_port).index] = true;
  any_cut_ = true;
}

std::uint64_t FakeView::draw(int port, int vc) const {
  return rng_.at((std::uint64_t{graph_.link(here_, port).index} << 8) |
                 static_cast<std::uint64_t>(vc));
}

bool FakeView::up(int port) const {
  WEFT_CHECK(port >= 0 && static_cast<std::size_t>(port) < graph_.ports(here_).size());
  const LinkId link = graph_.link(here_, port);
  return graph_.port(link).usable() && !down_[link.index];
}

Bytes FakeView::free(int port, int vc) const {
  if (load_ == Load::full) return {0};
  if (load_ == Load::empty) return {buffer_bytes};
  // Few different values: ties must happen.
  return {static_cast<std::int64_t>(draw(port, vc) % 3) * (buffer_bytes / 2)};
}

Bytes FakeView::queued(int port) const {
  if (load_ == Load::full) return {buffer_bytes * max_vcs};
  if (load_ == Load::empty) return {0};
  return {static_cast<std::int64_t>(draw(port, max_vcs) % 5) * buffer_bytes};
}

// Short and of uneven lengths: ties must happen.
LineNews FakeView::line(int port, int line) const {
  if (load_ == Load::full) return {0, 8};
  if (load_ == Load::empty) return {~std::uint64_t{0}, 8};
  const std::uint64_t bits = draw(port, max_vcs + 1 + line);
  return {bits >> 60, static_cast<int>(bits % 4)};
}

Judge::Judge(const Topology& topology, const Policy& policy, int vcs, FakeView& view)
    : topology_(topology),
      graph_(topology.graph),
      policy_(policy),
      vcs_(vcs),
      facts_(policy.facts()),
      view_(view),
      used_free_(graph_.link_count(), 0),
      used_escape_(graph_.link_count(), 0) {
  std::size_t size = 0;
  for (std::uint32_t l = 0; l < graph_.link_count(); ++l) {
    first_.push_back(size);
    const Port& port = graph_.port(LinkId(l));
    if (port.connected()) size += graph_.ports(port.peer).size() * static_cast<std::size_t>(vcs);
  }
  waits_all_.assign(size, 0);
  waits_escape_.assign(size, 0);
  if (facts_.in_order || facts_.one_path || facts_.alike)
    ways_.resize(std::size_t{graph_.node_count()} * graph_.node_count());
}

VcMask& Judge::waits(std::vector<VcMask>& table, std::uint32_t link, int port, int vc) const {
  return table[first_[link] + static_cast<std::size_t>(port * vcs_ + vc)];
}

void Judge::fail(const Head& head, const std::string& what) {
  if (errors_.size() >= errors_kept) return;
  errors_.push_back(topology_.name + ", " + std::to_string(vcs_) + " VCs: " + what + " at " +
                    router_name(topology_, head.router) + ", node " +
                    std::to_string(pair_.source.index) + " to " +
                    std::to_string(pair_.destination.index) + ", bits " + std::to_string(bits_));
}

std::string Judge::report() const {
  std::string all;
  for (const std::string& e : errors_) all += e + "\n";
  return all;
}

void Judge::follow(NodeId source, NodeId destination, std::uint64_t bits) {
  pair_ = {source, destination};
  bits_ = bits;
  delivered_ = false;
  hops_ = 0;
  std::vector<std::vector<Head>> trail{{{.router = graph_.router_of(source), .state = bits}}};
  while (!trail.back().empty()) {
    const int hops = static_cast<int>(trail.size()) - 1;
    if (hops > facts_.hops_max)
      return fail(trail.back().front(),
                  "more than hops_max = " + std::to_string(facts_.hops_max) + " hops");
    std::vector<Head> next;
    for (const Head& head : trail.back())
      ask(head,
          {.destination = graph_.router_of(destination),
           .hops = static_cast<std::uint8_t>(std::min(hops, 255)),
           .state = head.state,
           .source_node = source,
           .destination_node = destination},
          next);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    trail.push_back(std::move(next));
  }
  hops_ = static_cast<int>(trail.size()) - 2;
  if (!ways_.empty() && !view_.any_cut()) check_path(source, destination, trail);
}

void Judge::ask(const Head& head, const Flight& flight, std::vector<Head>& next) {
  view_.stand_at(head.router);
  choices_.clear();
  again_.clear();
  policy_.next(head.router, flight, view_, choices_);
  Flight repeated = flight;
  if (!facts_.asks_source) repeated.source_node = NodeId(~flight.source_node.index);
  policy_.next(head.router, repeated, view_, again_);
  if (!same(choices_, again_)) fail(head, "asked twice, answered differently");
  if (choices_.count() > facts_.choices_max) fail(head, "more than choices_max choices");
  if (choices_.empty()) {
    if (!view_.any_cut()) fail(head, "no way");
    return;
  }
  check_escape(head);
  for (const Choice& choice : choices_.all())
    if (check_choice(head, flight, choice)) take(head, choice, next);
}

bool Judge::check_choice(const Head& head, const Flight& flight, const Choice& choice) {
  if (choice.port == Choice::eject) {
    if (head.router != flight.destination) fail(head, "ejected at the wrong router");
    if (choices_.count() != 1) fail(head, "ejection is one choice among several");
    delivered_ = true;
    return false;
  }
  if (choice.port >= graph_.ports(head.router).size()) {
    fail(head, "no port " + std::to_string(choice.port));
    return false;
  }
  if (!view_.up(choice.port)) {
    fail(head, "port " + std::to_string(choice.port) + " is down or unplugged");
    return false;
  }
  if (choice.vcs == 0 || (choice.vcs & ~vc_range(0, vcs_)) != 0) {
    fail(head, "VC mask " + std::to_string(choice.vcs) + " is empty or outside");
    return false;
  }
  return true;
}

void Judge::check_escape(const Head& head) {
  bool offered = false;
  for (const Choice& choice : choices_.all()) {
    escapes_ |= choice.escape;
    offered |= choice.escape || choice.port == Choice::eject;
    if (head.escaped && !choice.escape && choice.port != Choice::eject && left_escape_.empty())
      left_escape_ = router_name(topology_, head.router);
  }
  if (!offered && without_escape_.empty()) without_escape_ = router_name(topology_, head.router);
}

void Judge::take(const Head& head, const Choice& choice, std::vector<Head>& next) {
  const LinkId out = graph_.link(head.router, choice.port);
  (choice.escape ? used_escape_ : used_free_)[out.index] |= choice.vcs;
  if (head.link != no_link)
    for (VcMask left = head.vcs; left != 0; left &= left - 1) {
      const int vc = std::countr_zero(left);
      waits(waits_all_, head.link, choice.port, vc) |= choice.vcs;
      if (head.escaped && choice.escape)
        waits(waits_escape_, head.link, choice.port, vc) |= choice.vcs;
    }
  next.push_back({.router = graph_.port(out).peer,
                  .state = choice.state,
                  .link = out.index,
                  .vcs = choice.vcs,
                  .escaped = choice.escape});
}

void Judge::check_path(NodeId source, NodeId destination,
                       const std::vector<std::vector<Head>>& trail) {
  auto& seen = ways_[std::size_t{source.index} * graph_.node_count() + destination.index];
  const auto way = std::vector<std::vector<Head>>(trail.begin() + 1, trail.end());
  const std::string fact = facts_.alike ? "alike" : facts_.in_order ? "in_order" : "one_path";
  for (const auto& heads : way)
    if (heads.size() > 1 ||
        (facts_.in_order && heads.size() == 1 && std::popcount(heads[0].vcs) != 1))
      return fail(trail[0][0], fact + ", but several ways or VCs");
  const auto same_link = [&](const std::vector<Head>& a, const std::vector<Head>& b) {
    if (a.size() != b.size() || a.empty()) return a.size() == b.size();
    const bool same_vcs = facts_.in_order || facts_.alike;
    return a[0].link == b[0].link && (!same_vcs || a[0].vcs == b[0].vcs) &&
           (!facts_.alike || a[0].state == b[0].state);
  };
  if (seen.empty())
    seen = way;
  else if (!std::equal(seen.begin(), seen.end(), way.begin(), way.end(), same_link))
    fail(trail[0][0], fact + ", but the way depends on the packet's bits");
}

void Judge::check_escape_channels() {
  if (!without_escape_.empty())
    errors_.push_back(topology_.name + ": no escape offered at " + without_escape_);
  if (!left_escape_.empty() && !facts_.returns)
    errors_.push_back(topology_.name + ": the escape is left again at " + left_escape_);
  for (std::uint32_t l = 0; l < graph_.link_count(); ++l)
    if ((used_escape_[l] & used_free_[l]) != 0) {
      errors_.push_back(topology_.name + ": an escape channel is used by others too");
      return;
    }
}

void Judge::check_dependencies() {
  if (escapes_ && !view_.any_cut()) check_escape_channels();
  const auto cycle = find_cycle(escapes_ ? waits_escape_ : waits_all_);
  if (cycle.empty()) return;
  std::string text = topology_.name + ", " + std::to_string(vcs_) + " VCs: cycle of channels:";
  for (const std::uint32_t channel : cycle) text += " " + channel_name(channel) + " ->";
  errors_.push_back(text + " " + channel_name(cycle.front()));
}

std::string Judge::channel_name(std::uint32_t channel) const {
  const auto vcs = static_cast<std::uint32_t>(vcs_);
  const LinkId link(channel / vcs);
  return router_name(topology_, graph_.source_of(link)) + "-" +
         router_name(topology_, graph_.port(link).peer) + "/vc" + std::to_string(channel % vcs);
}

// Depth first, without recursion; the channels on the stack from the repeated one on are the cycle.
std::vector<std::uint32_t> Judge::find_cycle(std::vector<VcMask>& table) const {
  enum class Mark : std::uint8_t { fresh, open, done };
  struct Frame {
    std::uint32_t channel;
    std::size_t at = 0;  // Which (port out, vc out) to look at next.
  };
  const auto vcs = static_cast<std::uint32_t>(vcs_);
  std::vector<Mark> marks(std::size_t{graph_.link_count()} * vcs, Mark::fresh);
  std::vector<Frame> stack;
  for (std::uint32_t start = 0; start < marks.size(); ++start) {
    if (marks[start] != Mark::fresh) continue;
    stack.push_back({start});
    marks[start] = Mark::open;
    while (!stack.empty()) {
      Frame& top = stack.back();
      const std::uint32_t link = top.channel / vcs;
      const Port& port = graph_.port(LinkId(link));
      if (!port.connected() || top.at == graph_.ports(port.peer).size() * vcs) {
        marks[top.channel] = Mark::done;
        stack.pop_back();
        continue;
      }
      const int out = static_cast<int>(top.at / vcs);
      const auto out_vc = static_cast<std::uint32_t>(top.at++ % vcs);
      const VcMask mask = waits(table, link, out, static_cast<int>(top.channel % vcs));
      if (((mask >> out_vc) & 1u) == 0) continue;
      const std::uint32_t channel = graph_.link(port.peer, out).index * vcs + out_vc;
      if (marks[channel] == Mark::open) {
        std::vector<std::uint32_t> cycle;
        bool inside = false;
        for (const Frame& f : stack) {
          inside |= f.channel == channel;
          if (inside) cycle.push_back(f.channel);
        }
        return cycle;
      }
      if (marks[channel] == Mark::fresh) {
        marks[channel] = Mark::open;
        stack.push_back({channel});
      }
    }
  }
  return {};
}

}  // namespace weft
