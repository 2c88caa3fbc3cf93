// SPDX-License-Identifier: Apache-2.0
#include <weft/real/wire/ofi_rail.hpp>
#include <weft/real/wire/rail_kinds.hpp>
#include <weft/real/wire/shared_memory.hpp>
#include <weft/real/wire/tcp_kind.hpp>

namespace weft::wire {

namespace {

// The rails of a link have the order of this table.
std::vector<RailKindRow>& table() {
  static std::vector<RailKindRow> rows = {
      {"shared memory", [](std::string_view) { return false; }, &find_shared_memory},
      {"tcp", nullptr, &find_tcp_rails},
      {"libfabric", &is_ofi_wish, &find_ofi_rails},
  };
  return rows;
}

}  // namespace

std::span<const RailKindRow> rail_kinds() {
  return table();
}

void add_rail_kind(const RailKindRow& row) {
  table().push_back(row);
}

}  // namespace weft::wire
