// SPDX-License-Identifier: Apache-2.0
#include "presets.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "home.hpp"
#include <CLI/CLI.hpp>

#include <weft/base/file.hpp>

namespace weft::app {
namespace {

constexpr std::string_view prefix = "preset:";

std::filesystem::path preset_folder() {
  return std::filesystem::path(find_home().share) / "presets";
}

std::string first_comment(const std::filesystem::path& file) {
  const auto text = read_file(file.string());
  if (!text || !text->starts_with("# ")) return {};
  return text->substr(2, text->find('\n') - 2);
}

}  // namespace

std::vector<Preset> find_presets() {
  std::vector<Preset> out;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(preset_folder(), failed))
    if (entry.path().extension() == ".toml")
      out.push_back({entry.path().stem().string(), first_comment(entry.path())});
  std::ranges::sort(out, {}, &Preset::name);
  return out;
}

std::string resolve_preset(std::string net) {
  if (!net.starts_with(prefix)) return net;
  const std::string name = net.substr(prefix.size());
  const std::vector<Preset> presets = find_presets();
  if (std::ranges::find(presets, name, &Preset::name) != presets.end())
    return (preset_folder() / (name + ".toml")).string();
  std::string names;
  for (const Preset& preset : presets) names += (names.empty() ? "" : ", ") + preset.name;
  if (names.empty()) names = "none, because " + preset_folder().string() + " is missing";
  throw CLI::ValidationError("preset '" + name + "' is unknown; there are: " + names);
}

}  // namespace weft::app
