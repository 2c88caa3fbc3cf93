// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/base/quantity.hpp>
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
  const bool credit_given = table.has("credit");
  if (Status status = table.finish(); !status) return status;
  if (split != "equal" && split != "proportional") {
    return table.error_at("split", "split is 'equal' or 'proportional', not '" + split + "'");
  }
  options.split = split == "equal" ? Split::equal : Split::proportional;
  if (options.stripe_min.count < 1) {
    return table.error_at("stripe_min", "stripe_min must be at least 1 B");
  }
  constexpr Bytes most{std::int64_t{1} << 30};
  if (options.eager_limit > most) {
    return table.error_at("eager_limit", "eager_limit must not exceed 1 GiB");
  }
  if (!credit_given) options.credit = std::min(options.eager_limit * 4, most);
  if (options.credit > most) return table.error_at("credit", "credit must not exceed 1 GiB");
  if (options.credit < options.eager_limit) {
    return table.error_at(
        "credit", "credit of " + to_text(options.credit) + " holds no message of eager_limit " +
                      to_text(options.eager_limit) + ": raise it or lower the limit");
  }
  // What a message costs beyond its bytes must fit too.
  options.credit = std::max(options.credit, options.eager_limit + Bytes{4096});
  return {};
}

}  // namespace weft::mp
