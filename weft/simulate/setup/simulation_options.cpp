// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <weft/simulate/setup/simulation_options.hpp>

namespace weft {

namespace {

using Json = nlohmann::json;

// Each field once, for both directions: visit("name", field).
template <typename P, typename Visit>
void each_field(P& p, Visit&& visit) {
  visit("net", p.machine.net);
  visit("profile", p.machine.profile);
  visit("routing", p.machine.routing);
  visit("sets", p.machine.sets);
  visit("map", p.map);
  visit("ranks", p.ranks);
  visit("ranks_per_node", p.ranks_per_node);
  visit("cores_per_rank", p.cores_per_rank);
  visit("connections", p.connections);
  visit("model", p.model);
  visit("threads", p.threads);
  visit("partition", p.partition);
  visit("libraries", p.libraries);
  visit("seed", p.seed);
  visit("carry_data", p.carry_data);
  visit("compute_factor", p.compute_factor);
  visit("collectives", p.collectives);
  visit("stack", p.stack);
  visit("until", p.until);
  visit("start_skew", p.start_skew);
  visit("thread_obstacle", p.thread_obstacle);
  visit("separation", p.separation);
  visit("program", p.program);
  visit("out", p.out);
  visit("progress_file", p.progress_file);
  visit("label", p.label);
  visit("quiet", p.quiet);
  visit("verbose", p.verbose);
  visit("matrix", p.matrix);
  visit("timeline", p.timeline);
  visit("record_output", p.record_output);
  visit("series", p.series);
  visit("series_grows", p.series_grows);
  visit("series_paced", p.series_paced);
  visit("watched", p.watched);
  visit("watch_from", p.watch_from);
  visit("watch_until", p.watch_until);
  visit("watch_every", p.watch_every);
}

template <typename T>
Json pack(const T& value) {
  return value;
}
Json pack(const Bytes& value) {
  return value.count;
}
Json pack(const Time& value) {
  return value.in_ps();
}
Json pack(const Duration& value) {
  return value.in_ps();
}

template <typename T>
void unpack(const Json& json, T& value) {
  json.get_to(value);
}
void unpack(const Json& json, Bytes& value) {
  json.get_to(value.count);
}
void unpack(const Json& json, Time& value) {
  value = Time::ps(json.get<std::int64_t>());
}
void unpack(const Json& json, Duration& value) {
  value = Duration::ps(json.get<std::int64_t>());
}

}  // namespace

std::string to_text(const SimulationOptions& options) {
  Json json = Json::object();
  each_field(options, [&](const char* name, const auto& field) { json[name] = pack(field); });
  return json.dump();
}

Result<SimulationOptions> parse_simulation_options(const std::string& text) {
  SimulationOptions options;
  try {
    const Json json = Json::parse(text);
    each_field(options, [&](const char* name, auto& field) { unpack(json.at(name), field); });
  } catch (const Json::exception& error) {
    return Error::call(std::string(simulation_variable) +
                       " is not from this version of `weft sim` (" + error.what() +
                       "); start the program with `weft sim` or without it");
  }
  return options;
}

}  // namespace weft
