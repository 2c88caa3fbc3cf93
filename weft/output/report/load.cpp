// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <utility>

#include <weft/base/file.hpp>
#include <weft/output/record/series_file.hpp>
#include <weft/output/record/timeline.hpp>
#include <weft/output/report/load.hpp>
#include <weft/output/report/load_parts.hpp>

namespace weft::report {

namespace {

namespace fs = std::filesystem;

Result<Json> read_json(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return Error(text.error());
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return Error::input(path + " is not JSON written by weft");
  return json;
}

std::string kind_of(const Json& json) {
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string format = text("format");
  std::string weft = text("weft");
  if (format.starts_with("weft-traffic")) return "traffic";
  if (format == "weft-map-report") return "map";
  if (weft == "probe" || weft == "sim" || weft == "run") return weft;
  return "";
}

// Turns nlohmann's exceptions about missing or mistyped keys into errors that name the file.
template <typename Add>
Status guarded(const std::string& path, Add&& add) {
  try {
    add();
  } catch (const Json::exception& error) {
    return Error::input(path + " is incomplete or from another version of weft: " + error.what());
  }
  return {};
}

Status load_node_links(const std::string& path, RunView& view) {
  return load_table(path,
                    {"node-links",
                     "Links between nodes and routers",
                     {{"node"},
                      {"card"},
                      {"packets injected", "1"},
                      {"injected", "B"},
                      {"injecting", "ps"},
                      {"injection waited for", "ps"},
                      {"packets ejected", "1"},
                      {"ejected", "B"},
                      {"ejecting", "ps"},
                      {"ejection waited for", "ps"}},
                     {}},
                    view);
}

Status add_files(const std::string& folder, const Limits& limits, RunView& view) {
  std::error_code failed;
  const auto has = [&](const char* name) { return fs::exists(fs::path(folder) / name, failed); };
  const bool sim = view.kind == "sim";
  if (has_series(folder)) {
    if (Status s = load_series(folder, limits, view); !s) return s;
  } else if (sim) {
    view.remarks.emplace_back("Links over time were not recorded: weft sim --record DIR");
  }
  if (has_timeline(folder)) {
    if (Status s = load_timeline(folder, limits, view); !s) return s;
  } else {
    view.remarks.emplace_back(sim ? "Calls over time were not recorded: weft sim --record DIR"
                                  : "Calls over time were not recorded: rank 0 did not end well");
  }
  if (has("traffic.txt")) {
    if (Status s = load_matrix(folder + "/traffic.txt", limits, view); !s) return s;
  } else if (sim) {
    view.remarks.emplace_back("The traffic matrix was not recorded: weft sim --record DIR");
  }
  if (has("ranks.csv")) {
    Table ranks{"ranks",
                "Ranks",
                {{"rank"},
                 {"node"},
                 {"end", "ps"},
                 {"waited", "ps"},
                 {"processor", "ps"},
                 {"messages", "1"},
                 {"bytes", "B"}},
                {}};
    if (Status s = load_table(folder + "/ranks.csv", std::move(ranks), view); !s) return s;
  }
  if (has("node_links.csv")) {
    if (Status s = load_node_links(folder + "/node_links.csv", view); !s) return s;
  }
  if (has("settings.json")) {  // Records of former versions have none.
    const std::string path = folder + "/settings.json";
    const auto json = read_json(path);
    if (!json) return Error(json.error());
    if (Status s = guarded(path, [&] { add_settings(*json, view); }); !s) return s;
  }
  if (!has("program-output.txt")) return {};
  return load_output(folder + "/program-output.txt", view);
}

Result<RunView> load_folder(const std::string& folder, const Limits& limits) {
  const std::string path = folder + "/summary.json";
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    return Error::input(folder +
                        " has no summary.json: give a folder of weft sim --record DIR or weft run "
                        "--record DIR, or a --json file of weft traffic, map or probe");
  }
  const auto json = read_json(path);
  if (!json) return Error(json.error());
  RunView view;
  view.kind = kind_of(*json);
  if (view.kind != "sim" && view.kind != "run")
    return Error::input(path + " was not written by weft sim or weft run");
  if (Status s = guarded(path, [&] { add_folder_facts(*json, view); }); !s)
    return std::move(s).error();
  if (Status s = add_files(folder, limits, view); !s) return std::move(s).error();
  return view;
}

}  // namespace

Result<RunView> load(const std::string& path, const Limits& limits) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return load_folder(path, limits);
  if (!fs::exists(path, failed)) return Error::input(path + ": no such file or folder");
  const auto json = read_json(path);
  if (!json) return Error(json.error());
  RunView view;
  view.kind = kind_of(*json);
  if (view.kind == "sim" || view.kind == "run")
    return load_folder(
        fs::path(path).has_parent_path() ? fs::path(path).parent_path().string() : ".", limits);
  using Add = void (*)(const Json&, RunView&);
  const Add add = view.kind == "traffic" ? add_traffic
                  : view.kind == "map"   ? add_map
                  : view.kind == "probe" ? add_probe
                                         : nullptr;
  if (add == nullptr) return Error::input(path + " is not a file that weft report knows");
  if (Status s = guarded(path,
                         [&] {
                           add(*json, view);
                           if (json->contains("settings")) add_settings(*json, view);
                         });
      !s)
    return std::move(s).error();
  return view;
}

}  // namespace weft::report
