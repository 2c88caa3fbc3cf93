// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/host_plan.hpp"

#include <utility>

#include <weft/real/locality/apply.hpp>
#include <weft/real/locality/sys_layout.hpp>

namespace weft::locality {

std::string HostPlan::text_for(int local_rank) const {
  if (places.binding == Binding::none && layout.nodes.size() < 2) return "";
  return to_text(process_place(layout, places, local_rank));
}

Result<HostPlan> plan_host(const HostRequest& request, std::vector<Interface> interfaces,
                           HostLayout layout) {
  HostPlan plan;
  if (!request.rails.empty() || request.cards.empty()) {
    auto rails = choose_rails(interfaces, request.rails);
    if (!rails) return std::move(rails).error();
    plan.rails = *std::move(rails);
  }
  plan.layout = std::move(layout);
  std::vector<RailSite> sites = locate_rails(plan.layout, plan.rails);
  for (const std::string& card : request.cards) sites.push_back(locate_rail(plan.layout, card));
  plan.places = decide_places(plan.layout, std::move(sites), request.ranks, request.binding);
  return plan;
}

Result<HostPlan> plan_host(const HostRequest& request) {
  auto interfaces = read_interfaces();
  if (!interfaces) return std::move(interfaces).error();
  auto layout = read_host_layout(request.machine_file);
  if (layout) return plan_host(request, *std::move(interfaces), *std::move(layout));
  if (!request.machine_file.empty()) return std::move(layout).error();
  const std::vector<int> own = cpus_of_this_process();
  auto plain = host_layout_from_sys("/sys");
  auto plan = plan_host(request, *std::move(interfaces),
                        plain ? keep_cpus(*std::move(plain), own) : flat_host_layout(own));
  if (plan) plan->places.reasons.push_back(layout.error().message());
  return plan;
}

}  // namespace weft::locality
