// SPDX-License-Identifier: Apache-2.0
#include "tests/cross/flits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/base/check.hpp>

namespace weft::test {

namespace {

constexpr int none = -1;
constexpr int flit_delay = 3;    // From the switch's allotment to the next router.
constexpr int credit_delay = 2;  // The way back.

struct Packet {
  std::uint32_t to = 0;
  std::int64_t born = 0;
  Flight flight;
  bool measured = false;
  std::size_t send = 0;  // Its place among given sends.
};

struct Flit {
  std::uint32_t packet = 0;
  bool head = false, tail = false;
};

struct InputVc {
  enum class State : std::uint8_t { idle, wants_vc, active };
  std::deque<Flit> flits;
  State state = State::idle;
  std::int64_t next_at = 0;  // Its next stage.
  int port = none, vc = none;
  Choices choices;
};

struct OutputVc {
  int credits = 0;
  bool taken = false, tail_sent = false;
};

// iSLIP of one iteration over few requests.
class Islip {
 public:
  Islip(std::size_t inputs, std::size_t outputs) : grant_(outputs, 0), accept_(inputs, 0) {}

  void request(std::size_t input, std::size_t output) { requests_.push_back({input, output}); }

  // Calls match(input, output) for each pair.
  template <typename Match>
  void allot(Match&& match) {
    const std::size_t inputs = accept_.size(), outputs = grant_.size();
    std::vector<std::size_t> granted(outputs, inputs), accepted(inputs, outputs);
    const auto turn = [](std::size_t at, std::size_t pointer, std::size_t count) {
      return (at + count - pointer) % count;
    };
    for (const auto& [input, output] : requests_) {
      const std::size_t pointer = grant_[output];
      std::size_t& best = granted[output];
      if (best == inputs || turn(input, pointer, inputs) < turn(best, pointer, inputs))
        best = input;
    }
    for (std::size_t output = 0; output < outputs; ++output) {
      const std::size_t input = granted[output];
      if (input == inputs) continue;
      const std::size_t pointer = accept_[input];
      std::size_t& best = accepted[input];
      if (best == outputs || turn(output, pointer, outputs) < turn(best, pointer, outputs))
        best = output;
    }
    for (std::size_t input = 0; input < inputs; ++input) {
      const std::size_t output = accepted[input];
      if (output == outputs) continue;
      grant_[output] = (input + 1) % inputs;
      accept_[input] = (output + 1) % outputs;
      match(input, output);
    }
    requests_.clear();
  }

 private:
  struct Request {
    std::size_t input, output;
  };
  std::vector<std::size_t> grant_, accept_;  // Pointers.
  std::vector<Request> requests_;
};

// With its node's end of the cable: port `ports` is the node.
struct Router {
  Router(std::size_t ends, std::size_t vcs)
      : inputs(ends * vcs),
        outputs(ends * vcs),
        vc_turn(ends, 0),
        held(ends, none),
        vc_allocator(ends * vcs, ends * vcs),
        switch_allocator(ends, ends) {}
  std::vector<InputVc> inputs;
  std::vector<OutputVc> outputs;
  std::vector<int> vc_turn;  // By input port.
  std::vector<int> held;     // By input port: the VC that keeps the switch.
  Islip vc_allocator, switch_allocator;
};

struct Source {
  std::deque<std::uint32_t> waiting;
  int sent = 0;         // Flits of the first.
  int vc = 0;           // That of the last packet,
  bool has_vc = false;  // or already of the next one.
  std::vector<OutputVc> vcs;
};

// All that is on its way arrives within a few cycles.
struct Arrival {
  std::uint32_t router = 0;
  int port = 0, vc = 0;
  Flit flit;
};

class NoPorts final : public PortView {
 public:
  bool up(int) const override { return true; }
  Bytes free(int, int) const override { return {}; }
  Bytes queued(int) const override { return {}; }
};

class Flits {
 public:
  Flits(const Scenario& scenario, const FlitRouter& shape, const FlitRun& run)
      : scenario_(scenario), shape_(shape), run_(run), graph_(scenario.topology->graph) {
    WEFT_CHECK(!scenario.policy->facts().looks && graph_.node_count() == graph_.router_count());
    ports_ = static_cast<int>(graph_.ports(RouterId(0)).size());
    const auto vcs = static_cast<std::size_t>(shape.vcs);
    for (std::uint32_t r = 0; r < graph_.router_count(); ++r) {
      routers_.emplace_back(static_cast<std::size_t>(ports_) + 1, vcs);
      for (OutputVc& out : routers_.back().outputs) out.credits = shape.buffer;
      sources_.emplace_back().vcs.resize(vcs);
      for (OutputVc& out : sources_.back().vcs) out.credits = shape.buffer;
      draws_.push_back(Rng(run.seed).stream("births", r));
    }
  }

