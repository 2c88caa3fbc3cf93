// SPDX-License-Identifier: Apache-2.0
// The parts of load(); each fills a view from one kind of file.
#pragma once

#include <string>

#include <weft/output/report/load.hpp>

namespace weft::report {

Status load_series(const std::string& folder, const Limits& limits, RunView& view);
Status load_timeline(const std::string& folder, const Limits& limits, RunView& view);
Status load_matrix(const std::string& path, const Limits& limits, RunView& view);
Status load_table(const std::string& path, Table table, RunView& view);  // CSV with a header line.

Status load_output(const std::string& path, RunView& view);

// Each reads the JSON of one kind of run. They may throw what nlohmann throws.
void add_folder_facts(const Json& summary, RunView& view);
void add_settings(const Json& settings, RunView& view);
void add_traffic(const Json& json, RunView& view);
void add_map(const Json& json, RunView& view);
void add_probe(const Json& json, RunView& view);

}  // namespace weft::report
