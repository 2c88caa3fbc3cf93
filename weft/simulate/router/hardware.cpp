// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/hardware.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft {

namespace {

constexpr std::array<std::string_view, 3> arbitration_names = {"through-first", "round-robin",
                                                               "age"};
constexpr std::array<std::string_view, 2> release_names = {"tail", "head"};
constexpr std::array<std::string_view, 2> order_names = {"queue", "round-robin"};
constexpr std::array<std::string_view, 4> news_names = {"inband", "sideband", "instant", "none"};
constexpr std::array<std::string_view, 2> ready_names = {"packet", "credit"};
constexpr std::array<std::string_view, 2> packing_names = {"shared", "single"};

template <typename Enum, std::size_t n>
Result<Enum> parse_word(std::string_view text, const std::array<std::string_view, n>& names,
                        const char* what) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    return Error::input(std::string("unknown ") + what + " '" + std::string(text) + "'" +
                        suggest(text, names));
  }
  return static_cast<Enum>(found - names.begin());
}

// A key that takes one of some words.
template <typename T, std::size_t n>
Status get_word(ConfigTable& table, const char* key, const std::array<std::string_view, n>& names,
                T& out) {
  std::string word(names[static_cast<std::size_t>(out)]);
  table.get(key, word);
  const Result<T> parsed = parse_word<T>(word, names, key);
  if (!parsed) return table.error_at(key, parsed.error().message());
  out = *parsed;
  return {};
}

// One figure for the whole router: 10 ns for each of the three decisions, or an eighth of it if
// that is less, and the rest for the switch. Decisions that are given keep their time.
Status read_latency(ConfigTable& table, NetworkHardware& m) {
  const bool whole = table.has("latency");
  Duration latency;
  table.get("latency", latency);
  if (whole) m.route = m.vc_alloc = m.switch_alloc = std::min(Duration::ns(10), latency / 8);
  table.get("route", m.route);
  table.get("vc_alloc", m.vc_alloc);
  table.get("switch_alloc", m.switch_alloc);
  const Duration decisions = m.route + m.vc_alloc + m.switch_alloc;
  if (whole) m.switch_delay = std::max(latency - decisions, Duration::zero());
  table.get("switch_delay", m.switch_delay);
  const Duration sum = decisions + m.switch_delay;
  if (!whole) table.get("latency", latency = sum);  // What it was read as is forgotten.
  if (latency == sum) return {};
  return table.error_at("latency", "'latency' of " + to_text(latency) +
                                       " in [router]: its stages take " + to_text(sum) +
                                       "; leave out 'latency', or a stage");
}

// A buffer counts bytes; small packets shall not fill it by their number.
constexpr Bytes small_packet{256};

void size_buffers(NetworkHardware& m) {
  constexpr int least_packets = 8;
  m.buffer = m.packet_max() * least_packets;
  for (const CreditLoop& loop : m.credit_loops())
    m.buffer = std::max(m.buffer, m.loop_buffer(loop));
}

// Routers of their own, not parts of a computer: they serve several computers, or none.
bool has_switches(const Topology& topology) {
  const auto cards = static_cast<std::uint32_t>(topology.cards);
  for (std::uint32_t i = 0; i < topology.graph.router_count(); ++i) {
    const std::span<const NodeId> here = topology.graph.nodes_at(RouterId(i));
    if (here.empty() || here.front().index / cards != here.back().index / cards) return true;
  }
  return false;
}

// A packet that waits at an input, or leaves it for a slow link, keeps others behind it from links
// that are free. Switches have queues for each output; here a packet crosses at twice the rate to a
// buffer at its output. A router that is part of a node does so only where rates differ.
void size_output_buffers(NetworkHardware& m, bool switches) {
  const std::vector<CreditLoop> loops = m.credit_loops();
  const auto [slowest, fastest] =
      std::minmax_element(loops.begin(), loops.end(),
                          [](const CreditLoop& a, const CreditLoop& b) { return a.rate < b.rate; });
  if (slowest->rate == fastest->rate && !switches) return;
  m.output_buffer = m.buffer;
  m.switch_rate = switches ? Rate::bit_per_s(2 * fastest->rate.in_bit_per_s()) : fastest->rate;
}

