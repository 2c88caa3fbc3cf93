// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/real/wire/rail_kinds.hpp>

namespace weft::wire {

#define WEFT_RAILS(name) extern const RailKindRow name##_rails;
#include <weft/real/wire/rail_kinds.inc>
#undef WEFT_RAILS

namespace {

std::vector<RailKindRow>& table() {
  static std::vector<RailKindRow> rows = {
#define WEFT_RAILS(name) name##_rails,
#include <weft/real/wire/rail_kinds.inc>
#undef WEFT_RAILS
  };
  return rows;
}

bool takes_interfaces(const RailKindRow& row) {
  return row.claims == nullptr;
}

}  // namespace

std::span<const RailKindRow> rail_kinds() {
  return table();
}

void add_rail_kind(const RailKindRow& row) {
  table().push_back(row);
}

const RailKindRow* claimant_of(std::string_view word) {
  for (const RailKindRow& row : table()) {
    if (!takes_interfaces(row) && row.claims(word)) return &row;
  }
  return nullptr;
}

std::vector<std::string> words_for(const RailKindRow& row, std::span<const std::string> words) {
  std::vector<std::string> own;
  std::copy_if(words.begin(), words.end(), std::back_inserter(own), [&](const std::string& word) {
    const RailKindRow* const claimant = claimant_of(word);
    return claimant == nullptr ? takes_interfaces(row) : claimant == &row;
  });
  return own;
}

bool is_left_out(const RailKindRow& row, std::span<const std::string> words) {
  if (!takes_interfaces(row) || words.empty()) return false;
  return std::all_of(words.begin(), words.end(), [](const std::string& word) {
    const RailKindRow* const claimant = claimant_of(word);
    return claimant != nullptr && claimant->carries_frames;
  });
}

}  // namespace weft::wire
