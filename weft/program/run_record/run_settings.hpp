// SPDX-License-Identifier: Apache-2.0
// What a run was asked to do, as settings.json of its record. Settings can change results, so two
// records that differ in one of them are told apart by it; circumstances (threads, the computer
// that simulated) cannot. Values are texts, as the user would type them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

inline constexpr const char* settings_file_name = "settings.json";

struct RunSettings {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  std::string kind;                  // "sim", "run", "traffic" or "map".
  std::vector<std::string> command;  // As it was typed; empty under another launcher.
  std::string folder;                // Where it was typed.
  std::vector<std::string> program;  // The program and its arguments.
  Pairs settings, circumstances;
  // As `weft sim --show-machine` prints it; empty for real runs.
  std::string machine;
};

// Adds the program to the settings: its name, its arguments and a fingerprint of the file.
void add_program(RunSettings& run, const std::vector<std::string>& words, const std::string& path);
// Adds this process's command line and its folder.
void add_command(RunSettings& run);
// Adds the version of weft to the settings, and this computer to the circumstances.
void add_host(RunSettings& run);
// Adds every key of a description to the settings: "link.rate".
void add_machine(RunSettings& run, const std::string& text);

// Adds the lines "name=value" of a real job to the settings, but not those about the record and
// about one rank; of a long value only its fingerprint.
void add_job_lines(RunSettings& run, std::string_view text);

// A short text that differs if the contents do.
std::string fingerprint(std::string_view contents);
std::string fingerprint_of_file(const std::string& path);  // Empty if it cannot be read.

// The words of this process's command line.
std::vector<std::string> own_command_line();

std::string to_json(const RunSettings& run);
// The text of a JSON object, a result that is one file, with the members that settings.json has.
std::string with_settings(std::string_view object, const RunSettings& run);
Result<RunSettings> read_run_settings(const std::string& folder);

}  // namespace weft