Status read_router(ConfigTable table, NetworkHardware& m, BufferRule rule, bool switches) {
  table.get("vcs", m.vcs, 1, max_vcs);
  table.get("flit", m.flit);
  if (Status s = read_latency(table, m); !s) return s;
  if (rule == BufferRule::hold_loop) size_buffers(m);
  table.get("buffer", m.buffer);
  if (rule == BufferRule::hold_loop) size_output_buffers(m, switches);
  table.get("output_buffer", m.output_buffer);
  if (rule == BufferRule::hold_loop)
    m.packets_per_buffer =
        static_cast<int>(std::clamp<std::int64_t>(m.buffer_size() / small_packet, 1, 4096));
  table.get("packets_per_buffer", m.packets_per_buffer, 0, 4096);
  table.get("switch_rate", m.switch_rate);
  table.get("lookahead", m.lookahead);
  table.get("commit", m.commit);
  if (Status s = get_word(table, "arbitration", arbitration_names, m.arbitration); !s) return s;
  if (Status s = get_word(table, "release", release_names, m.release); !s) return s;
  if (Status s = table.finish(); !s) return s;
  // Others count in flits.
  if (m.flit.count >= 1) return {};
  return table.error_at("flit", "'flit' in [router] must be at least 1 B");
}

Status read_news(ConfigTable table, NewsPlane& news) {
  table.get("hop", news.hop);
  table.get("bits", news.bits, 1, 4096);
  if (Status s = get_word(table, "mode", news_names, news.mode); !s) return s;
  if (Status s = get_word(table, "ready", ready_names, news.any_credit); !s) return s;
  if (Status s = get_word(table, "packing", packing_names, news.one_line); !s) return s;
  return table.finish();
}

// Light in glass and signals in copper take 5 ns a metre.
constexpr std::int64_t ps_per_mm = 5;

// A credit takes as long as the packet, unless the description says otherwise.
Status read_delay(ConfigTable& table, Cabling& cable) {
  if (table.has("delay")) cable.length = {};
  table.get("length", cable.length);
  const bool measured = table.has("length") && cable.length.mm > 0;
  const Duration by_length = Duration::ps(cable.length.mm * ps_per_mm);
  if (measured) cable.delay = by_length;
  table.get("delay", cable.delay);
  if (measured && cable.delay != by_length)
    return table.error_at("length", "a 'length' of " + to_text(cable.length) + " is a delay of " +
                                        to_text(by_length) + " (5 ns a metre), but 'delay' says " +
                                        to_text(cable.delay) + "; leave out one of them");
  if (table.has("delay") || measured) cable.credit_delay = cable.delay;
  table.get("credit_delay", cable.credit_delay);
  return {};
}

// Buffers follow from rates and packets, so these are checked as they are read.
Status read_rate(ConfigTable& table, Rate& rate) {
  table.get("rate", rate);
  if (table.has("rate") && rate <= Rate())
    return table.error_at("rate", "the rate must be more than zero");
  return {};
}

Status read_cabling(ConfigTable table, Cabling& cable) {
  if (Status s = read_rate(table, cable.rate); !s) return s;
  if (Status s = read_delay(table, cable); !s) return s;
  return table.finish();
}

// Reads the table of one class, or of cables that are a class of their own. Keys that it leaves out
// are as in [link], or as in the class that the cables were taken from.
Status read_class(const Config& config, const std::string& name, std::size_t link_class,
                  const Topology& topology, NetworkHardware& m) {
  Cabling cable = m.cabling(topology.graph.link_classes()[topology.graph.base_class(link_class)]);
  if (Status s = read_cabling(config.table(Config::path("link", name)), cable); !s) return s;
  m.link_class[name] = cable;
  return {};
}

Status read_links(const Config& config, const Topology& topology, NetworkHardware& m) {
  if (Status s = read_cabling(config.table("link"), m.link); !s) return s;
  const std::vector<std::string>& classes = topology.graph.link_classes();
  for (const std::string& name : config.subtables("link")) {
    if (std::find(classes.begin(), classes.end(), name) != classes.end()) continue;
    const std::vector<std::string_view> known(classes.begin(), classes.end());
    return config.table(Config::path("link", name))
        .error_at("", "this network has no cables of class '" + name + "'" + suggest(name, known));
  }
  // Classes that others are taken from stand before these.
  for (std::size_t c = 0; c < classes.size(); ++c)
    if (config.has_table(Config::path("link", classes[c])))
      if (Status s = read_class(config, classes[c], c, topology, m); !s) return s;
  return {};
}

