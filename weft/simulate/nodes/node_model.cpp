// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/text.hpp>
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

Duration NodeModel::copy_time(Bytes size) const {
  if (copy_times.empty()) return serialise(size, memory_rate);
  const Duration time = copy_times.at(size);
  if (cache.count == 0 || fits_cache(size)) return time;
  return std::max(time, serialise(size, uncached_rate));
}

Duration NodeModel::local_copy_extra(Bytes size) const {
  if (local.copy_times.empty()) return {};
  return std::max(local.copy_times.at(size) - copy_time(size), Duration::zero());
}

Duration NodeModel::local_write_time(Bytes size, bool cached) const {
  const Duration time = local.write_times.at(size);
  return cached ? time : std::max(time, serialise(size, uncached_rate));
}

namespace {

// A list of points, ["1 KiB: 160 ns", ...].
Status read_points(ConfigTable& table, const char* key, TimeBySize& out) {
  std::vector<std::string> points;
  table.get(key, points);
  auto parsed = TimeBySize::parse(points);
  if (!parsed) return table.error_at(key, std::string(key) + ": " + parsed.error().message());
  if (!points.empty()) out = *std::move(parsed);
  return {};
}

// What weft probe --local measures.
Status read_measured(ConfigTable& table, NodeModel& model) {
  table.get("request_overhead", model.request_overhead);
  table.get("collective_overhead", model.collective_overhead);
  table.get("local_send_overhead", model.local.send_overhead);
  table.get("local_receive_overhead", model.local.receive_overhead);
  if (Status s = read_points(table, "copy_times", model.copy_times); !s) return s;
  if (Status s = read_points(table, "local_copy_times", model.local.copy_times); !s) return s;
  if (Status s = read_points(table, "local_latency_times", model.local.latency_times); !s) return s;
  if (Status s = read_points(table, "local_write_times", model.local.write_times); !s) return s;
  table.get("reduce_rate", model.reduce_rate);
  table.get("local_write_overhead", model.local.write_overhead);
  table.get("local_far_latency", model.local.far_latency);
  table.get("cache", model.cache);
  table.get("uncached_rate", model.uncached_rate);
  table.get("cores", model.cores, 0, 65536);
  table.get("poll_time", model.poll_time);
  table.get("wake_time", model.wake_time);
  table.get("switch_time", model.switch_time);
  const auto negative = [&](const char* key, Duration time) {
    return time < Duration::zero() && table.has(key);
  };
  for (const auto& [key, time] : {std::pair("request_overhead", model.request_overhead),
                                  {"collective_overhead", model.collective_overhead},
                                  {"local_send_overhead", model.local.send_overhead},
                                  {"local_receive_overhead", model.local.receive_overhead},
                                  {"local_write_overhead", model.local.write_overhead},
                                  {"local_far_latency", model.local.far_latency},
                                  {"poll_time", model.poll_time},
                                  {"wake_time", model.wake_time},
                                  {"switch_time", model.switch_time}})
    if (negative(key, time)) return table.error_at(key, std::string(key) + " must not be negative");
  if (model.cache.count < 0) return table.error_at("cache", "cache must not be negative");
  if (model.cache.count > 0 && model.uncached_rate == Rate())
    return table.error_at("cache", "cache needs uncached_rate, the rate of copies beyond it");
  return {};
}

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
                                    std::to_string(m.rails) + " cards");
  const auto outside = [&](int socket) { return socket < 0 || socket >= m.sockets; };
  if (std::any_of(m.card_socket.begin(), m.card_socket.end(), outside))
    return wrong("card_socket", "card_socket must lie in 0 to " + std::to_string(m.sockets - 1));
  return {};
}

constexpr int far_transactions_max = 1024;
constexpr int parts_max = 16;  // Sockets, and cards, of a node.
// What a card waits for memory at the other socket, where a layout has one and says no more: the
// step between sockets of two-socket servers of today.
constexpr Duration usual_far_latency = Duration::ns(120);

struct NodeLayout {
  int sockets = 1, cards_each = 1;
};

// The number of "2 sockets".
std::optional<int> count_of(std::string_view text, std::string_view one, std::string_view many) {
  const std::string_view whole = trim(text);
  const std::size_t blank = whole.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view word = trim(whole.substr(blank));
  const auto number = parse_int(whole.substr(0, blank));
  if ((word != one && word != many) || !number || *number < 1 || *number > parts_max)
    return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<NodeLayout> parse_layout(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, 'x');
  if (parts.size() > 2) return std::nullopt;
  const auto sockets = parts.size() == 2 ? count_of(parts[0], "socket", "sockets") : 1;
  const auto cards = count_of(parts.back(), "card", "cards");
  if (!sockets || !cards || *sockets * *cards > parts_max) return std::nullopt;
  return NodeLayout{*sockets, *cards};
}