  FlitResult result() {
    const std::int64_t end = run_.warmup + run_.measure;
    const std::int64_t patience = end + 20 * run_.measure;
    for (now_ = 0; now_ < end || open_ > 0; ++now_) {
      step(now_ < patience);
      const bool hopeless = run_.latency_limit > 0 && now_ > end &&
                            static_cast<double>(now_ - end) > 10 * run_.latency_limit;
      if (now_ >= patience || hopeless)
        return {std::numeric_limits<double>::infinity(), accepted()};
    }
    return {latency_ / static_cast<double>(ended_), accepted()};
  }

  std::vector<std::int64_t> arrivals(const std::vector<FlitSend>& sends) {
    ends_at_.assign(sends.size(), 0);
    open_ = static_cast<std::int64_t>(sends.size());
    std::size_t next = 0;
    for (now_ = 0; open_ > 0; ++now_) {
      take_arrivals();
      for (; next < sends.size() && sends[next].at == now_; ++next) {
        Packet packet = packet_to(sends[next].from, sends[next].to, sends[next].bits);
        packet.measured = true;
        packet.send = next;
        post(sends[next].from, packet);
      }
      for (std::uint32_t n = 0; n < sources_.size(); ++n) inject(n);
      work();
    }
    return ends_at_;
  }

 private:
  std::size_t at(int port, int vc) const {
    return static_cast<std::size_t>(port * shape_.vcs + vc);
  }
  double accepted() const {
    return static_cast<double>(taken_) / static_cast<double>(run_.measure) /
           static_cast<double>(graph_.node_count());
  }
  bool measuring() const { return now_ >= run_.warmup && now_ < run_.warmup + run_.measure; }
  template <typename T>
  std::vector<T>& due(std::array<std::vector<T>, 4>& all, int later) {
    return all[static_cast<std::size_t>(now_ + later) % all.size()];
  }

  void take_arrivals() {
    for (const Arrival& a : due(credits_, 0)) take_credit(a);
    due(credits_, 0).clear();
    for (const Arrival& a : due(flits_, 0)) take_flit(a);
    due(flits_, 0).clear();
  }

  void step(bool born) {
    take_arrivals();
    for (std::uint32_t n = 0; n < sources_.size(); ++n) {
      if (born) give_birth(n);
      inject(n);
    }
    work();
  }

  void work() {
    for (std::uint32_t r = 0; r < routers_.size(); ++r) {
      allot_vcs(r);
      allot_switch(r);
      route(r);
    }
  }

  void give_birth(std::uint32_t node) {
    Rng& rng = draws_[node];
    const double chance = run_.load / shape_.packet;
    if (static_cast<double>(rng.next() >> 11) * 0x1p-53 >= chance) return;
    const std::uint32_t to = scenario_.pattern->destination(NodeId(node), rng).index;
    Packet packet = packet_to(node, to, rng.next());
    packet.measured = measuring();
    open_ += packet.measured ? 1 : 0;
    post(node, packet);
  }

  Packet packet_to(std::uint32_t node, std::uint32_t to, std::uint64_t bits) const {
    Packet packet;
    packet.to = to;
    packet.born = now_;
    packet.flight.destination = graph_.router_of(NodeId(to));
    packet.flight.destination_node = NodeId(to);
    packet.flight.source_node = NodeId(node);
    packet.flight.state = bits;
    return packet;
  }

