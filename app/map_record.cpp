// SPDX-License-Identifier: Apache-2.0
#include "map_record.hpp"

#include <algorithm>
#include <filesystem>

#include "record_folder.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/base/shell_word.hpp>
#include <weft/base/text.hpp>
#include <weft/program/run_record/run_settings.hpp>

namespace weft::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

bool exists(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

Status read_summary(MapRecord& record) {
  const std::string path = record.folder + "/summary.json";
  const auto text = read_file(path);
  if (!text) {
    return Error::input(record.folder +
                        " has no summary.json: give a folder of weft sim --record DIR or weft run "
                        "--record DIR");
  }
  try {
    const Json json = Json::parse(*text);
    json.at("weft").get_to(record.kind);
    if (record.kind != "sim" && record.kind != "run")
      return Error::input(path + " was not written by weft sim or weft run");
    json.at("ranks").get_to(record.ranks);
    if (json.contains("warnings")) json.at("warnings").get_to(record.warnings);
    if (json.contains("hosts"))
      for (const Json& host : json.at("hosts")) record.hosts.push_back(host.at("name"));
  } catch (const Json::exception& error) {
    return Error::input(path + " is damaged or from another version of weft: " + error.what());
  }
  return {};
}

// Lines "rank,node,...", in the order of ranks.
Status read_nodes(MapRecord& record) {
  const std::string path = record.folder + "/ranks.csv";
  const auto text = read_file(path);
  if (!text) return {};
  int number = 0;
  for (const std::string_view line : split(*text, '\n')) {
    if (++number == 1 || trim(line).empty()) continue;
    const auto cells = split(line, ',');
    const auto rank = parse_int(cells[0]);
    const auto node = parse_int(cells.size() > 1 ? cells[1] : "");
    if (!rank || !node || *node < 0 || *node > 0x7fffffff)
      return Error::input("the line does not begin with 'rank,node,'").at(path, number);
    if (*rank != static_cast<std::int64_t>(record.nodes.size())) break;  // A rank left no numbers.
    record.nodes.push_back(static_cast<std::uint32_t>(*node));
  }
  if (record.nodes.size() != record.ranks) record.nodes.clear();
  return {};
}

// "--map", "--map=FILE" and "-oDIR".
bool is_option(const std::string& word, std::string_view name) {
  if (!name.starts_with("--")) return word.starts_with(name);
  return word == name || word.starts_with(std::string(name) + "=");
}

// The command without its program and without what a second run has of its own.
void keep_command(const RunSettings& run, MapRecord& record) {
  if (run.program.empty() || run.program.size() >= run.command.size() ||
      !std::equal(run.program.rbegin(), run.program.rend(), run.command.rbegin()))
    return;
  const std::size_t end = run.command.size() - run.program.size();
  std::vector<std::string_view> names = {"--map", "--record", "--output", "--out", "-o"};
  if (run.kind == "run") names.emplace_back("--profile");  // The former name of --record.
  for (std::size_t i = 0; i < end; ++i) {
    const std::string& word = run.command[i];
    bool own = false;
    for (const std::string_view name : names) {
      if (!is_option(word, name)) continue;
      own = true;
      if (word == name) ++i;
    }
    if (!own) record.run_again.push_back(word);
  }
  record.program = run.program;
  record.run_folder = run.folder;
}

std::uint32_t most_on_a_node(const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> sorted = nodes;
  std::sort(sorted.begin(), sorted.end());
  std::uint32_t most = 1, here = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    here = i > 0 && sorted[i] == sorted[i - 1] ? here + 1 : 1;
    most = std::max(most, here);
  }
  return most;
}

}  // namespace

Result<MapRecord> read_map_record(const std::string& path) {
  MapRecord record;
  std::error_code failed;
  if (!exists(path)) return Error::input(path + ": no such record");
  record.folder = fs::is_directory(path, failed)     ? path
                  : fs::path(path).has_parent_path() ? fs::path(path).parent_path().string()
                                                     : ".";
  if (Status s = read_summary(record); !s) return std::move(s).error();
  if (Status s = read_nodes(record); !s) return std::move(s).error();
  if (!exists(record.folder + "/" + settings_file_name)) return record;  // Of an older weft.
  const auto run = read_run_settings(record.folder);
  if (!run) return Error(run.error());
  keep_command(*run, record);
  return record;
}