Status read_card(ConfigTable table, NetworkHardware& m) {
  table.get("inject_rate", m.inject_rate);
  table.get("eject_rate", m.eject_rate);
  m.node_link.rate = std::max({m.link.rate, m.inject_rate, m.eject_rate});
  if (Status s = read_rate(table, m.node_link.rate); !s) return s;
  table.get("inject_delay", m.inject_delay);
  table.get("eject_delay", m.eject_delay);
  if (Status s = get_word(table, "order", order_names, m.order); !s) return s;
  if (Status s = read_delay(table, m.node_link); !s) return s;
  return table.finish();
}

// Flits go one after the other; a wide intermediate keeps large rates exact.
Rate bytes_per(Bytes size, Duration time) {
  const auto bits = static_cast<detail::Wide>(size.count) * 8 * 1'000'000'000'000;
  return Rate::bit_per_s(static_cast<std::int64_t>(
      std::min<detail::Wide>(bits / std::max<std::int64_t>(time.in_ps(), 1), INT64_MAX)));
}

}  // namespace

namespace {

// From the head's leaving the switch before a link to its space behind the link being free.
Duration behind_switch(const NetworkHardware& m, const Cabling& cable) {
  const Bytes leaving =
      m.release == Release::tail ? m.packet_max() : std::min(m.flit, m.packet_max());
  return cable.delay + m.route + m.vc_alloc + serialise(leaving, cable.rate) + m.switch_alloc +
         cable.credit_delay;
}

Duration before_switch(const NetworkHardware& m) {
  return m.vc_alloc + m.switch_alloc + m.switch_delay;
}

}  // namespace

Bytes NetworkHardware::flowing(const Cabling& cable) const {
  const Duration loop = before_switch(*this) + behind_switch(*this, cable);
  const auto bit_ps = static_cast<detail::Wide>(cable.rate.in_bit_per_s()) * loop.in_ps();
  return Bytes{static_cast<std::int64_t>(bit_ps / 8'000'000'000'000)};
}

std::vector<CreditLoop> NetworkHardware::credit_loops() const {
  const Duration before = before_switch(*this);
  // A node counts a packet when all of it is there.
  const Duration into_node =
      before + node_link.delay + serialise(packet_max(), node_link.rate) + node_link.credit_delay;
  std::vector<CreditLoop> all = {
      {"link", link.rate, before + behind_switch(*this, link)},
      {"nic", node_link.rate, inject_delay + behind_switch(*this, node_link)},
      {"nic", node_link.rate, into_node}};
  for (const auto& [name, cable] : link_class)
    all.push_back({"link." + name, cable.rate, before + behind_switch(*this, cable)});
  return all;
}

Rate NetworkHardware::vc_rate(const CreditLoop& loop) const {
  std::int64_t packets = std::max<std::int64_t>(1, buffer_size() / packet_max());
  if (packets_per_buffer > 0) packets = std::min<std::int64_t>(packets, packets_per_buffer);
  return std::min(loop.rate, bytes_per(packet_max() * packets, loop.time));
}

Bytes NetworkHardware::loop_buffer(const CreditLoop& loop) const {
  // Values may be out of range here; check_hardware() refuses them, and buffers above 2 GiB.
  const Bytes packet = std::max(packet_max(), Bytes{1});
  const std::int64_t one = std::max<std::int64_t>(serialise(packet, loop.rate).in_ps(), 1);
  const std::int64_t packets = loop.time.in_ps() / one + (loop.time.in_ps() % one > 0 ? 1 : 0);
  return packet * std::clamp<std::int64_t>(packets, 0, INT32_MAX / packet.count + 1);
}

Result<Arbitration> parse_arbitration(std::string_view text) {
  return parse_word<Arbitration>(text, arbitration_names, "arbitration");
}

Result<Release> parse_release(std::string_view text) {
  return parse_word<Release>(text, release_names, "release");
}

Result<SendOrder> parse_send_order(std::string_view text) {
  return parse_word<SendOrder>(text, order_names, "order");
}

const char* to_text(SendOrder order) {
  return order_names[static_cast<std::size_t>(order)].data();
}

const char* to_text(Arbitration a) {
  return arbitration_names[static_cast<std::size_t>(a)].data();
}