  void post(std::uint32_t node, const Packet& packet) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(packets_.size()));
      packets_.emplace_back();
    }
    packets_[free_.back()] = packet;
    sources_[node].waiting.push_back(free_.back());
    free_.pop_back();
  }

  // A node's VC is the next one in turn that is free.
  void inject(std::uint32_t node) {
    Source& source = sources_[node];
    if (source.waiting.empty()) return;
    if (!source.has_vc) {
      int found = none;
      for (int i = 1; i <= shape_.vcs && found == none; ++i) {
        const int vc = (source.vc + i) % shape_.vcs;
        if (!source.vcs[static_cast<std::size_t>(vc)].taken) found = vc;
      }
      if (found == none) return;
      source.vc = found;
      source.has_vc = true;
      source.vcs[static_cast<std::size_t>(found)].taken = true;
    }
    OutputVc& out = source.vcs[static_cast<std::size_t>(source.vc)];
    if (out.credits == 0) return;
    const bool tail = source.sent + 1 == shape_.packet;
    const Flit flit{source.waiting.front(), source.sent == 0, tail};
    send(out, tail);
    due(flits_, 1).push_back({graph_.router_of(NodeId(node)).index, ports_, source.vc, flit});
    ++source.sent;
    if (!tail) return;
    source.sent = 0;
    source.has_vc = false;
    source.waiting.pop_front();
  }

  void send(OutputVc& out, bool tail) const {
    --out.credits;
    if (!tail) return;
    out.tail_sent = true;
    if (!shape_.wait_for_tail) out.taken = out.tail_sent = false;
  }

  void take_credit(const Arrival& a) {
    OutputVc& out = a.port == none ? sources_[a.router].vcs[static_cast<std::size_t>(a.vc)]
                                   : routers_[a.router].outputs[at(a.port, a.vc)];
    ++out.credits;
    if (out.tail_sent && out.credits == shape_.buffer) out.taken = out.tail_sent = false;
  }

  void take_flit(const Arrival& a) {
    if (a.port != none) {
      routers_[a.router].inputs[at(a.port, a.vc)].flits.push_back(a.flit);
      return;
    }
    // The node: its room is free again at once.
    due(credits_, 1).push_back({a.router, ports_, a.vc, {}});
    if (measuring()) ++taken_;
    if (!a.flit.tail) return;
    const Packet& packet = packets_[a.flit.packet];
    if (packet.measured) {
      --open_;
      ++ended_;
      latency_ += static_cast<double>(now_ - packet.born + 1);
      if (!ends_at_.empty()) ends_at_[packet.send] = now_;
    }
    free_.push_back(a.flit.packet);
  }

  void route(std::uint32_t r) {
    for (InputVc& in : routers_[r].inputs) {
      if (in.state != InputVc::State::idle || in.flits.empty() || in.next_at > now_) continue;
      const Packet& packet = packets_[in.flits.front().packet];
      in.choices.clear();
      scenario_.policy->next(RouterId(r), packet.flight, NoPorts(), in.choices);
      in.state = InputVc::State::wants_vc;
      in.next_at = now_ + 1;
    }
  }

  int port_of(const Choice& choice) const {
    return choice.port == Choice::eject ? ports_ : static_cast<int>(choice.port);
  }

  void allot_vcs(std::uint32_t r) {
    Router& router = routers_[r];
    for (std::size_t i = 0; i < router.inputs.size(); ++i) {
      const InputVc& in = router.inputs[i];
      if (in.state != InputVc::State::wants_vc || in.next_at > now_) continue;
      for (const Choice& choice : in.choices.all()) {
        for (int vc = 0; vc < shape_.vcs; ++vc) {
          const std::size_t out = at(port_of(choice), vc);
          if (((choice.vcs >> vc) & 1) != 0 && !router.outputs[out].taken)
            router.vc_allocator.request(i, out);
        }
      }
    }
    router.vc_allocator.allot([&](std::size_t input, std::size_t output) {
      InputVc& in = router.inputs[input];
      router.outputs[output].taken = true;
      in.port = static_cast<int>(output) / shape_.vcs;
      in.vc = static_cast<int>(output) % shape_.vcs;
      in.state = InputVc::State::active;
      in.next_at = now_ + 1;
      Flight& flight = packets_[in.flits.front().packet].flight;
      for (const Choice& choice : in.choices.all()) {
        if (port_of(choice) == in.port && ((choice.vcs >> in.vc) & 1) != 0) {
          flight.state = choice.state;
          break;
        }
      }
      flight.hops = static_cast<std::uint8_t>(std::min(255, flight.hops + 1));
    });
  }

  bool ready(const Router& router, const InputVc& in) const {
    return in.state == InputVc::State::active && in.next_at <= now_ && !in.flits.empty() &&
           router.outputs[at(in.port, in.vc)].credits > 0;
  }

  // Of VCs that want the same way from one input, the first in turn asks.
  void allot_switch(std::uint32_t r) {
    Router& router = routers_[r];
    const auto ends = static_cast<std::size_t>(ports_ + 1);
    std::vector<int> asks(ends * ends, none);
    for (int port = 0; port <= ports_; ++port) {
      const auto p = static_cast<std::size_t>(port);
      for (int i = 0; i < shape_.vcs; ++i) {
        const int vc =
            router.held[p] != none ? router.held[p] : (router.vc_turn[p] + i) % shape_.vcs;
        const InputVc& in = router.inputs[at(port, vc)];
        if (!ready(router, in)) continue;
        int& asked = asks[p * ends + static_cast<std::size_t>(in.port)];
        if (asked != none || is_held(router, in.port, port)) continue;
        asked = vc;
        router.switch_allocator.request(p, static_cast<std::size_t>(in.port));
      }
    }
    router.switch_allocator.allot([&](std::size_t input, std::size_t output) {
      pass(r, static_cast<int>(input), asks[input * ends + output]);
    });
  }

  // By a packet from another port.
  bool is_held(const Router& router, int output, int by) const {
    if (!shape_.hold_switch) return false;
    for (int port = 0; port <= ports_; ++port) {
      const int vc = router.held[static_cast<std::size_t>(port)];
      if (port != by && vc != none && router.inputs[at(port, vc)].port == output) return true;
    }
    return false;
  }

  void pass(std::uint32_t r, int port, int vc) {
    Router& router = routers_[r];
    InputVc& in = router.inputs[at(port, vc)];
    const Flit flit = in.flits.front();
    in.flits.pop_front();
    router.vc_turn[static_cast<std::size_t>(port)] = (vc + 1) % shape_.vcs;
    OutputVc& out = router.outputs[at(in.port, in.vc)];
    send(out, flit.tail);
    // A packet that lacks flits or credits gives the switch up, so that others use the link.
    const bool goes_on = !flit.tail && !in.flits.empty() && out.credits > 0;
    router.held[static_cast<std::size_t>(port)] = shape_.hold_switch && goes_on ? vc : none;
    if (in.port == ports_) {
      due(flits_, flit_delay).push_back({r, none, in.vc, flit});
    } else {
      const Port& cable = graph_.ports(RouterId(r))[static_cast<std::size_t>(in.port)];
      due(flits_, flit_delay).push_back({cable.peer.index, cable.peer_port, in.vc, flit});
    }
    if (port == ports_) {
      due(credits_, credit_delay).push_back({r, none, vc, {}});
    } else {
      const Port& cable = graph_.ports(RouterId(r))[static_cast<std::size_t>(port)];
      due(credits_, credit_delay).push_back({cable.peer.index, cable.peer_port, vc, {}});
    }
    if (!flit.tail) return;
    in.state = InputVc::State::idle;
    in.next_at = now_ + 1;
  }

  const Scenario& scenario_;
  const FlitRouter shape_;
  const FlitRun run_;
  const Graph& graph_;
  int ports_ = 0;
  std::int64_t now_ = 0;
  std::vector<Router> routers_;
  std::vector<Source> sources_;  // Of the node at that router.
  std::vector<Rng> draws_;
  std::deque<Packet> packets_;
  std::vector<std::uint32_t> free_;
  std::array<std::vector<Arrival>, 4> flits_, credits_;
  std::int64_t open_ = 0, ended_ = 0, taken_ = 0;
  std::vector<std::int64_t> ends_at_;  // Of given sends.
  double latency_ = 0;
};

}  // namespace

FlitResult run_flits(const Scenario& scenario, const FlitRouter& router, const FlitRun& run) {
  return Flits(scenario, router, run).result();
}

std::vector<std::int64_t> run_flit_sends(const Scenario& scenario, const FlitRouter& router,
                                         const std::vector<FlitSend>& sends) {
  return Flits(scenario, router, {}).arrivals(sends);
}

}  // namespace weft::test
