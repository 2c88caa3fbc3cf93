// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/simulate/nodes/node_model.hpp>

namespace weft {

Rate NodeModel::card_rate() const {
  if (bus_rate == Rate()) return dma_rate;
  const auto bits = static_cast<detail::Wide>(bus_rate.in_bit_per_s()) * bus_payload.count /
                    (bus_payload + bus_header).count;
  const Rate bus = Rate::bit_per_s(static_cast<std::int64_t>(bits));
  return dma_rate == Rate() ? bus : std::min(dma_rate, bus);
}

Rate NodeModel::far_rate() const {
  if (far_latency == Duration::zero()) return {};
  const auto bits = static_cast<detail::Wide>(bus_payload.count) * 8 * far_transactions *
                    1'000'000'000'000 / far_latency.in_ps();
  return Rate::bit_per_s(static_cast<std::int64_t>(bits));
}

namespace {

Status check(const ConfigTable& table, const NodeModel& m) {
  const auto wrong = [&](const char* key, const std::string& message) -> Status {
    return table.error_at(key, message);
  };
  if (m.memory_rate.in_bit_per_s() <= 0) return wrong("memory_rate", "memory_rate must be above 0");
  if (m.call_overhead < Duration::zero())
    return wrong("call_overhead", "call_overhead must not be negative");
  // Zero would let two ranks of a node answer each other without end at one moment.
  if (m.local_latency < Duration::ps(1))
    return wrong("local_latency", "local_latency must be above 0");
  if (m.bus_payload.count < 1) return wrong("bus_payload", "bus_payload must be at least 1 B");
  if (m.bus_header.count < 0) return wrong("bus_header", "bus_header must not be negative");
  if (m.connect_time < Duration::zero())
    return wrong("connect_time", "connect_time must not be negative");
  if (m.envelope.count < 0) return wrong("envelope", "envelope must not be negative");
  if (m.far_latency < Duration::zero())
    return wrong("far_latency", "far_latency must not be negative");
  if (m.card_socket.empty()) return {};
  if (m.card_socket.size() != static_cast<std::size_t>(m.rails))
    return wrong("card_socket", "card_socket needs one entry for each of the " +
                                    std::to_string(m.rails) + " rails");
  const auto outside = [&](int socket) { return socket < 0 || socket >= m.sockets; };
  if (std::any_of(m.card_socket.begin(), m.card_socket.end(), outside))
    return wrong("card_socket", "card_socket must lie in 0 to " + std::to_string(m.sockets - 1));
  return {};
}

}  // namespace

Status read_node(const Config& config, NodeModel& model, Rate keep_up_with) {
  ConfigTable table = config.table("node");
  table.get("rails", model.rails, 1, 16);
  table.get("call_overhead", model.call_overhead);
  if (keep_up_with != Rate())
    model.memory_rate =
        std::max(model.memory_rate, Rate::bit_per_s(keep_up_with.in_bit_per_s() * model.rails));
  table.get("memory_rate", model.memory_rate);
  table.get("dma_rate", model.dma_rate);
  table.get("local_latency", model.local_latency);
  table.get("envelope", model.envelope);
  table.get("connect_time", model.connect_time);
  table.get("sockets", model.sockets, 1, 16);
  table.get("card_socket", model.card_socket);
  table.get("bus_payload", model.bus_payload);
  table.get("bus_header", model.bus_header);
  table.get("bus_rate", model.bus_rate);
  table.get("far_latency", model.far_latency);
  table.get("far_transactions", model.far_transactions, 1, 1024);
  if (Status status = table.finish(); !status) return status;
  return check(table, model);
}

}  // namespace weft
