// SPDX-License-Identifier: Apache-2.0
// Environment variables through which launchers pass information to processes. All of launch reads
// them here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::launch {

std::optional<std::string> variable(const char* name);
void drop_variable(const char* name);
// "NAME=VALUE" of every variable with this prefix; an empty prefix means all.
std::vector<std::string> variables_beginning(std::string_view prefix);

}  // namespace weft::launch
