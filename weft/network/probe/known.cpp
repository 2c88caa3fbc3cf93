// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/known.hpp"

#include <algorithm>
#include <exception>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::probe {
namespace {

constexpr std::size_t names_max = 1 << 20;
constexpr std::size_t told_max = 8;
using Json = nlohmann::json;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' '))
    if (const auto part = trim(word); !part.empty()) words.push_back(part);
  return words;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// "0-3,007" inside brackets, with the width of the first number.
Status expand_range(std::string_view range, const std::string& prefix, const std::string& suffix,
                    std::vector<std::string>& out) {
  const std::size_t dash = range.find('-');
  const auto low = parse_int(range.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parse_int(range.substr(dash + 1));
  if (!low || !high || *low < 0 || *high < *low)
    return Error::input(fmt::format("'{}' is not a range of numbers", range));
  if (static_cast<std::size_t>(*high - *low) + out.size() > names_max)
    return Error::input("too many names");
  const std::size_t width = std::min(dash, range.size());
  for (auto i = *low; i <= *high; ++i)
    out.push_back(fmt::format("{}{:0{}}{}", prefix, i, width, suffix));
  return {};
}

// One name with at most one pair of brackets.
Status expand_one(std::string_view text, std::vector<std::string>& out) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) {
    out.emplace_back(text);
    return {};
  }
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos || text.find('[', close) != std::string_view::npos)
    return Error::input(fmt::format("'{}': write one range, as in h[0-3,7]", text));
  for (const std::string_view range : split(text.substr(open + 1, close - open - 1), ','))
    if (Status s = expand_range(range, std::string(text.substr(0, open)),
                                std::string(text.substr(close + 1)), out);
        !s)
      return s;
  return {};
}

// The switch's name in lldpctl's report about one interface.
std::string chassis_name(const Json& chassis) {
  if (!chassis.is_object()) return {};
  if (chassis.contains("name") && chassis["name"].is_string()) return chassis["name"];
  if (chassis.contains("id") && chassis["id"].is_object()) return chassis["id"].value("value", "");
  // {"switch name": {...}}, as lldpctl prints it.
  return chassis.empty() || !chassis.begin()->is_object() ? "" : chassis.begin().key();
}

std::string switch_in_json(const std::string& text) {
  const Json json = Json::parse(text);
  const Json* interfaces = json.contains("lldp") ? &json["lldp"] : &json;
  if (interfaces->contains("interface")) interfaces = &(*interfaces)["interface"];
  std::vector<const Json*> open = {interfaces};
  for (std::size_t i = 0; i < open.size() && i < names_max; ++i) {
    if (open[i]->is_object() && open[i]->contains("chassis"))
      if (std::string name = chassis_name((*open[i])["chassis"]); !name.empty()) return name;
    if (open[i]->is_structured())
      for (const Json& inner : *open[i]) open.push_back(&inner);
  }
  return {};
}

std::string switch_in_words(const std::string& text) {
  std::string by_id;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, equals));
    if (key.ends_with(".chassis.name")) return std::string(trim(line.substr(equals + 1)));
    if (key.ends_with(".chassis.mac")) by_id = trim(line.substr(equals + 1));
  }
  return by_id;
}

Status read_slurm_line(std::string_view line, Known& known) {
  std::string name;
  std::vector<std::string> nodes, switches;
  for (const std::string_view word : words_of(line)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return Error::input(fmt::format("'{}' is not KEY=VALUE", word));
    const std::string key = lower(word.substr(0, equals));
    const std::string_view value = word.substr(equals + 1);
    if (key == "switchname") {
      name = value;
    } else if (key == "nodes" || key == "switches") {
      auto names = expand_names(value);
      if (!names) return std::move(names).error();
      (key == "nodes" ? nodes : switches) = *std::move(names);
    } else if (key != "linkspeed") {
      constexpr std::string_view all[] = {"SwitchName", "Nodes", "Switches", "LinkSpeed"};
      return Error::input(
          fmt::format("unknown key '{}'{}", word.substr(0, equals), suggest(key, all)));
    }
  }
  if (name.empty()) return Error::input("a line has no SwitchName=NAME");
  for (const std::string& node : nodes) known.on[node] = name;
  for (const std::string& below : switches) known.above[below] = name;
  return {};
}

Status lldp_host(const std::string& host, const std::string& text, Known& known) {
  std::string sw;
  try {
    sw = trim(text).starts_with('{') ? switch_in_json(text) : switch_in_words(text);
  } catch (const std::exception& e) {
    return Error::input(fmt::format("host {}: {}", host, e.what()));
  }
  if (sw.empty())
    return Error::input(
        fmt::format("host {}: no neighbour is listed; is lldpd running there?", host));
  known.on[host] = sw;
  return {};
}

// The value of <info name="NAME" value="VALUE"/>, unless it is a placeholder that a vendor left
// there.
std::string info_in_xml(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(fmt::format("<info name=\"{}\" value=\"", name));
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(text.find("value=\"", at) + 7);
  value = trim(value.substr(0, value.find('"')));
  constexpr std::string_view unnumbered[] = {"none", "not specified", "default string",
                                             "to be filled by o.e.m.", "system serial number"};
  const bool blank =
      value.find_first_not_of("0-. ") == std::string_view::npos ||
      std::find(std::begin(unnumbered), std::end(unnumbered), lower(value)) != std::end(unnumbered);
  return blank ? std::string() : std::string(value);
}

