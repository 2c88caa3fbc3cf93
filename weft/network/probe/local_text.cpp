// SPDX-License-Identifier: Apache-2.0
// A host's measurements and its table [node] as text.
#include <cmath>
#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/quantity.hpp>
#include <weft/network/probe/local.hpp>

namespace weft::probe {
namespace {

using Json = nlohmann::ordered_json;

// Three digits: measurements are not known better.
std::int64_t rounded(std::int64_t value) {
  std::int64_t step = 1;
  while (value / step >= 1000) step *= 10;
  return (value + step / 2) / step * step;
}
std::string text_of(Duration time) {
  return to_text(Duration::ps(rounded(time.in_ps())));
}
std::string text_of(Rate rate) {
  return fmt::format("{:.3g} GB/s", rate.in_byte_per_s() * 1e-9);
}

std::string points_text(const std::vector<std::pair<Bytes, Duration>>& points) {
  std::string out;
  for (const auto& [size, time] : points)
    out += fmt::format("{}\"{}: {}\"", out.empty() ? "" : ", ", to_text(size), text_of(time));
  return "[" + out + "]";
}

struct Key {
  const char* name;
  std::string value;  // As a TOML file says it.
  const char* help;
};

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

// The keys of [node]; those of what the host does not have are absent.
std::vector<Key> keys_of(const LocalNode& node) {
  std::vector<Key> keys = {
      {"cores", std::to_string(node.cores), ""},
      {"sockets", std::to_string(node.sockets), ""},
      {"call_overhead", quoted(text_of(node.call)), "of a call that need not wait"},
      {"request_overhead", quoted(text_of(node.request)), "of MPI_Isend, MPI_Irecv, with its wait"},
      {"collective_overhead", quoted(text_of(node.collective)), "besides its messages"},
      {"local_send_overhead", quoted(text_of(node.send)), "of a short message"},
      {"local_receive_overhead", quoted(text_of(node.receive)), ""},
      {"local_latency", quoted(text_of(node.latency)), "between ranks of a socket"},
      {"copy_times", points_text(node.copies), "in a rank's own memory"},
      {"local_copy_times", points_text(node.sides), "of short messages, on each side"},
      {"local_latency_times", points_text(node.flights), "of short messages, beyond local_latency"},
      {"local_write_overhead", quoted(text_of(node.write)), "of a large message, once"},
      {"local_write_times", points_text(node.writes), "of a stretch of a large message"},
      {"reduce_rate", quoted(text_of(node.reduce)), "of reductions, in cache"},
      {"memory_rate", quoted(text_of(node.memory)), "copies by all cores at once"},
      {"wake_time", quoted(text_of(node.wake)), "of a rank that sleeps"},
      {"switch_time", quoted(text_of(node.switching)), "of a core, between ranks that share it"},
  };
  if (node.sockets > 1 && node.far_latency > Duration::zero())
    keys.push_back({"local_far_latency", quoted(text_of(node.far_latency)), "between sockets"});
  if (node.cache.count > 0) {
    keys.push_back({"cache", quoted(to_text(node.cache)), "of a core, as large messages find it"});
    keys.push_back({"uncached_rate", quoted(text_of(node.uncached)), "of one core beyond it"});
  }
  return keys;
}

Json one_way_json(const std::map<std::size_t, Samples>& by_size) {
  Json out = Json::array();
  for (const auto& [size, samples] : by_size)
    out.push_back(
        {{"bytes", size}, {"low_ns", samples.low_ns()}, {"median_ns", samples.typical_ns()}});
  return out;
}

// Low and median, as two samples between which the quartiles are what they were.
Samples samples_of(double low, double typical) {
  return {{low, low, typical, typical, typical}};
}

void read_one_way(const Json& json, std::map<std::size_t, Samples>& by_size) {
  for (const Json& item : json)
    by_size[item.at("bytes").get<std::size_t>()] =
        samples_of(item.at("low_ns").get<double>(), item.at("median_ns").get<double>());
}

Json measures_json(const LocalMeasures& measures) {
  Json times = Json::object();
  for (const auto& [name, samples] : measures.times)
    times[name] = {{"low_ns", samples.low_ns()}, {"median_ns", samples.typical_ns()}};
  return {{"cores", measures.cores},
          {"sockets", measures.sockets},
          {"ranks", measures.ranks},
          {"crowded", measures.crowded},
          {"held_off", measures.held_off},
          {"times", std::move(times)},
          {"one_way", one_way_json(measures.one_way)},
          {"far_one_way", one_way_json(measures.far_one_way)},
          {"side", one_way_json(measures.side)},
          {"copy", one_way_json(measures.copy)}};
}

}  // namespace

std::string to_json(const LocalMeasures& measures) {
  return measures_json(measures).dump();
}

Result<LocalMeasures> measures_from_json(std::string_view text, const std::string& name) {
  LocalMeasures out;
  try {
    const Json json = Json::parse(text);
    json.at("cores").get_to(out.cores);
    json.at("sockets").get_to(out.sockets);
    json.at("ranks").get_to(out.ranks);
    json.at("crowded").get_to(out.crowded);
    json.at("held_off").get_to(out.held_off);
    for (const auto& [key, value] : json.at("times").items())
      out.times[key] =
          samples_of(value.at("low_ns").get<double>(), value.at("median_ns").get<double>());
    read_one_way(json.at("one_way"), out.one_way);
    read_one_way(json.at("far_one_way"), out.far_one_way);
    read_one_way(json.at("side"), out.side);
    read_one_way(json.at("copy"), out.copy);
  } catch (const std::exception& error) {
    return Error::input(fmt::format("these are no measurements of a host: {}", error.what()))
        .at(name, 0);
  }
  return out;
}

std::string to_tables(const LocalNode& node) {
  std::string out = "[node]\n";
  for (const Key& key : keys_of(node)) {
    const std::string line = fmt::format("{} = {}", key.name, key.value);
    out += *key.help == '\0' ? line + "\n" : fmt::format("{:<40} # {}\n", line, key.help);
  }
  return out +
         "\n[messages]                               # As weft run has them.\n"
         "split = \"measured\"\nhead_start = \"64 KiB\"\n";
}

namespace {

// Beyond 5 % weft run takes a core for contested, and does not poll. Empty: there is nothing to
// say.
std::string busy_note(const LocalNode& node) {
  if (node.disturbed <= 0.2 && node.held_off <= 0.05) return "";
  return fmt::format(
      "the machine is busy: other work kept ranks off their cores for {:.0f} % of the time; "
      "measure "
      "again when it is idle",
      100 * node.held_off);
}

}  // namespace

LocalText to_local_network(const LocalNode& node, const std::string& host,
                           const std::string& graph_file) {
  LocalText out;
  out.graph = fmt::format("weft-graph 1\nrouter memory\nnode {} memory\n", host);
  out.description = fmt::format(
      "# {}, measured by weft probe --local: a network of one node, whose ranks talk through "
      "memory.\n# weft sim --net FILE -n RANKS --compute measured ./program\n{}"
      "profile = \"cluster\"\n\n[network]\ntopology = \"graph:{}\"\n\n{}",
      host, busy_note(node).empty() ? "" : "# Measured while " + busy_note(node) + ".\n",
      graph_file, to_tables(node));
  return out;
}

std::string to_local_json(const LocalNode& node, const LocalMeasures& measures,
                          const std::string& host) {
  Json keys = Json::object();
  for (const Key& key : keys_of(node)) keys[key.name] = Json::parse(key.value);
  const Json out = {{"host", host},
                    {"node", std::move(keys)},
                    {"messages", {{"split", "measured"}, {"head_start", "64 KiB"}}},
                    {"copy_alone", text_of(node.copy_alone)},
                    {"disturbed", node.disturbed},
                    {"measured", measures_json(measures)}};
  return out.dump(1) + "\n";
}

std::string to_local_table(const LocalNode& node, const std::string& host) {
  std::string out = fmt::format(
      "{}: {} core{}, {}\n", host, node.cores, node.cores == 1 ? "" : "s",
      node.sockets > 1 ? fmt::format("{} sockets", node.sockets) : "one socket: nothing is far");
  for (const Key& key : keys_of(node))
    out += fmt::format("  {:<23} {}{}\n", key.name, key.value,
                       *key.help == '\0' ? "" : fmt::format("  ({})", key.help));
  out += fmt::format("  {:<23} \"{}\"  (one core; not a key)\n", "large copies",
                     text_of(node.copy_alone));
  out += fmt::format("spread         medians are {:.0f} % above the lower quartiles, which count\n",
                     100 * node.disturbed);
  if (const std::string note = busy_note(node); !note.empty()) out += "note: " + note + "\n";
  return out;
}

}  // namespace weft::probe
