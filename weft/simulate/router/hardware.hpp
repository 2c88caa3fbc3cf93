// SPDX-License-Identifier: Apache-2.0
// The hardware of a simulated network, in physical units: routers, cables, network cards. Says how
// things are, not how they are computed.
//
// A packet's way through a router: its head arrives; route computation, VC allocation, switch
// allocation and the switch take their delays
// (`route`, `vc_alloc` before it competes for an output, `switch_alloc`, `switch_delay` after it
// has won), then the cable. Body flits follow at the rate of the slowest part so far. Virtual
// cut-through: a packet wins an output only when the next buffer has room for all of it.
#pragma once  // Public, for simulations: stays within 0.1; added fields have defaults.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

enum class Arbitration {
  through_first,  // Round robin, but packets already in the network go before new ones. Keeps
                  // saturated rings from starving.
  round_robin,
  age,  // The packet that was born first.
};

// When does the space of a departing packet count as free?
enum class Release {
  tail,  // When all of it has left: whole-packet credits (virtual cut-through in the strict sense).
  head,  // While it leaves, flit by flit: a successor may follow as closely as the rates allow
         // without ever running into it.
};

// In which order a card works on the messages that it has to send.
enum class SendOrder {
  queue,        // As posted, one whole message after the other, as cards with a single queue do.
  round_robin,  // A packet for each destination in turn, as cards with a queue pair for each do.
};

// How routers tell each other what a policy wants to know of the lines ahead (route/lines.hpp).
enum class NewsMode {
  inband,    // As packets of one flit on cables that no data wants.
  sideband,  // On wires of their own: no waiting, no cost.
  instant,   // All along the line within a flit time. No machine can; it shows what more there is.
  none,      // Not at all: a router sees its own outputs only.
};

struct NewsPlane {
  NewsMode mode = NewsMode::inband;
  Duration hop;             // From router to router; zero: as the switch and the cable.
  int bits = 64;            // That a flit carries.
  bool any_credit = false;  // A VC is ready when it has room for a flit; else for a whole packet.
  bool one_line = false;    // No two lines share a flit.
};

struct Cabling {
  Rate rate = Rate::gbyte_per_s(8);
  Duration delay = Duration::ns(1);  // From leaving the switch to being usable at the next one.
  Duration credit_delay = Duration::ns(1);  // A credit's way back.
  Length length = {};                       // 0: not known. If given, `delay` follows from it.
};

// How long it takes, on an idle network, from sending a packet into a link to using its space in
// the buffer behind it again.
struct CreditLoop {
  std::string table;  // That describes the link: "link", "link.global", "nic".
  Rate rate;
  Duration time;
};

// A rate of 0 is no limit.
inline Rate slower(Rate a, Rate b) {
  if (a == Rate()) return b;
  if (b == Rate()) return a;
  return std::min(a, b);
}

// The defaults are the four-stage router of textbooks: 8-byte flits, one per 1-ns cycle, every
// stage and cable one cycle.
struct NetworkHardware {
  // Router
  int vcs = 1;
  Bytes flit{8};
  Bytes buffer{0};  // Per input and VC; 0: one packet of the largest size.
  Bytes output_buffer{
      0};  // Per output and VC; 0: none, packets go from the input buffer straight to the cable.
  int packets_per_buffer =
      0;  // However small they are, no more packets than this; 0: as many of the largest as fit.
  Duration route = Duration::ns(1);
  Duration vc_alloc = Duration::ns(1);
  Duration switch_alloc = Duration::ns(1);
  Duration switch_delay = Duration::ns(1);
  Rate switch_rate;  // Through the crossbar, per input and per output; 0: as fast as the cable.
  Arbitration arbitration = Arbitration::through_first;
  // true: a waiting packet is routed and finds its VC while the one before it leaves. false: only
  // then does it begin.
  bool lookahead = false;
  Release release = Release::tail;
  // Where routing leaves a choice. true: a packet takes the first VC that is free, and keeps to it
  // while it waits for the switch, as in routers that allocate VCs first. false: it goes wherever
  // it can move first.
  bool commit = true;

  NewsPlane news;

  Cabling link;
  std::map<std::string, Cabling> link_class;  // Where a class of cables ("global") differs.

  // Network card
  Rate inject_rate, eject_rate;             // 0: as fast as the cable.
  Duration inject_delay = Duration::ns(1);  // Before a packet enters its cable to the router.
  Duration eject_delay = Duration::zero();  // After the tail has left the cable.
  SendOrder order = SendOrder::queue;
  Cabling node_link;  // Between card and router.

  // Packets
  Bytes mtu{256};   // Payload of the largest packet.
  Bytes header{0};  // Added to each packet on the wire.

  // What the link between card and router carries: its own rate, or what the card sends or takes if
  // that is less.
  Rate injection_rate() const { return slower(inject_rate, node_link.rate); }
  Rate ejection_rate() const { return slower(eject_rate, node_link.rate); }

  const Cabling& cabling(const std::string& name) const {
    const auto own = link_class.find(name);
    return own == link_class.end() ? link : own->second;
  }
  Bytes packet_max() const { return mtu + header; }
  Bytes buffer_size() const { return buffer.count > 0 ? buffer : packet_max(); }
  // What a link between routers has under way at its full rate until credits are back.
  Bytes flowing(const Cabling& cable) const;
  // Of links between routers, by class, and of the one to a node.
  std::vector<CreditLoop> credit_loops() const;
  // What one VC of a link can carry: a buffer full per credit loop, at most the link's rate.
  Rate vc_rate(const CreditLoop& loop) const;
  // The smallest buffer of whole packets that lets one VC fill the link.
  Bytes loop_buffer(const CreditLoop& loop) const;
};

// What becomes of buffers that a description does not give.
enum class BufferRule {
  as_set,     // They stay as they are.
  hold_loop,  // They hold what is under way until a credit returns.
};

// Fills `machine` from the tables [router], [news], [link], [link.CLASS], [nic] and [packet] of a
// network file. Keys not given stay as they are. Whether the values fit together is for
// check_hardware_in, as a caller may still change some.
Status read_hardware(const Config& config, const Topology& topology, NetworkHardware& machine,
                     BufferRule rule = BufferRule::as_set);

// What cannot be: a buffer smaller than a packet, no delay on a cable (no lookahead), too many VCs,
// ...
Status check_hardware(const NetworkHardware& machine);
// The same; the error names the line of the file that is to be changed.
Status check_hardware_in(const Config& config, const NetworkHardware& machine);

Result<Arbitration> parse_arbitration(std::string_view text);
Result<Release> parse_release(std::string_view text);
Result<SendOrder> parse_send_order(std::string_view text);
const char* to_text(Arbitration a);
const char* to_text(SendOrder order);

}  // namespace weft
