// SPDX-License-Identifier: Apache-2.0
#include "record_folder.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/program/run_record/output_log.hpp>
#include <weft/program/run_record/run_settings.hpp>

namespace weft::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 18> own_names = {
    "summary.json",    "summary.txt",   "ranks.csv",     "calls.csv",        "traffic.txt",
    "series.h5",       "series.raw",    "timeline.h5",   "timeline.raw",     "connections.csv",
    "buffers.csv",     "trace.otf2",    "trace.def",     settings_file_name, output_log_name,
    machine_used_name, graph_used_name, "node_links.csv"};

bool belongs_to_record(const std::string& name) {
  if (std::find(own_names.begin(), own_names.end(), name) != own_names.end()) return true;
  if (!name.starts_with("events.") || !name.ends_with(".bin") || name.size() < 12) return false;
  return parse_int(name.substr(7, name.size() - 11)).has_value();
}

bool has_record(const std::string& folder) {
  const auto summary = read_file(folder + "/summary.json");
  return summary && summary->find("\"weft\"") != std::string::npos;
}

}  // namespace

Status remove_former_record(const std::string& folder) {
  if (!has_record(folder)) return {};
  std::error_code failed;
  std::vector<fs::path> old;
  // An archive is two files and a folder.
  if (fs::exists(folder + "/trace.otf2", failed)) old.push_back(folder + "/trace");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (belongs_to_record(entry.path().filename().string())) old.push_back(entry.path());
  }
  for (const fs::path& path : old) {
    if (!failed) fs::remove_all(path, failed);
  }
  if (failed) return Error::input(folder + ": " + failed.message());
  return {};
}

}  // namespace weft::app
