// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/machine/profiles.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include <weft/base/text.hpp>

namespace weft {
namespace {

// A cluster of today, with InfiniBand HDR or a 200 Gb/s Ethernet in mind: packets of 4 KiB, cables
// of 5 m, and cards that give an MPI latency of 0.85 us over one switch.
ProfileDefaults cluster() {
  ProfileDefaults p;
  p.hardware.flit = Bytes{64};
  p.hardware.route = p.hardware.vc_alloc = p.hardware.switch_alloc = Duration::ns(10);
  p.hardware.switch_delay = Duration::ns(170);
  p.hardware.lookahead = true;
  p.hardware.commit = false;
  p.hardware.link = p.hardware.node_link = {.rate = Rate::gbyte_per_s(25),
                                            .delay = Duration::ns(25),
                                            .credit_delay = Duration::ns(25),
                                            .length = {5000}};
  p.hardware.inject_delay = Duration::ns(250);
  p.hardware.eject_delay = Duration::ns(150);
  p.hardware.order = SendOrder::round_robin;
  p.hardware.mtu = Bytes{4096};
  p.node.dma_rate = {};
  p.follows_links = true;
  return p;
}

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
    Profile{
        "cluster",
        "a cluster of today: 25 GB/s links of 5 m, 200 ns switches, buffers and memory that keep "
        "up with the links",
        &cluster},
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