Status read_hardware(const Config& config, const Topology& topology, NetworkHardware& machine,
                     BufferRule rule) {
  ConfigTable packet = config.table("packet");
  packet.get("mtu", machine.mtu);
  packet.get("header", machine.header);
  if (Status s = packet.finish(); !s) return s;
  if (machine.mtu.count < 1) return packet.error_at("mtu", "packet.mtu must be at least 1 B");
  if (Status s = read_links(config, topology, machine); !s) return s;
  if (Status s = read_card(config.table("nic"), machine); !s) return s;
  if (Status s = read_router(config.table("router"), machine, rule, has_switches(topology)); !s)
    return s;
  return read_news(config.table("news"), machine.news);
}

Status check_hardware_in(const Config& config, const NetworkHardware& m) {
  Status status = check_hardware(m);
  if (status) return status;
  const std::string& text = status.error().message();
  for (const auto& [table, key] : {std::pair{"router", "buffer"},
                                   {"router", "output_buffer"},
                                   {"router", "flit"},
                                   {"router", "vcs"},
                                   {"packet", "mtu"},
                                   {"link", "rate"},
                                   {"link", "delay"},
                                   {"link", "credit_delay"},
                                   {"router", "packets_per_buffer"},
                                   {"news", "hop"}}) {
    if (text.rfind(std::string(table) + "." + key, 0) != 0) continue;
    return config.table(table).error_at(key, text);
  }
  return status;
}

// Messages begin with the key that is to be changed.
Status check_hardware(const NetworkHardware& m) {
  const auto bad = [](const std::string& text) { return Error::input(text); };
  if (m.vcs < 1 || m.vcs > max_vcs)
    return bad("router.vcs must be 1 to " + std::to_string(max_vcs));
  if (m.flit.count < 1) return bad("router.flit must be at least 1 B");
  if (m.mtu.count < 1) return bad("packet.mtu must be at least 1 B");
  if (m.header.count < 0 || m.packet_max().count > detail::packet_size_max) {
    return bad("packet.mtu and header together must not exceed " +
               to_text(Bytes{detail::packet_size_max}));
  }
  if (m.buffer_size() < m.packet_max()) {
    return bad("router.buffer of " + to_text(m.buffer) + " is smaller than one packet of " +
               to_text(m.packet_max()) + "; virtual cut-through needs room for a whole packet");
  }
  if (m.output_buffer.count > 0 && m.output_buffer < m.packet_max()) {
    return bad("router.output_buffer of " + to_text(m.output_buffer) +
               " is smaller than one packet of " + to_text(m.packet_max()) +
               "; leave it out or enlarge it");
  }
  for (const auto& [key, size] : {std::pair("router.buffer", m.buffer_size()),
                                  std::pair("router.output_buffer", m.output_buffer)}) {
    if (size.count > INT32_MAX) return bad(std::string(key) + " must be less than 2 GiB");
    if (size / m.packet_max() > 16384)
      return bad(std::string(key) +
                 " holds more than 16384 packets; make it smaller or packets larger");
  }
  std::vector<Cabling> cables = {m.link, m.node_link};
  for (const auto& [name, cable] : m.link_class) cables.push_back(cable);
  for (const Cabling& cable : cables) {
    if (cable.rate.in_bit_per_s() <= 0) return bad("link.rate must be more than zero");
    // Packets keep the time between head and tail in 32 bits.
    if (serialise(m.packet_max(), cable.rate) > Duration::ms(4)) {
      return bad("link.rate of " + to_text(cable.rate) +
                 " takes over 4 ms for a packet; make packet.mtu smaller");
    }
    if (cable.delay <= Duration::zero() || cable.delay > Duration::ms(1)) {
      return bad(
          "link.delay must be more than zero and at most 1 ms: routers are simulated side by side "
          "for that long");
    }
    if (m.switch_alloc + cable.credit_delay <= Duration::zero() ||
        cable.credit_delay > Duration::ms(1)) {
      return bad("link.credit_delay must be more than zero and at most 1 ms");
    }
  }
  if (m.news.hop < Duration::zero() || m.news.hop > Duration::ms(1))
    return bad("news.hop must be from 0 (as switch and cable) to 1 ms");
  for (const Duration d :
       {m.route, m.vc_alloc, m.switch_alloc, m.switch_delay, m.inject_delay, m.eject_delay}) {
    if (d < Duration::zero() || d > Duration::ms(1))
      return bad("router delays must be between 0 and 1 ms");
  }
  return {};
}

}  // namespace weft
