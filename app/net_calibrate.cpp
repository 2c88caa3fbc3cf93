// SPDX-License-Identifier: Apache-2.0
#include "net_calibrate.hpp"

#include <algorithm>
#include <string>

#include "interrupts.hpp"
#include "output.hpp"
#include <fmt/format.h>

#include <weft/study/step/calibrate.hpp>

namespace weft::app {
namespace {

std::string range(const std::vector<double>& ratios) {
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format("{:+.0f} to {:+.0f} %", 100 * (*least - 1), 100 * (*most - 1));
}

}  // namespace

Status print_calibration(const MachineReader& reader, const MachineDescription& machine) {
  const auto policy = reader.make_policy(machine);
  if (!policy) return Error(policy.error());
  CalibrationOptions options;
  options.stop = &interrupted();
  const Arena arena{*machine.topology, machine.hardware, **policy};
  const auto found = calibrate_flows(arena, machine.flow, options);
  if (!found) return Error(found.error());
  if (found->stopped) return Error::run("stopped before the calibration was done");
  return print(fmt::format(
      "# Flows beside packets, {} random permutations of {} KiB under {}: {} with 1,\n"
      "# {} with this. Put it into the network file, or give --set flow.merge_efficiency={}.\n"
      "[flow]\nmerge_efficiency = {}\n",
      found->before.size(), options.message.count / 1024, machine.routing, range(found->before),
      range(found->after), found->model.merge_efficiency, found->model.merge_efficiency));
}

}  // namespace weft::app
