// SPDX-License-Identifier: Apache-2.0
// Named sets of defaults: what holds of a machine where its description says nothing. A profile
// stands for something that exists, so that a short description is still a machine one can name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/simulate/nodes/node_model.hpp>
#include <weft/simulate/router/hardware.hpp>

namespace weft {

struct ProfileDefaults {
  NetworkHardware hardware;
  NodeModel node;
  mp::Options messages;
  // Buffers and memory that are not given keep up with the links.
  bool follows_links = false;
};

// Of the profile for descriptions that name none.
inline constexpr std::string_view usual_profile = "cluster";

struct Profile {
  std::string_view name, help;
  ProfileDefaults (*defaults)();
};

std::span<const Profile> profiles();

// The error names the nearest.
Result<const Profile*> find_profile(std::string_view name);

// A line each.
std::string list_profiles();

}  // namespace weft
