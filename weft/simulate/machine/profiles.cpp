// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/machine/profiles.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include <weft/base/text.hpp>

namespace weft {
namespace {

// The defaults of the structs are this router's.
ProfileDefaults textbook() {
  return {};
}

// What the paper does not give is as in presets/nsim-torus.toml.
ProfileDefaults nsim() {
  ProfileDefaults p;
  p.hardware.buffer = Bytes{4096};
  p.hardware.route = p.hardware.vc_alloc = p.hardware.switch_alloc = Duration::ns(2);
  p.hardware.switch_delay = Duration::ns(140);
  p.hardware.lookahead = true;
  p.hardware.link = {Rate::gbyte_per_s(8), Duration::ns(100), Duration::ns(100)};
  p.hardware.mtu = Bytes{256};
  return p;
}

constexpr std::array table = {
    Profile{"nsim", "the torus machine of the NSIM paper: 8 GB/s links of 100 ns, 146 ns routers",
            &nsim},
    Profile{"textbook",
            "four-stage routers of textbooks and of BookSim: every stage and link one 1-ns cycle, "
            "buffers of one packet",
            &textbook},
};

}  // namespace

std::span<const Profile> profiles() {
  return table;
}

Result<const Profile*> find_profile(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Profile& profile : table) {
    if (profile.name == name) return &profile;
    names.push_back(profile.name);
  }
  return Error::input(fmt::format("unknown profile '{}'{}", name, suggest(name, names)));
}

std::string list_profiles() {
  std::string text = "Profiles (what holds where a description says nothing):\n";
  for (const Profile& profile : table)
    text += fmt::format("  {:<26} {}\n", profile.name, profile.help);
  return text;
}

}  // namespace weft