// What `layout` says, as defaults of the keys that it stands for.
Status read_layout(ConfigTable& table, NodeModel& model) {
  std::string text;
  table.get("layout", text);
  if (text.empty()) return {};
  const auto layout = parse_layout(text);
  if (!layout)
    return table.error_at("layout",
                          "layout must look like \"2 sockets x 2 cards\" (cards of each "
                          "socket), with at most " +
                              std::to_string(parts_max) + " cards in all");
  model.sockets = layout->sockets;
  model.rails = layout->sockets * layout->cards_each;
  if (model.sockets == 1) return {};
  model.far_latency = usual_far_latency;
  for (int card = 0; card < model.rails; ++card)
    model.card_socket.push_back(card / layout->cards_each);
  return {};
}

// `rails` is the message layer's word for cards.
const char* cards_key(const ConfigTable& table) {
  return table.has("rails") ? "rails" : "cards";
}

// Sockets and cards stand in the file twice if it is one that --show-machine wrote.
Status read_parts(ConfigTable& table, NodeModel& model) {
  if (Status s = read_layout(table, model); !s) return s;
  const NodeModel by_layout = model;
  const char* const cards = cards_key(table);
  if (table.has("rails") && table.has("cards"))
    return table.error_at("rails", "rails and cards are two words for the same; keep cards");
  table.get(cards, model.rails, 1, parts_max);
  table.get("sockets", model.sockets, 1, parts_max);
  if (!table.has("layout")) return {};
  const auto differs = [&](const std::string& key, int given, int meant) -> Status {
    return table.error_at(key, key + " = " + std::to_string(given) + ", but layout says " +
                                   std::to_string(meant) + "; leave " + key + " out");
  };
  if (model.sockets != by_layout.sockets)
    return differs("sockets", model.sockets, by_layout.sockets);
  if (model.rails != by_layout.rails) return differs(cards, model.rails, by_layout.rails);
  return {};
}

// As many bus transactions to far memory as the card's link needs; no fewer than usual.
int far_transactions_for(const NodeModel& model, Rate link) {
  const auto bits = static_cast<detail::Wide>(link.in_bit_per_s()) * model.far_latency.in_ps();
  const auto each = static_cast<detail::Wide>(std::max<std::int64_t>(model.bus_payload.count, 1)) *
                    8 * 1'000'000'000'000;
  return static_cast<int>(std::clamp<detail::Wide>((bits + each - 1) / each, model.far_transactions,
                                                   far_transactions_max));
}

}  // namespace

Result<int> read_card_count(const Config& config, int usual) {
  ConfigTable table = config.table("node");
  NodeModel model;
  model.rails = usual;
  if (Status s = read_parts(table, model); !s) return std::move(s).error();
  return model.rails;
}

const char* card_count_key(const Config& config) {
  const ConfigTable table = config.table("node");
  const char* const cards = cards_key(table);
  return table.has(cards) || !table.has("layout") ? cards : "layout";
}

Status read_node(const Config& config, NodeModel& model, Rate keep_up_with) {
  ConfigTable table = config.table("node");
  if (Status s = read_parts(table, model); !s) return s;
  table.get("call_overhead", model.call_overhead);
  if (keep_up_with != Rate())
    model.memory_rate =
        std::max(model.memory_rate, Rate::bit_per_s(keep_up_with.in_bit_per_s() * model.rails));
  table.get("memory_rate", model.memory_rate);
  table.get("dma_rate", model.dma_rate);
  table.get("local_latency", model.local_latency);
  table.get("envelope", model.envelope);
  table.get("connect_time", model.connect_time);
  table.get("card_socket", model.card_socket);
  table.get("bus_payload", model.bus_payload);
  table.get("bus_header", model.bus_header);
  table.get("bus_rate", model.bus_rate);
  table.get("far_latency", model.far_latency);
  if (table.has("layout") && keep_up_with != Rate())
    model.far_transactions = far_transactions_for(model, keep_up_with);
  table.get("far_transactions", model.far_transactions, 1, far_transactions_max);
  if (Status status = read_measured(table, model); !status) return status;
  if (Status status = table.finish(); !status) return status;
  return check(table, model);
}

}  // namespace weft
