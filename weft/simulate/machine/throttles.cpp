// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/machine/throttles.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/network/route/cables_down.hpp>

namespace weft {
namespace {

// What is this near to the whole rate is not held back.
constexpr double near_enough = 0.95;

bool holds_back(Rate slow, Rate fast) {
  return slow != Rate() && slow.in_byte_per_s() < near_enough * fast.in_byte_per_s();
}

std::string share(Rate slow, Rate fast) {
  return fmt::format("{:.2g} %", 100 * slow.in_byte_per_s() / fast.in_byte_per_s());
}

std::string as_bytes(Rate rate) {
  const double bytes = rate.in_byte_per_s();
  return bytes >= 1e9 ? fmt::format("{:.3g} GB/s", bytes / 1e9)
                      : fmt::format("{:.3g} MB/s", bytes / 1e6);
}

class Throttles {
 public:
  Throttles(const Config& config, const MachineDescription& machine)
      : config_(config), hardware_(machine.hardware), node_(machine.node) {}

  void look_at_routing(const MachineDescription& machine) {
    std::string line = explain_other_routing(
        *machine.topology,
        {machine.routing, machine.routing_given, machine.hardware.vcs, machine.vcs_given});
    if (!line.empty()) lines_.push_back(std::move(line));
  }
  void look_at_network() {
    buffers();
    crossbar();
    card();
    inputs();
  }
  void look_at_nodes() {
    bus();
    far_memory();
    memory();
  }
  std::vector<std::string> lines() && { return std::move(lines_); }

 private:
  using Keys = std::initializer_list<std::pair<const char*, const char*>>;
  bool any_given(Keys keys) const {
    return std::any_of(keys.begin(), keys.end(), [this](const auto& key) {
      return config_.table(key.first).has(key.second);
    });
  }
  // The tables whose keys decide how fast a link is.
  bool link_given(const std::string& table) const {
    const ConfigTable keys = config_.table(table);
    return keys.has("rate") || keys.has("delay") || keys.has("length") || keys.has("credit_delay");
  }

  // Several VCs fill a link together, but a flow has one of them.
  bool starves(Rate one_vc, Rate link) const {
    const double share = one_vc.in_byte_per_s() / link.in_byte_per_s();
    return share < 0.5 || share * hardware_.vcs < near_enough;
  }

  void buffers() {
    const bool router_given = any_given({{"router", "buffer"},
                                         {"router", "latency"},
                                         {"router", "switch_delay"},
                                         {"packet", "mtu"},
                                         {"router", "packets_per_buffer"}});
    for (const CreditLoop& loop : hardware_.credit_loops()) {
      const Rate most = hardware_.vc_rate(loop);
      if (!starves(most, loop.rate) || !(router_given || link_given(loop.table))) continue;
      lines_.push_back(fmt::format(
          "router.buffer of {} lets one virtual channel use {} of {}.rate ({} of {}), because a "
          "credit returns after {}; {} would do",
          to_text(hardware_.buffer_size()), share(most, loop.rate), loop.table, as_bytes(most),
          as_bytes(loop.rate), to_text(loop.time), to_text(hardware_.loop_buffer(loop))));
      return;  // The others have the same buffer.
    }
  }

  void crossbar() {
    Rate fastest;
    for (const CreditLoop& loop : hardware_.credit_loops()) fastest = std::max(fastest, loop.rate);
    if (!holds_back(hardware_.switch_rate, fastest)) return;
    if (!any_given({{"router", "switch_rate"}, {"link", "rate"}, {"nic", "rate"}})) return;
    add("router.switch_rate", hardware_.switch_rate, "links", fastest);
  }

  void card() {
    const Rate wire = hardware_.node_link.rate;
    for (const auto& [key, rate] :
         {std::pair{"inject_rate", hardware_.inject_rate}, {"eject_rate", hardware_.eject_rate}}) {
      if (holds_back(wire, rate))
        lines_.push_back(
            fmt::format("nic.{} of {} is more than the card's link carries, {}; "
                        "nic.rate is the rate of that link",
                        key, as_bytes(rate), as_bytes(wire)));
    }
  }

  // A packet for a slow link keeps its input until it has left.
  void inputs() {
    Rate links = hardware_.link.rate;
    for (const auto& [name, cable] : hardware_.link_class) links = std::max(links, cable.rate);
    const Rate card = hardware_.node_link.rate;
    if (!holds_back(links, card) || hardware_.output_buffer.count > 0) return;
    lines_.push_back(fmt::format(
        "a card's link of {} is used at the rate of the links behind it, {}, because packets leave "
        "routers straight from their inputs; router.output_buffer of {} and router.switch_rate of "
        "{} would do",
        as_bytes(card), as_bytes(links), to_text(hardware_.buffer_size()), as_bytes(card)));
  }

  void bus() {
    const Rate wire = hardware_.node_link.rate;
    const bool wire_given = any_given({{"link", "rate"}, {"nic", "rate"}});
    if (holds_back(node_.dma_rate, wire) && (wire_given || config_.table("node").has("dma_rate")))
      add("node.dma_rate", node_.dma_rate, "the card's link", wire);
    if (node_.bus_rate != Rate() && holds_back(node_.card_rate(), wire) &&
        node_.card_rate() != node_.dma_rate &&
        (wire_given ||
         any_given({{"node", "bus_rate"}, {"node", "bus_payload"}, {"node", "bus_header"}})))
      add("node.bus_rate, less headers,", node_.card_rate(), "the card's link", wire);
  }

  void far_memory() {
    const Rate wire = hardware_.node_link.rate;
    if (node_.sockets == 1 || !holds_back(node_.far_rate(), wire)) return;
    add("node.far_latency, with node.far_transactions under way,", node_.far_rate(),
        "a card that writes to the other socket", wire);
  }

  void memory() {
    const Rate cards =
        Rate::bit_per_s(hardware_.node_link.rate.in_bit_per_s() * std::int64_t{node_.rails});
    if (!holds_back(node_.memory_rate, cards)) return;
    if (!any_given({{"node", "memory_rate"},
                    {"link", "rate"},
                    {"nic", "rate"},
                    {"node", "rails"},
                    {"node", "cards"},
                    {"node", "layout"}}))
      return;
    lines_.push_back(
        fmt::format("node.memory_rate of {} copies small messages slower than the node's cards "
                    "carry them, {}; leave it out, or set that",
                    as_bytes(node_.memory_rate), as_bytes(cards)));
  }

  void add(const std::string& setting, Rate slow, const std::string& of, Rate fast) {
    lines_.push_back(fmt::format("{} of {} holds {} to {} of {}; leave it out, or set that",
                                 setting, as_bytes(slow), of, share(slow, fast), as_bytes(fast)));
  }

  const Config& config_;
  const NetworkHardware& hardware_;
  const NodeModel& node_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> find_throttles(const Config& config, const MachineDescription& machine) {
  if (machine.nodes() < 2) return {};  // Nothing goes over its links.
  Throttles throttles(config, machine);
  throttles.look_at_routing(machine);
  throttles.look_at_network();
  throttles.look_at_nodes();
  return std::move(throttles).lines();
}

std::vector<std::string> find_network_throttles(const Config& config,
                                                const MachineDescription& machine) {
  Throttles throttles(config, machine);
  throttles.look_at_routing(machine);
  throttles.look_at_network();
  return std::move(throttles).lines();
}

}  // namespace weft
