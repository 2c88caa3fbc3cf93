// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/flit_model.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <weft/base/text.hpp>

namespace weft {
namespace {

constexpr std::array<std::string_view, 3> allocator_names = {"islip", "separable-input",
                                                             "separable-output"};
constexpr std::array<std::string_view, 2> arbiter_names = {"round-robin", "matrix"};
constexpr std::array<std::string_view, 2> control_names = {"cut-through", "wormhole"};
constexpr std::array<std::string_view, 2> request_names = {"best", "all"};

template <typename T, std::size_t n>
Status get_word(ConfigTable& table, const char* key, const std::array<std::string_view, n>& names,
                T& out) {
  std::string word(names[static_cast<std::size_t>(out)]);
  table.get(key, word);
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end())
    return table.error_at(key,
                          "unknown " + std::string(key) + " '" + word + "'" + suggest(word, names));
  out = static_cast<T>(found - names.begin());
  return {};
}

}  // namespace

Status read_flit_model(const Config& config, FlitModel& model) {
  ConfigTable table = config.table("flit_router");
  if (Status s = get_word(table, "allocator", allocator_names, model.allocator); !s) return s;
  if (Status s = get_word(table, "arbiter", arbiter_names, model.arbiter); !s) return s;
  if (Status s = get_word(table, "flow_control", control_names, model.flow_control); !s) return s;
  if (Status s = get_word(table, "requests", request_names, model.requests); !s) return s;
  table.get("iterations", model.iterations, 1, 64);
  table.get("speculation", model.speculation);
  table.get("hold_switch", model.hold_switch);
  if (Status s = table.finish(); !s) return s;
  const bool is_islip = model.allocator == Allocation::islip;
  if (!is_islip && model.iterations > 1)
    return table.error_at("iterations",
                          "only allocator = \"islip\" has iterations; leave them out");
  if (is_islip && model.arbiter != Arbiter::round_robin)
    return table.error_at("arbiter",
                          "islip takes turns by round robin; use allocator = \"separable-input\" "
                          "or \"separable-output\" with this arbiter");
  return {};
}

}  // namespace weft
