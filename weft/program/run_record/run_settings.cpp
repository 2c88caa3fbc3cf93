// SPDX-License-Identifier: Apache-2.0
#include "run_settings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/fingerprint.hpp>
#include <weft/base/text.hpp>
#include <weft/base/version.hpp>

namespace weft {

namespace {

using Json = nlohmann::ordered_json;

// The text of a TOML string; other values stay as they are.
std::string plain_value(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::string(value);
  std::string out;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    if (value[i] == '\\' && i + 2 < value.size()) ++i;
    out += value[i];
  }
  return out;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

Json to_object(const RunSettings::Pairs& pairs) {
  Json json = Json::object();
  for (const auto& [key, value] : pairs) json[key] = value;
  return json;
}

void add_members(const RunSettings& run, Json& json) {
  json["settings"] = to_object(run.settings);
  json["circumstances"] = to_object(run.circumstances);
  if (!run.machine.empty()) json["machine"] = run.machine;
}

std::string to_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunSettings::Pairs to_pairs(const Json& json) {
  RunSettings::Pairs pairs;
  for (const auto& [key, value] : json.items()) pairs.emplace_back(key, value.get<std::string>());
  return pairs;
}

}  // namespace

std::string fingerprint(std::string_view contents) {
  Fingerprint print;
  print.add(contents);
  return print.text();
}

std::string fingerprint_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "";
  Fingerprint print;
  std::array<char, 1 << 16> part;
  while (file.read(part.data(), part.size()) || file.gcount() > 0)
    print.add({part.data(), static_cast<std::size_t>(file.gcount())});
  return print.text();
}

void add_program(RunSettings& run, const std::vector<std::string>& words, const std::string& path) {
  if (words.empty()) return;
  run.program = words;
  run.settings.emplace_back("program", std::filesystem::path(words.front()).filename().string());
  run.settings.emplace_back("program.arguments", join({words.begin() + 1, words.end()}));
  run.settings.emplace_back("program.fingerprint", fingerprint_of_file(path));
}

void add_host(RunSettings& run) {
  run.settings.emplace_back("weft", std::string(version()));
  utsname system = {};
  if (::uname(&system) == 0) {
    run.circumstances.emplace_back("host", system.nodename);
    run.circumstances.emplace_back(
        "system", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  }
  const long processors = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  run.circumstances.emplace_back("processors", std::to_string(processors));
}

void add_machine(RunSettings& run, const std::string& text) {
  run.machine = text;
  constexpr std::string_view mark = "# default";
  std::string table;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      table = std::string(line.substr(1, line.size() - 2)) + ".";
      continue;
    }
    if (line.ends_with(mark)) line = trim(line.substr(0, line.size() - mark.size()));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    run.settings.emplace_back(table + std::string(trim(line.substr(0, equals))),
                              plain_value(trim(line.substr(equals + 1))));
  }
}

void add_job_lines(RunSettings& run, std::string_view text) {
  constexpr std::size_t value_size_max = 400;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    if (const auto name = line.substr(0, equals); name == "record" || name == "places") continue;
    const std::string_view value = line.substr(equals + 1);
    run.settings.emplace_back(line.substr(0, equals), value.size() <= value_size_max
                                                          ? std::string(value)
                                                          : "contents " + fingerprint(value));
  }
}

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void add_command(RunSettings& run) {
  run.command = own_command_line();
  std::error_code failed;
  run.folder = std::filesystem::current_path(failed).string();
}

std::string to_json(const RunSettings& run) {
  Json json = {{"weft", run.kind},
               {"version", 1},
               {"command", run.command},
               {"folder", run.folder},
               {"program", run.program}};
  add_members(run, json);
  return to_text(json);
}

std::string with_settings(std::string_view object, const RunSettings& run) {
  Json json = Json::parse(object);
  json["command"] = run.command;
  json["folder"] = run.folder;
  add_members(run, json);
  return to_text(json);
}

Result<RunSettings> read_run_settings(const std::string& folder) {
  const std::string path = folder + "/" + settings_file_name;
  const auto text = read_file(path);
  if (!text) return Error(text.error());
  try {
    const Json json = Json::parse(*text);
    RunSettings run;
    json.at("weft").get_to(run.kind);
    json.at("command").get_to(run.command);
    json.at("folder").get_to(run.folder);
    json.at("program").get_to(run.program);
    run.settings = to_pairs(json.at("settings"));
    run.circumstances = to_pairs(json.at("circumstances"));
    run.machine = json.value("machine", "");
    return run;
  } catch (const Json::exception& error) {
    return Error::input(path + " is damaged or from another version of weft: " + error.what());
  }
}

}  // namespace weft
