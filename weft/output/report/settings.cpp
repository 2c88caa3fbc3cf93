// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/output/report/settings.hpp>

namespace weft::report {

namespace {

std::optional<std::string> find(const RunView& view, const std::string& key) {
  const auto found = std::find_if(view.settings.begin(), view.settings.end(),
                                  [&](const Setting& setting) { return setting.key == key; });
  if (found == view.settings.end()) return std::nullopt;
  return found->value;
}

bool all_equal(const std::vector<std::optional<std::string>>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const auto& value) { return value == values.front(); });
}

}  // namespace

std::vector<Difference> differing_settings(std::span<const RunView> views) {
  std::vector<Difference> out;
  if (views.size() < 2) return out;
  std::vector<std::string> keys;
  bool one_kind = true;
  for (const RunView& view : views) {
    if (view.settings.empty()) return out;
    one_kind = one_kind && view.kind == views.front().kind;
    for (const Setting& setting : view.settings)
      if (std::find(keys.begin(), keys.end(), setting.key) == keys.end())
        keys.push_back(setting.key);
  }
  for (const std::string& key : keys) {
    Difference difference{key, {}};
    bool in_all = true;
    for (const RunView& view : views) {
      difference.values.push_back(find(view, key));
      in_all = in_all && difference.values.back().has_value();
    }
    if ((one_kind || in_all) && !all_equal(difference.values)) out.push_back(std::move(difference));
  }
  return out;
}

void add_differences(std::span<RunView> views) {
  for (const Difference& difference : differing_settings(views)) {
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto& value = difference.values[i];
      if (!value) continue;
      views[i].facts.push_back({"settings." + difference.key, "Setting: " + difference.key,
                                value->empty() ? "(none)" : *value});
    }
  }
  const auto recorded = [](const RunView& view) {
    return view.kind == "sim" || view.kind == "run";
  };
  for (RunView& view : views)
    if (views.size() > 1 && recorded(view) && view.settings.empty())
      view.remarks.emplace_back(
          "The record has no settings.json, so settings are not compared: it was made by an older "
          "weft");
}

}  // namespace weft::report
