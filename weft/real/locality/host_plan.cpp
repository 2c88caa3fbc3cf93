// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/host_plan.hpp"

#include <utility>

#include <weft/real/locality/apply.hpp>
#include <weft/real/locality/sys_machine.hpp>

namespace weft::locality {

std::string HostPlan::text_for(int local_rank) const {
  if (places.binding == Binding::none && machine.nodes.size() < 2) return "";
  return to_text(process_place(machine, places, local_rank));
}

Result<HostPlan> plan_host(const HostRequest& request, std::vector<Interface> interfaces,
                           Machine machine) {
  HostPlan plan;
  if (!request.rails.empty() || request.cards.empty()) {
    auto rails = choose_rails(interfaces, request.rails);
    if (!rails) return std::move(rails).error();
    plan.rails = *std::move(rails);
  }
  plan.machine = std::move(machine);
  std::vector<RailSite> sites = locate_rails(plan.machine, plan.rails);
  for (const std::string& card : request.cards) sites.push_back(locate_rail(plan.machine, card));
  plan.places = decide_places(plan.machine, std::move(sites), request.ranks, request.binding);
  return plan;
}

Result<HostPlan> plan_host(const HostRequest& request) {
  auto interfaces = read_interfaces();
  if (!interfaces) return std::move(interfaces).error();
  auto machine = read_machine(request.machine_file);
  if (machine) return plan_host(request, *std::move(interfaces), *std::move(machine));
  if (!request.machine_file.empty()) return std::move(machine).error();
  const std::vector<int> own = cpus_of_this_process();
  auto plain = machine_from_sys("/sys");
  auto plan = plan_host(request, *std::move(interfaces),
                        plain ? keep_cpus(*std::move(plain), own) : flat_machine(own));
  if (plan) plan->places.reasons.push_back(machine.error().message());
  return plan;
}

}  // namespace weft::locality
