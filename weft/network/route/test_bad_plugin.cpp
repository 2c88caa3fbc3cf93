// SPDX-License-Identifier: Apache-2.0
// Shared libraries that plugin_test.cpp must see refused; which one is chosen by WEFT_TEST_FAULT.
#include <weft/network/route/policy_plugin.hpp>

#if WEFT_TEST_FAULT == 1  // No table.
extern "C" int weft_no_policies() {
  return 0;
}
#else
namespace {
constexpr weft::PolicyEntry policies[] = {
    {.name = "hollow", .help = "has no functions", .vcs_needed = nullptr, .make = nullptr}};
}  // namespace

extern "C" const weft::PolicyPlugin weft_policies_v1;
#if WEFT_TEST_FAULT == 2    // Another version.
const weft::PolicyPlugin weft_policies_v1{
    .version = weft::policy_interface_version + 1, .entries = policies, .count = 1};
#elif WEFT_TEST_FAULT == 3  // Other headers.
const weft::PolicyPlugin weft_policies_v1{
    .entry_size = sizeof(weft::PolicyEntry) + 8, .entries = policies, .count = 1};
#else                       // A row without functions.
const weft::PolicyPlugin weft_policies_v1{.entries = policies, .count = 1};
#endif
#endif
