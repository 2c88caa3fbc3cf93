// SPDX-License-Identifier: Apache-2.0
// Loads what a run was asked to do, and what its program printed.
#include <charconv>
#include <fstream>

#include <weft/output/report/load_parts.hpp>

namespace weft::report {

void add_settings(const Json& json, RunView& view) {
  Table table{"settings", "Settings", {{"setting"}, {"value"}, {"can change results"}}, {}};
  for (const auto& [key, value] : json.at("settings").items()) {
    view.settings.push_back({key, value.get<std::string>()});
    table.rows.push_back({key, value, "yes"});
  }
  for (const auto& [key, value] : json.at("circumstances").items())
    table.rows.push_back({key, value, "no"});
  std::string command;
  for (const Json& word : json.at("command"))
    command += (command.empty() ? "" : " ") + word.get<std::string>();
  table.rows.push_back({"command", command, "no"});
  table.rows.push_back({"folder", json.at("folder"), "no"});
  view.tables.push_back(std::move(table));
}

// A line is "time_ps rank stream text".
Status load_output(const std::string& path, RunView& view) {
  constexpr std::size_t rows_max = 100'000;
  Table table{
      "output", "What the program printed", {{"time", "ps"}, {"rank"}, {"stream"}, {"text"}}, {}};
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (number == 1) continue;
    if (table.rows.size() == rows_max) {
      view.remarks.push_back("Only the first " + std::to_string(rows_max) +
                             " lines that the program printed are shown; " + path + " has all.");
      break;
    }
    std::vector<Json> row;
    const char* at = line.data();
    const char* const end = line.data() + line.size();
    for (int column = 0; column < 3; ++column) {
      std::int64_t value = 0;
      const auto [next, failed] = std::from_chars(at, end, value);
      if (failed != std::errc() || next == end || *next != ' ')
        return Error::input("the line is not 'time_ps rank stream text'").at(path, number);
      row.emplace_back(value);
      at = next + 1;
    }
    row.emplace_back(std::string(at, end));
    table.rows.push_back(std::move(row));
  }
  view.tables.push_back(std::move(table));
  return {};
}

}  // namespace weft::report
