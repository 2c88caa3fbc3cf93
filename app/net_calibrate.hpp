// SPDX-License-Identifier: Apache-2.0
// weft net NETWORK --calibrate: the table [flow] that fits flows to this network's packets.
#pragma once

#include <weft/base/result.hpp>
#include <weft/simulate/machine/description.hpp>

namespace weft::app {

Status print_calibration(const MachineReader& reader, const MachineDescription& machine);

}  // namespace weft::app
