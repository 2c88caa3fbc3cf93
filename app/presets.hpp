// SPDX-License-Identifier: Apache-2.0
// Descriptions of known machines that come with weft, by name: preset:NAME in place of a file.
#pragma once

#include <string>
#include <vector>

namespace weft::app {

struct Preset {
  std::string name, help;  // `help` is the first line of its file.
};
std::vector<Preset> find_presets();

// The file that `net` names, if it is preset:NAME; else `net` itself. Throws CLI::ValidationError
// with the names of those that exist, so that it can be the transformation of an option.
std::string resolve_preset(std::string net);

}  // namespace weft::app
