// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include <weft/base/quantity.hpp>
#include <weft/message/mp/options.hpp>

namespace weft::mp {

Status read_options(const Config& config, Options& options) {
  ConfigTable table = config.table("messages");
  constexpr std::pair<std::string_view, Split> splits[] = {{"equal", Split::equal},
                                                           {"proportional", Split::proportional},
                                                           {"measured", Split::measured}};
  const auto* const known = std::find_if(std::begin(splits), std::end(splits),
                                         [&](const auto& s) { return s.second == options.split; });
  std::string split(known->first);
  table.get("eager_limit", options.eager_limit);
  table.get("head_start", options.head_start);
  table.get("stripe_min", options.stripe_min);
  table.get("split", split);
  table.get("zero_copy", options.zero_copy);
  constexpr Bytes most{std::int64_t{1} << 30};
  if (!table.has("credit"))
    options.credit = std::min(std::max(options.eager_limit, options.head_start) * 4, most);
  table.get("credit", options.credit);
  if (Status status = table.finish(); !status) return status;
  const auto* const chosen = std::find_if(std::begin(splits), std::end(splits),
                                          [&](const auto& s) { return s.first == split; });
  if (chosen == std::end(splits)) {
    return table.error_at("split",
                          "split is 'equal', 'proportional' or 'measured', not '" + split + "'");
  }
  options.split = chosen->second;
  if (options.stripe_min.count < 1) {
    return table.error_at("stripe_min", "stripe_min must be at least 1 B");
  }
  if (options.eager_limit > most) {
    return table.error_at("eager_limit", "eager_limit must not exceed 1 GiB");
  }
  if (options.head_start > most) {
    return table.error_at("head_start", "head_start must not exceed 1 GiB");
  }
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
