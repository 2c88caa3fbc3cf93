// SPDX-License-Identifier: Apache-2.0
#include "weft/study/compare/table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>

namespace weft::compare {
namespace {

using Json = nlohmann::ordered_json;

struct Cell {
  std::string text, raw;  // For people, for scripts.
};
struct Row {
  std::string label, key;  // An empty label: for scripts only; an empty key: for people only.
  std::vector<Cell> cells;
};

std::string length_name(const std::optional<Length>& length) {
  return length ? weft::to_text(*length) : "unknown";
}

std::vector<std::string> class_names(std::span<const NetworkFacts> networks) {
  std::vector<std::string> names;
  for (const NetworkFacts& n : networks)
    for (const CableGroup& group : n.parts.cables)
      if (!group.to_nodes && std::find(names.begin(), names.end(), group.name) == names.end())
        names.push_back(group.name);
  names.push_back("to nodes");
  return names;
}

std::uint64_t cables_of_class(const NetworkFacts& n, const std::string& name) {
  for (const CableGroup& group : n.parts.cables)
    if (group.name == name) return group.count;
  return 0;
}

std::vector<std::optional<Length>> lengths(std::span<const NetworkFacts> networks) {
  std::set<std::optional<Length>> found;
  for (const NetworkFacts& n : networks)
    for (const CableGroup& group : n.parts.cables)
      if (group.count > 0) found.insert(group.length);
  std::vector<std::optional<Length>> sorted(found.begin(), found.end());
  if (!sorted.empty() && !sorted.front())  // Those not known come last.
    std::rotate(sorted.begin(), sorted.begin() + 1, sorted.end());
  return sorted;
}

std::uint64_t cables_of_length(const NetworkFacts& n, const std::optional<Length>& length) {
  std::uint64_t count = 0;
  for (const CableGroup& group : n.parts.cables)
    if (group.length == length) count += group.count;
  return count;
}

std::uint64_t cables_in_all(const NetworkFacts& n) {
  std::uint64_t count = 0;
  for (const CableGroup& group : n.parts.cables) count += group.count;
  return count;
}

std::uint64_t ports_in_all(const NetworkFacts& n) {
  std::uint64_t count = 0;
  for (const auto& [ports, switches] : n.parts.switches)
    count += static_cast<std::uint64_t>(ports) * switches;
  return count;
}

std::string ports_text(const NetworkFacts& n) {
  const int low = n.parts.switches.begin()->first, high = n.parts.switches.rbegin()->first;
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

std::string rate_text(double bytes_per_s) {
  return fmt::format("{:.2f} GB/s", bytes_per_s / 1e9);
}

// 1234567 as 1,234,567.
std::string grouped(double amount) {
  std::string digits = fmt::format("{:.0f}", amount);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

class Rows {
 public:
  explicit Rows(std::span<const NetworkFacts> networks) : networks_(networks) {}

  template <typename Make>
  void add(const std::string& label, const std::string& key, Make make) {
    Row row{label, key, {}};
    for (const NetworkFacts& n : networks_) row.cells.push_back(make(n));
    rows_.push_back(std::move(row));
  }
  template <typename Count>
  void add_count(const std::string& label, const std::string& key, Count count) {
    add(label, key, [&](const NetworkFacts& n) {
      const std::string text = fmt::format("{}", count(n));
      return Cell{text, text};
    });
  }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::span<const NetworkFacts> networks_;
  std::vector<Row> rows_;
};

void add_shape(std::span<const NetworkFacts> networks, Rows& rows) {
  rows.add_count("network", "network", [](const NetworkFacts& n) { return n.network; });
  rows.add_count("profile", "profile", [](const NetworkFacts& n) { return n.profile; });
  rows.add_count("routing", "routing", [](const NetworkFacts& n) { return n.routing; });
  // Networks from files and from words may be of different machines.
  rows.add("link rate", "link_rate_bytes_per_s", [](const NetworkFacts& n) {
    const double rate = n.link_rate.in_byte_per_s();
    return Cell{rate_text(rate), fmt::format("{:.0f}", rate)};
  });
  rows.add("router latency", "router_latency_ns", [](const NetworkFacts& n) {
    const std::string text = fmt::format("{:.1f}", n.router_latency.in_ns());
    return Cell{text + " ns", text};
  });
  rows.add_count("nodes", "nodes", [](const NetworkFacts& n) { return n.shape.nodes; });
  if (std::any_of(networks.begin(), networks.end(),
                  [](const NetworkFacts& n) { return n.shape.cards > 1; }))
    rows.add_count("cards per node", "cards_per_node",
                   [](const NetworkFacts& n) { return n.shape.cards; });
  rows.add_count("switches", "switches", [](const NetworkFacts& n) { return n.shape.routers; });
  rows.add_count("ports per switch", "", ports_text);
  rows.add_count("", "ports_per_switch_min",
                 [](const NetworkFacts& n) { return n.parts.switches.begin()->first; });
  rows.add_count("", "ports_per_switch_max",
                 [](const NetworkFacts& n) { return n.parts.switches.rbegin()->first; });
  rows.add_count("ports in all", "ports", ports_in_all);
  rows.add_count("cables", "cables", cables_in_all);
  if (std::any_of(networks.begin(), networks.end(),
                  [](const NetworkFacts& n) { return n.shape.cables_down > 0; }))
    rows.add_count("  down", "cables_down",
                   [](const NetworkFacts& n) { return n.shape.cables_down; });
  for (const std::string& name : class_names(networks))
    rows.add_count("  " + name, "cables_class_" + name,
                   [&](const NetworkFacts& n) { return cables_of_class(n, name); });
  for (const std::optional<Length>& length : lengths(networks))
    rows.add_count(length ? "  of " + length_name(length) : "  of unknown length",
                   "cables_length_" + length_name(length),
                   [&](const NetworkFacts& n) { return cables_of_length(n, length); });
}

void add_figures(Rows& rows) {
  rows.add_count("diameter, hops", "diameter_hops",
                 [](const NetworkFacts& n) { return n.shape.distance->diameter; });
  rows.add("mean distance, hops", "distance_average_hops", [](const NetworkFacts& n) {
    const std::string text = fmt::format("{:.4f}", n.shape.distance->average);
    return Cell{text, text};
  });
  rows.add("bisection, cables", "bisection_cables", [](const NetworkFacts& n) {
    const bool exact = n.shape.bisection->ground == Ground::exact;
    const std::string text = std::to_string(n.shape.bisection->cables);
    return Cell{(exact ? "" : "at most ") + text, text};
  });
  const auto add_rate = [&](const char* label, const char* key, auto rate) {
    rows.add(label, key, [&](const NetworkFacts& n) {
      return Cell{rate_text(rate(n)), fmt::format("{:.0f}", rate(n))};
    });
  };
  add_rate("  per node", "bisection_per_node_bytes_per_s",
           [](const NetworkFacts& n) { return n.bisection_per_node; });
  const auto add_ns = [&](const char* label, const char* key, double Latency::*ns,
                          const char* sampled) {
    rows.add(label, key, [&](const NetworkFacts& n) {
      const std::string raw = fmt::format("{:.1f}", n.latency.*ns);
      return Cell{fmt::format("{}{} ns", n.latency.exact ? "" : sampled, raw), raw};
    });
  };
  add_ns("idle latency, mean", "latency_mean_ns", &Latency::mean_ns, "about ");
  add_ns("idle latency, most", "latency_max_ns", &Latency::most_ns, "at least ");
  const auto add_capacity = [&](const char* label, const char* key, double Capacity::*rate) {
    rows.add(label, key, [&](const NetworkFacts& n) {
      return Cell{rate_text(n.capacity.*rate) + (n.detours ? " *" : ""),
                  fmt::format("{:.0f}", n.capacity.*rate)};
    });
  };
  add_capacity("capacity, uniform", "capacity_uniform_bytes_per_s", &Capacity::uniform);
  add_capacity("capacity, worst", "capacity_worst_bytes_per_s", &Capacity::worst_permutation);
  rows.add_count("  found with", "capacity_worst_permutation", [](const NetworkFacts& n) {
    return n.capacity.worst_name.empty() ? std::string("any") : n.capacity.worst_name;
  });
  rows.add("  worst of", "permutations_tried", [](const NetworkFacts& n) {
    const std::string text = std::to_string(n.capacity.permutations_tried);
    return Cell{text + " tried", text};
  });
}

void add_cost(const Prices& prices, Rows& rows) {
  for (const CableOffer& offer : prices.cables)
    rows.add_count("cables, " + offer.kind, "cables_kind_" + offer.kind,
                   [&](const NetworkFacts& n) {
                     const auto found = n.cost.cables_by_kind.find(offer.kind);
                     return found == n.cost.cables_by_kind.end() ? 0 : found->second;
                   });
  const std::string unit = prices.currency.empty() ? "" : " " + prices.currency;
  const auto add = [&](const std::string& label, const char* key, auto amount) {
    rows.add(label, key, [&](const NetworkFacts& n) {
      return Cell{grouped(amount(n)) + unit, fmt::format("{:.2f}", amount(n))};
    });
  };
  add(prices.are_examples ? "cost (example prices)" : "cost", "cost",
      [](const NetworkFacts& n) { return n.cost.total(); });
  add("  switches", "cost_switches", [](const NetworkFacts& n) { return n.cost.switches; });
  add("  cables", "cost_cables", [](const NetworkFacts& n) { return n.cost.cables; });
  add("  cards", "cost_cards", [](const NetworkFacts& n) { return n.cost.cards; });
  add("  per node", "cost_per_node",
      [](const NetworkFacts& n) { return n.cost.total() / n.shape.nodes; });
  if (prices.has_watts)
    rows.add(prices.are_examples ? "power (example)" : "power", "power_watts",
             [](const NetworkFacts& n) {
               return Cell{fmt::format("{:.1f} kW", n.cost.watts / 1000),
                           fmt::format("{:.1f}", n.cost.watts)};
             });
}

std::vector<Row> all_rows(std::span<const NetworkFacts> networks, const Prices& prices) {
  Rows rows(networks);
  add_shape(networks, rows);
  add_figures(rows);
  add_cost(prices, rows);
  return rows.take();
}

bool any(std::span<const NetworkFacts> networks, bool (*holds)(const NetworkFacts&)) {
  return std::any_of(networks.begin(), networks.end(), holds);
}

// "24 ports for 5, 7 and 16; 40 for 36": which switches are priced as larger ones.
std::string larger_switches(std::span<const NetworkFacts> networks, const Prices& prices) {
  std::map<int, std::set<int>> ports_of;  // By the ports of the switch that is paid for.
  for (const NetworkFacts& n : networks)
    for (const auto& [ports, count] : n.parts.switches)
      for (const SwitchOffer& offer : prices.switches)
        if (offer.ports >= ports) {
          if (offer.ports > ports) ports_of[offer.ports].insert(ports);
          break;
        }
  std::string text;
  for (const auto& [paid, used] : ports_of)
    text += fmt::format("{}{}{} for {}", text.empty() ? "" : "; ", paid,
                        text.empty() ? " ports" : "", fmt::join(used, ", "));
  return text;
}

// The lengths of cables for which no key of the description gives one.
std::set<Length> profile_lengths(std::span<const NetworkFacts> networks) {
  std::set<Length> lengths;
  for (const NetworkFacts& n : networks)
    for (const CableGroup& group : n.parts.cables)
      if (group.count > 0 && group.from_profile && group.length) lengths.insert(*group.length);
  return lengths;
}

void add_price_notes(std::span<const NetworkFacts> networks, const Prices& prices,
                     std::vector<std::string>& notes) {
  if (const std::string larger = larger_switches(networks, prices); !larger.empty())
    notes.push_back(
        fmt::format("A router is priced as the smallest switch that has its ports: {}.", larger));
  const std::string unknown =
      "Cables whose length no key gives (link.length, link.CLASS.length, nic.length) count as ";
  if (any(networks, [](const NetworkFacts& n) { return n.cost.assumed_length; })) {
    notes.push_back(fmt::format("{}{} ([cable] length of {}).", unknown,
                                weft::to_text(*prices.usual_length), prices.name));
  } else {
    for (const Length length : profile_lengths(networks))
      notes.push_back(unknown + weft::to_text(length) + ".");
  }
  notes.emplace_back(
      "Prices do not depend on the rate of links: for another rate give another --prices FILE.");
  if (prices.are_examples)
    notes.emplace_back("The prices are examples, not offers; give your own with --prices FILE.");
}

// What the figures rest on, a sentence or two each.
std::vector<std::string> notes(std::span<const NetworkFacts> networks, const Prices& prices) {
  std::vector<std::string> all = {
      "Capacity is what every node can send at once until the busiest link is full, each way. It "
      "knows no queues, no blocking inside switches and no collisions, such as those of an "
      "all-to-all that shifts from partner to partner: simulated runs took up to 10 times as long. "
      "weft traffic --saturation and weft sim know them."};
  if (any(networks, [](const NetworkFacts& n) { return n.detours; }))
    all.emplace_back(
        "* Counted along shortest paths, but this routing also takes detours: uniform traffic may "
        "get less than that, and the worst permutation more.");
  for (const NetworkFacts& n : networks)
    if (n.shape.cables_down > 0)
      all.push_back(
          fmt::format("Cables down in {}: {}.", n.network, list_cables(n.shape.names_down)));
  if (any(networks, [](const NetworkFacts& n) { return !n.latency.exact; }))
    all.emplace_back("Latency with 'about' and 'at least' is from a sample of the pairs of nodes.");
  if (any(networks, [](const NetworkFacts& n) { return !n.capacity.uniform_exact; }))
    all.emplace_back("Uniform capacity of more than 4096 nodes is from a sample of the pairs.");
  add_price_notes(networks, prices, all);
  return all;
}

// Lines of at most 100 columns.
std::string wrapped(const std::string& text) {
  constexpr std::size_t columns_max = 100;
  std::string out, line;
  for (const std::string_view word : split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > columns_max) {
      out += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return out + line + "\n";
}

// As RFC 4180 wants it.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_key(std::string key) {
  std::replace(key.begin(), key.end(), ' ', '_');
  return csv_field(key);
}

Json cables_json(const NetworkFacts& n) {
  Json cables = Json::array();
  for (const CableGroup& group : n.parts.cables) {
    Json one = {{"class", group.name}, {"to_nodes", group.to_nodes}, {"count", group.count}};
    one["length_m"] =
        group.length ? Json(static_cast<double>(group.length->mm) / 1000) : Json(nullptr);
    cables.push_back(std::move(one));
  }
  return cables;
}

Json cost_json(const NetworkFacts& n, const Prices& prices) {
  Json cost = {{"total", n.cost.total()},
               {"switches", n.cost.switches},
               {"cables", n.cost.cables},
               {"cards", n.cost.cards},
               {"cables_by_kind", n.cost.cables_by_kind},
               {"assumed_length", n.cost.assumed_length}};
  if (prices.has_watts) cost["power_watts"] = n.cost.watts;
  return cost;
}

Json network_json(const NetworkFacts& n, const Prices& prices) {
  Json switches = Json::array();
  for (const auto& [ports, count] : n.parts.switches)
    switches.push_back({{"ports", ports}, {"count", count}});
  Json out = {{"network", n.network},
              {"profile", n.profile},
              {"routing", n.routing},
              {"warnings", n.warnings},
              {"nodes", n.shape.nodes},
              {"switches", n.shape.routers},
              {"switches_by_ports", switches},
              {"cables", cables_json(n)},
              {"diameter_hops", n.shape.distance->diameter},
              {"distance_average_hops", n.shape.distance->average},
              {"distance_ground", weft::to_text(n.shape.distance->ground)},
              {"bisection_cables", n.shape.bisection->cables},
              {"bisection_ground", weft::to_text(n.shape.bisection->ground)},
              {"bisection_per_node_bytes_per_s", n.bisection_per_node},
              {"latency_mean_ns", n.latency.mean_ns},
              {"latency_max_ns", n.latency.most_ns},
              {"latency_exact", n.latency.exact},
              {"capacity_uniform_bytes_per_s", n.capacity.uniform},
              {"capacity_uniform_exact", n.capacity.uniform_exact},
              {"capacity_worst_bytes_per_s", n.capacity.worst_permutation},
              {"capacity_worst_permutation", n.capacity.worst_name},
              {"permutations_tried", n.capacity.permutations_tried},
              {"paths", n.capacity.paths},
              {"cost", cost_json(n, prices)}};
  if (n.shape.cards > 1) out["cards_per_node"] = n.shape.cards;
  if (n.shape.cables_down > 0) {
    out["cables_down"] = n.shape.cables_down;
    out["cables_down_names"] = n.shape.names_down;
  }
  return out;
}

}  // namespace

std::string to_text(std::span<const NetworkFacts> networks, const Prices& prices) {
  const std::vector<Row> rows = all_rows(networks, prices);
  std::size_t label_width = 0;
  std::vector<std::size_t> widths(networks.size(), 0);
  for (const Row& row : rows) {
    if (row.label.empty()) continue;
    label_width = std::max(label_width, row.label.size());
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], row.cells[i].text.size());
  }
  std::string out;
  for (const Row& row : rows) {
    if (row.label.empty()) continue;
    out += fmt::format("{:<{}}", row.label, label_width);
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      out += fmt::format("  {:>{}}", row.cells[i].text, widths[i]);
    out += "\n";
  }
  out += "\n";
  for (const std::string& note : notes(networks, prices)) out += wrapped(note);
  return out;
}

std::string to_csv(std::span<const NetworkFacts> networks, const Prices& prices) {
  const std::vector<Row> rows = all_rows(networks, prices);
  std::string out;
  for (const Row& row : rows)
    if (!row.key.empty()) out += (out.empty() ? "" : ",") + csv_key(row.key);
  out += ",prices_are_examples\n";
  for (std::size_t i = 0; i < networks.size(); ++i) {
    for (const Row& row : rows)
      if (!row.key.empty()) out += csv_field(row.cells[i].raw) + ",";
    out += prices.are_examples ? "true\n" : "false\n";
  }
  return out;
}

std::string to_json(std::span<const NetworkFacts> networks, const Prices& prices) {
  Json list = Json::array();
  for (const NetworkFacts& n : networks) list.push_back(network_json(n, prices));
  const Json out = {
      {"prices",
       {{"file", prices.name}, {"examples", prices.are_examples}, {"currency", prices.currency}}},
      {"networks", list},
      {"notes", notes(networks, prices)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weft::compare
