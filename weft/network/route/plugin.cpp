// SPDX-License-Identifier: Apache-2.0
#include "weft/network/route/plugin.hpp"

#include <filesystem>
#include <span>
#include <vector>

#include <dlfcn.h>

#include <weft/base/text.hpp>

namespace weft {
namespace {

constexpr std::string_view library_end = ".so";

Error refuse(std::string_view path, const std::string& why) {
  return Error::input("routing library '" + std::string(path) + "' " + why);
}

// dlopen() looks for a name without a slash in the system's folders.
std::string as_file(std::string_view path) {
  const bool has_folder = path.find('/') != std::string_view::npos;
  return has_folder ? std::string(path) : "./" + std::string(path);
}

bool fits(const PolicyPlugin& plugin) {
  const PolicyPlugin own;
  return plugin.entry_size == own.entry_size && plugin.topology_size == own.topology_size &&
         plugin.choices_size == own.choices_size && plugin.flight_size == own.flight_size &&
         plugin.string_size == own.string_size;
}

Result<std::span<const PolicyEntry>> load_table(std::string_view path) {
  const std::string file = as_file(path);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return refuse(path, "does not exist; give the path of a file, such as ./libmine.so:my-policy");
  // Never closed: policies are used until the process ends. Loading it again costs nothing.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return refuse(path, "cannot be loaded: " + std::string(why != nullptr ? why : "unknown error"));
  }
  const auto* const plugin =
      static_cast<const PolicyPlugin*>(::dlsym(library, policy_plugin_symbol));
  if (plugin == nullptr)
    return refuse(path, "has no routing policies: the symbol '" +
                            std::string(policy_plugin_symbol) +
                            "' is missing; define it by WEFT_POLICY_PLUGIN");
  if (plugin->version != policy_interface_version)
    return refuse(path, "was built for version " + std::to_string(plugin->version) +
                            " of the policy interface, and this weft has version " +
                            std::to_string(policy_interface_version) +
                            "; build it against this weft's headers");
  if (!fits(*plugin) || (plugin->entries == nullptr && plugin->count > 0))
    return refuse(path,
                  "was built with other headers or another C++ library than this weft; build it "
                  "against this weft's headers");
  return std::span(plugin->entries, static_cast<std::size_t>(plugin->count));
}

}  // namespace

bool names_plugin(std::string_view routing) {
  return routing.find('/') != std::string_view::npos ||
         detail::parse_plugin(routing).path.ends_with(library_end);
}

std::string with_absolute_path(std::string_view routing) {
  if (!names_plugin(routing)) return std::string(routing);
  const std::string_view path = detail::parse_plugin(routing).path;
  std::error_code failed;
  const auto whole = std::filesystem::absolute(std::string(path), failed);
  if (failed) return std::string(routing);
  return whole.lexically_normal().string() + std::string(routing.substr(path.size()));
}

std::string with_path_from(std::string_view routing, std::string_view folder) {
  if (folder.empty() || !names_plugin(routing)) return std::string(routing);
  const std::string_view path = detail::parse_plugin(routing).path;
  const std::filesystem::path whole = std::filesystem::path(folder) / path;
  return whole.lexically_normal().string() + std::string(routing.substr(path.size()));
}

namespace detail {

// A path ends at the first colon behind its last slash.
PluginText parse_plugin(std::string_view routing) {
  PluginText text;
  const std::size_t slash = routing.rfind('/');
  const std::size_t end = routing.find(':', slash == std::string_view::npos ? 0 : slash);
  text.path = routing.substr(0, end);
  if (end == std::string_view::npos) return text;
  const std::string_view rest = routing.substr(end + 1);
  const std::size_t colon = rest.find(':');
  text.name = rest.substr(0, colon);
  text.has_words = colon != std::string_view::npos;
  if (text.has_words) text.words = rest.substr(colon + 1);
  return text;
}

Result<const PolicyEntry*> load_policy(const PluginText& text) {
  const auto table = load_table(text.path);
  if (!table) return table.error();
  std::vector<std::string_view> known;
  for (const PolicyEntry& entry : *table) {
    known.push_back(entry.name);
    if (entry.name != text.name) continue;
    if (entry.vcs_needed == nullptr || entry.make == nullptr ||
        (!entry.groups.empty() && (entry.vcs_needed_with == nullptr || entry.make_with == nullptr)))
      return refuse(text.path, "has an incomplete policy '" + std::string(text.name) + "'");
    return &entry;
  }
  if (known.empty()) return refuse(text.path, "has no policies");
  if (text.name.empty()) {
    std::string names;
    for (const std::string_view name : known)
      names += (names.empty() ? "" : ", ") + std::string(name);
    return refuse(text.path, "needs the name of a policy behind a colon; it has: " + names);
  }
  return refuse(text.path,
                "has no policy '" + std::string(text.name) + "'" + suggest(text.name, known));
}

}  // namespace detail
}  // namespace weft
