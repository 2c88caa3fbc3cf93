// SPDX-License-Identifier: Apache-2.0
// What the flow model takes from a description beyond the hardware: the table [flow].
#pragma once  // Public, for simulations: stays within 0.1; added fields have defaults.

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft {

struct FlowModel {
  // Messages up to this size pass links one after the other; larger ones share them.
  Bytes piece_max{16384};
  // What is left of a link's rate where several flows meet on it and one of them turns, as packets
  // stand in each other's way before it.
  double merge_efficiency = 1.0;
  bool calibrated = false;  // Somebody has said the efficiency.
};

// The table [flow]; the error names the line of the key.
Status read_flow_model(const Config& config, FlowModel& model);

}  // namespace weft
