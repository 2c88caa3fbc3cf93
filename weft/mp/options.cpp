// SPDX-License-Identifier: Apache-2.0
#include <weft/mp/options.hpp>

namespace weft::mp {

Status read_options(const Config& config, Options& options) {
  ConfigTable table = config.table("messages");
  std::string split = options.split == Split::equal ? "equal" : "proportional";
  table.get("eager_limit", options.eager_limit);
  table.get("stripe_min", options.stripe_min);
  table.get("split", split);
  table.get("zero_copy", options.zero_copy);
  table.get("credit", options.credit);
  if (Status status = table.finish(); !status) return status;
  if (split != "equal" && split != "proportional") {
    return table.error_at("split", "split is 'equal' or 'proportional', not '" + split + "'");
  }
  options.split = split == "equal" ? Split::equal : Split::proportional;
  if (options.stripe_min.count < 1) {
    return table.error_at("stripe_min", "stripe_min must be at least 1 B");
  }
  if (options.credit.count > (std::int64_t{1} << 30)) {
    return table.error_at("credit", "credit must not exceed 1 GiB");
  }
  return {};
}

}  // namespace weft::mp