bool MapRecord::has_machine(const MapOptions& options) const {
  return options.machine.words.net == folder + "/" + machine_used_name;
}

Status complete_from(const MapRecord& record, MapOptions& o) {
  if (!o.program.empty())
    return Error::call("--program: " + record.folder + " has its traffic; leave out one of them");
  const std::string machine = record.folder + "/" + machine_used_name;
  if (o.machine.words.net.empty() && exists(machine)) {
    o.machine.words.net = machine;
  } else if (o.machine.words.net.empty() && record.kind == "run") {
    return Error::call(record.folder +
                       " is the record of a real run, which holds no network: give the network of "
                       "its hosts with --net (weft probe finds it)");
  } else if (o.machine.words.net.empty()) {
    return Error::call(record.folder + " has no " + machine_used_name +
                       ", because an older weft made it: give the network with --net");
  }
  const std::string traffic = record.folder + "/traffic.txt";
  if (o.traffic.empty() && exists(traffic)) {
    o.traffic = traffic;
    if (o.ranks == 0) o.ranks = record.ranks;
  } else if (o.traffic.empty()) {
    return Error::call(record.folder +
                       " has no traffic.txt: record it with weft sim --record DIR, or give "
                       "--traffic FILE");
  }
  if (!o.ranks_per_node_given) o.ranks_per_node = most_on_a_node(record.nodes);
  if (!o.compare) o.simulate = true;
  return {};
}

PresentNodes find_present_nodes(const MapRecord& record, const Topology& topology,
                                const std::vector<std::string>& hosts) {
  PresentNodes found;
  if (record.nodes.empty()) {
    found.reason = "the record does not name the node of every rank";
    return found;
  }
  const std::uint32_t nodes = topology.graph.node_count();
  for (std::uint32_t host = 0; host < record.hosts.size(); ++host) {
    const std::string& name = record.hosts[host];
    if (const auto at = std::find(hosts.begin(), hosts.end(), name); at != hosts.end()) {
      found.by_host.push_back(static_cast<std::uint32_t>(at - hosts.begin()));
    } else if (const auto node = find_node(topology, name); hosts.empty() && node) {
      found.by_host.push_back(node->index);
    }
  }
  if (found.by_host.empty() && hosts.empty())
    for (std::uint32_t host = 0; host < record.hosts.size(); ++host) found.by_host.push_back(host);
  if (found.by_host.size() != record.hosts.size()) {
    found.by_host.clear();
    found.reason = "the network has no node for some host of the record; name all with --hosts";
    return found;
  }
  for (const std::uint32_t node : record.nodes) {
    const std::uint32_t here = record.kind == "sim"          ? node
                               : node < found.by_host.size() ? found.by_host[node]
                                                             : nodes;
    if (here >= nodes) {
      found.reason = fmt::format("{} has no node {}", topology.name, here);
      found.by_rank.clear();
      found.by_host.clear();
      return found;
    }
    found.by_rank.push_back(here);
  }
  return found;
}

std::string command_with_map(const MapRecord& record, const std::string& map_path) {
  if (record.run_again.empty()) return "";
  std::error_code failed;
  const bool here = fs::current_path(failed).string() == record.run_folder;
  const std::string map = here ? map_path : fs::absolute(map_path, failed).string();
  std::string text = here ? "" : "cd " + shell_word(record.run_folder) + " && ";
  for (std::size_t i = 0; i < record.run_again.size(); ++i)
    text += (i > 0 ? " " : "") + shell_word(record.run_again[i]);
  text += " --map " + shell_word(map) + " --record " + shell_word(record.folder + "-mapped");
  for (const std::string& word : record.program) text += " " + shell_word(word);
  return text;
}

}  // namespace weft::app
