// SPDX-License-Identifier: Apache-2.0
// Policies of weft itself as a library that weft loads: `copy-of-dor` must do what `dor` does.
#include <string_view>

#include <weft/network/route/policy_plugin.hpp>

namespace weft::detail {
extern const PolicyEntry dor_policy, min_adaptive_policy, cross_line_policy, ugal_l_policy;
}  // namespace weft::detail

namespace {

weft::PolicyEntry renamed(weft::PolicyEntry entry, std::string_view name) {
  entry.name = name;
  return entry;
}

const weft::PolicyEntry policies[] = {
    renamed(weft::detail::dor_policy, "copy-of-dor"),
    renamed(weft::detail::min_adaptive_policy, "copy-of-min-adaptive"),
    renamed(weft::detail::cross_line_policy, "copy-of-crossline"),
    renamed(weft::detail::ugal_l_policy, "copy-of-ugal-l"),
};

}  // namespace

WEFT_POLICY_PLUGIN(policies)
