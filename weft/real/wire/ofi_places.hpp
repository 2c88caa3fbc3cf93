// SPDX-License-Identifier: Apache-2.0
// Cards that libfabric can drive, as processes tell each other of them.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/real/locality/pairing.hpp>

namespace weft::wire {

struct OfiPlace {
  std::string provider, domain;  // "verbs", "mlx5_0"
  std::string fabric;            // What it is connected to: a subnet, mostly.
  Rate speed;                    // Zero: unknown.
  bool named = false;            // Asked for by name.

  friend bool operator==(const OfiPlace&, const OfiPlace&) = default;
};

// The number, then one line each.
std::string to_text(std::span<const OfiPlace> places);
Result<std::vector<OfiPlace>> read_places(std::istream& in);

// Such a name is "ofi:PROVIDER" or "ofi:PROVIDER:DOMAIN".
struct OfiRailName {
  std::string provider, domain;
};
bool is_ofi_rail_name(std::string_view wish);
Result<OfiRailName> parse_ofi_rail_name(const std::string& wish);

// Real cards, which write into memory by themselves. All others are software, for trying things
// out: their bytes are copied by the processor that looks after them.
bool is_hardware(std::string_view provider);
// Whether to look for real cards at all; asks the kernel, not libfabric, which takes its time.
bool hardware_likely();

// Which card talks with which: of the same provider and fabric, one to one. Cards that both sides
// named also pair across fabrics. Both sides find the same pairs in the same order.
std::vector<locality::RailPair> pair_places(std::span<const OfiPlace> mine,
                                            std::span<const OfiPlace> theirs);

}  // namespace weft::wire
