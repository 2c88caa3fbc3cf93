// SPDX-License-Identifier: Apache-2.0
// The message about an option that a command does not have.
#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace weft::app {

// "unknown option '--routin'; did you mean '--routing'?" `word` may carry a value ("--routin=dor").
// Without a near option the message ends in `otherwise`, or lists all options if that is empty.
std::string unknown_option(const CLI::App& command, std::string_view word,
                           std::string_view otherwise = {});

}  // namespace weft::app
