// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flows/flow_model.hpp"

namespace weft {

Status read_flow_model(const Config& config, FlowModel& model) {
  ConfigTable table = config.table("flow");
  table.get("piece_max", model.piece_max);
  table.get("merge_efficiency", model.merge_efficiency);
  model.calibrated = table.has("merge_efficiency");
  if (Status s = table.finish(); !s) return s;
  if (model.piece_max.count < 0)
    return table.error_at("piece_max", "piece_max must not be negative");
  if (model.merge_efficiency < 0.1 || model.merge_efficiency > 1)
    return table.error_at("merge_efficiency", "merge_efficiency must lie in 0.1 to 1");
  return {};
}

}  // namespace weft