Status hwloc_host(const std::string& host, const std::string& text, Known& known) {
  if (text.find("<topology") == std::string::npos)
    return Error::input(
        fmt::format("host {}: this is not hwloc's XML; write 'lstopo --of xml'", host));
  for (const std::string_view name : {"DMIChassisSerial", "DMIProductUUID", "DMIBoardSerial"}) {
    const std::string value = info_in_xml(text, name);
    if (value.empty()) continue;
    known.on[host] = fmt::format("{} {}", name, value);
    break;
  }
  return {};
}

// One section per host, after a line "host NAME".
Status read_hosts(std::string_view text, const std::string& path, Known& known,
                  Status (*read)(const std::string& host, const std::string& text, Known& known)) {
  std::string host, part;
  int begin = 1;
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i <= lines.size(); ++i) {
    const bool end = i == lines.size();
    if (!end && !lines[i].starts_with("host ")) {
      part += std::string(lines[i]) + "\n";
      continue;
    }
    Status status;
    if (!host.empty()) {
      status = read(host, part, known);
    } else if (!trim(part).empty()) {
      status =
          Error::input("text before the first line 'host NAME'; begin each host's part with one");
    }
    if (!status) return std::move(status).error().at(path, begin);
    begin = static_cast<int>(i) + 1;
    part.clear();
    if (!end) host = trim(lines[i].substr(5));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> expand_names(std::string_view text) {
  std::vector<std::string> out;
  std::size_t begin = 0, depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    if (i > begin)
      if (Status s = expand_one(text.substr(begin, i - begin), out); !s)
        return std::move(s).error();
    begin = i + 1;
  }
  return out;
}

Result<Known> read_slurm(std::string_view text, const std::string& path) {
  Known known{"Slurm's " + path, {}, {}};
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (Status s = read_slurm_line(line, known); !s) return std::move(s).error().at(path, number);
  }
  return known;
}

Result<Known> read_lldp(std::string_view text, const std::string& path) {
  Known known{"LLDP in " + path, {}, {}};
  if (Status s = read_hosts(text, path, known, lldp_host); !s) return std::move(s).error();
  return known;
}

Result<Known> read_hwloc(std::string_view text, const std::string& path) {
  Known known{"hwloc in " + path, {}, {}, false};
  if (Status s = read_hosts(text, path, known, hwloc_host); !s) return std::move(s).error();
  if (known.on.empty())
    return Error::input("no host has a chassis serial number; run lstopo as root").at(path, 1);
  return known;
}

Result<Known> read_groups(std::string_view text, const std::string& path) {
  Known known{path, {}, {}};
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words.size() != 2) return Error::input("write: HOST SWITCH").at(path, number);
    if (!known.on.emplace(words[0], words[1]).second)
      return Error::input(fmt::format("host '{}' is listed twice", words[0])).at(path, number);
  }
  return known;
}

Result<Known> read_known(const std::string& option) {
  constexpr std::string_view kinds[] = {"slurm", "lldp", "hwloc", "groups"};
  const std::size_t equals = option.find('=');
  const std::string kind = option.substr(0, equals);
  if (std::find(std::begin(kinds), std::end(kinds), kind) == std::end(kinds))
    return Error::call(fmt::format("--check: unknown kind '{}'{}", kind, suggest(kind, kinds)));
  if (equals == std::string::npos || equals + 1 == option.size())
    return Error::call(fmt::format("--check: which file? Write {}=FILE", kind));
  const std::string path = option.substr(equals + 1);
  const auto text = read_file(path);
  if (!text) return Error(text.error());
  return kind == "slurm"   ? read_slurm(*text, path)
         : kind == "lldp"  ? read_lldp(*text, path)
         : kind == "hwloc" ? read_hwloc(*text, path)
                           : read_groups(*text, path);
}

Check check_against(const Finding& finding, const Known& known) {
  Check check;
  // For each switch found: a host by its known switch.
  std::map<std::uint32_t, std::map<std::string, std::string>> found;
  std::map<std::string, std::map<std::uint32_t, std::string>> listed;
  for (const HostFound& host : finding.hosts) {
    const auto at = known.on.find(host.name);
    if (at == known.on.end() || host.on == nowhere) continue;
    ++check.compared;
    found[host.on].emplace(at->second, host.name);
    listed[at->second].emplace(host.on, host.name);
  }
  const auto report = [&](const auto& mixed, const char* text) {
    for (const auto& [sw, parts] : mixed) {
      if (parts.size() < 2 || check.differences.size() >= told_max) continue;
      check.differences.push_back(
          fmt::format(fmt::runtime(text), parts.begin()->second, std::next(parts.begin())->second));
    }
  };
  if (known.apart) report(found, "{} and {} were found on one switch but are listed on two");
  report(listed, "{} and {} are listed on one switch but were found on two");
  return check;
}

}  // namespace weft::probe
