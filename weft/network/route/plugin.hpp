// SPDX-License-Identifier: Apache-2.0
// Finds a policy in a shared library. Private to route.
#pragma once

#include <string_view>

#include <weft/network/route/policy_plugin.hpp>

namespace weft::detail {

// A routing that names a library, taken apart: "./libmine.so:my-policy:words".
struct PluginText {
  std::string_view path;
  std::string_view name;   // Empty: none was given.
  std::string_view words;  // What follows the next colon.
  bool has_words = false;
};
PluginText parse_plugin(std::string_view routing);

// The entry lives until the process ends. The error says what is wrong with the library.
Result<const PolicyEntry*> load_policy(const PluginText& text);

}  // namespace weft::detail
