// SPDX-License-Identifier: Apache-2.0
// Variables by which launchers speak to the processes they start. All of launch asks here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::launch {

std::optional<std::string> variable(const char* name);
void drop_variable(const char* name);
// "NAME=VALUE" of every variable that begins so; empty: of all.
std::vector<std::string> variables_beginning(std::string_view prefix);

}  // namespace weft::launch
