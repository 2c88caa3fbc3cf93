// SPDX-License-Identifier: Apache-2.0
// A finding as JSON, and back.
#include <algorithm>
#include <exception>

#include <nlohmann/json.hpp>

#include <weft/network/probe/files.hpp>

namespace weft::probe {
namespace {

using Json = nlohmann::ordered_json;
constexpr int format_version = 1;

const char* to_word(Filled filled) {
  return filled == Filled::full ? "full" : filled == Filled::at_least ? "at least" : "unknown";
}

Filled from_word(const std::string& word) {
  return word == "full" ? Filled::full : word == "at least" ? Filled::at_least : Filled::unknown;
}

Json place_json(std::uint32_t on) {
  return on == nowhere ? Json(nullptr) : Json(on);
}

Json counts_json(const Counts& counts) {
  return {{"round_trips", counts.round_trips},
          {"batches", counts.batches},
          {"trials", counts.trials},
          {"flows", counts.flows},
          {"seconds", counts.seconds}};
}

void read_links(const Json& json, Finding& finding) {
  for (const Json& item : json.at("links")) {
    LinkFound link;
    link.a = item.at("a").get<std::uint32_t>();
    link.b = item.at("b").get<std::uint32_t>();
    link.latency_ns = item.at("latency_ns").get<double>();
    link.rate_bit_per_s = item.at("rate_bit_per_s").get<double>();
    link.filled = from_word(item.at("filled").get<std::string>());
    link.shared = item.at("shared").get<bool>();
    link.sure = item.at("sure").get<double>();
    finding.links.push_back(link);
  }
}

void read_places(const Json& json, Finding& finding) {
  for (const Json& item : json.at("hosts")) {
    const Json& on = item.at("on");
    finding.hosts.push_back({item.at("name").get<std::string>(),
                             on.is_null() ? nowhere : on.get<std::uint32_t>(),
                             item.at("sure").get<double>()});
  }
  for (const Json& item : json.at("switches"))
    finding.switches.push_back(
        {item.at("name").get<std::string>(), item.at("depth_ns").get<double>()});
}

void read_numbers(const Json& json, Finding& finding) {
  finding.host_ns = json.at("host_ns").get<double>();
  finding.host_bit_per_s = json.at("host_bit_per_s").get<double>();
  finding.noise_ns = json.at("noise_ns").get<double>();
  finding.same_ns = json.at("same_ns").get<double>();
  finding.jump_ns = json.at("jump_ns").get<double>();
  finding.contradicting = json.at("contradicting").get<double>();
  finding.tree = json.at("tree").get<bool>();
  finding.complete = json.at("complete").get<bool>();
  finding.remarks = json.at("remarks").get<std::vector<std::string>>();
  const Json& counts = json.at("counts");
  finding.counts.round_trips = counts.at("round_trips").get<std::uint64_t>();
  finding.counts.batches = counts.at("batches").get<std::uint64_t>();
  finding.counts.trials = counts.at("trials").get<std::uint64_t>();
  finding.counts.flows = counts.at("flows").get<std::uint64_t>();
  finding.counts.seconds = counts.at("seconds").get<double>();
}

// Checks that links form a tree from the first switch outwards, and that all references exist.
bool is_sound(const Finding& finding) {
  const auto count = static_cast<std::uint32_t>(finding.switches.size());
  std::vector<bool> above(count);
  for (const LinkFound& link : finding.links) {
    if (link.a >= count || link.b >= count || link.b == 0 || above[link.b]) return false;
    above[link.b] = true;
  }
  // One link less than switches, each with a different lower end: there is no cycle only if walking
  // up always reaches the root.
  if (count > 0 && finding.links.size() + 1 != count) return false;
  std::vector<std::uint32_t> parent(count, nowhere);
  for (const LinkFound& link : finding.links) parent[link.b] = link.a;
  for (std::uint32_t sw = 0; sw < count; ++sw) {
    std::uint32_t at = sw, steps = 0;
    while (at != 0 && steps++ <= count) at = parent[at];
    if (at != 0) return false;
  }
  return std::all_of(finding.hosts.begin(), finding.hosts.end(),
                     [&](const HostFound& host) { return host.on < count || host.on == nowhere; });
}

}  // namespace

std::string to_json(const Finding& finding) {
  Json hosts = Json::array(), switches = Json::array(), links = Json::array();
  for (const HostFound& host : finding.hosts)
    hosts.push_back({{"name", host.name}, {"on", place_json(host.on)}, {"sure", host.sure}});
  for (const SwitchFound& sw : finding.switches)
    switches.push_back({{"name", sw.name}, {"depth_ns", sw.depth_ns}});
  for (const LinkFound& link : finding.links) {
    links.push_back({{"a", link.a},
                     {"b", link.b},
                     {"latency_ns", link.latency_ns},
                     {"rate_bit_per_s", link.rate_bit_per_s},
                     {"filled", to_word(link.filled)},
                     {"shared", link.shared},
                     {"sure", link.sure}});
  }
  const Json json = {{"weft", "probe"},
                     {"version", format_version},
                     {"complete", finding.complete},
                     {"tree", finding.tree},
                     {"contradicting", finding.contradicting},
                     {"host_ns", finding.host_ns},
                     {"host_bit_per_s", finding.host_bit_per_s},
                     {"noise_ns", finding.noise_ns},
                     {"same_ns", finding.same_ns},
                     {"jump_ns", finding.jump_ns},
                     {"remarks", finding.remarks},
                     {"counts", counts_json(finding.counts)},
                     {"hosts", hosts},
                     {"switches", switches},
                     {"links", links}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Finding> from_json(std::string_view text, const std::string& name) {
  constexpr const char* remedy = "; give a file that weft probe --json has written";
  try {
    const Json json = Json::parse(text);
    if (json.value("weft", "") != "probe" || json.value("version", 0) != format_version)
      return Error::input(std::string("not a finding of this version of weft probe") + remedy)
          .at(name, 0);
    Finding finding;
    read_places(json, finding);
    read_links(json, finding);
    read_numbers(json, finding);
    if (!is_sound(finding))
      return Error::input(std::string("its links do not form a tree of its switches") + remedy)
          .at(name, 0);
    return finding;
  } catch (const std::exception& e) {
    return Error::input(std::string(e.what()) + remedy).at(name, 0);
  }
}

}  // namespace weft::probe
