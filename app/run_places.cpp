// SPDX-License-Identifier: Apache-2.0
#include "run_places.hpp"

#include <utility>

#include <weft/real/launch/settings.hpp>
#include <weft/real/locality/apply.hpp>
#include <weft/real/locality/host_plan.hpp>
#include <weft/real/wire/rail_kinds.hpp>

namespace weft::app {

Result<launch::HostBinding> decide_places(const launch::HostJob& job) {
  const auto settings = launch::parse_settings(job.settings);
  if (!settings) return Error(settings.error());
  locality::HostRequest request;
  request.ranks = static_cast<int>(job.here.size());
  for (const std::string& word : settings->rails) {
    // "ofi:verbs:mlx5_0": a word of another kind of rail ends with the name of the NIC.
    const bool interface = wire::claimant_of(word) == nullptr;
    (interface ? request.rails : request.cards)
        .push_back(interface ? word : word.substr(word.rfind(':') + 1));
  }
  request.machine_file = job.machine;
  if (!job.bind.empty()) {
    const auto binding = locality::parse_binding(job.bind);
    if (!binding) return Error(binding.error());
    request.binding = *binding;
  }
  const auto plan = locality::plan_host(request);
  if (!plan) return Error(plan.error());
  launch::HostBinding places;
  places.explanation = plan->explain();
  for (int i = 0; i < request.ranks; ++i) {
    const std::vector<int>& cpus = plan->places.ranks[static_cast<std::size_t>(i)].cpus;
    // A failure is ignored: some containers forbid binding, and ranks run unbound, too.
    places.ranks.push_back({plan->text_for(i), [cpus] {
                              static_cast<void>(locality::bind_this_process(cpus).has_value());
                            }});
  }
  return places;
}

Status check_binding(const std::string& name) {
  auto binding = locality::parse_binding(name);
  if (!binding) return Error::call("--bind: " + binding.error().message());
  return {};
}

}  // namespace weft::app
