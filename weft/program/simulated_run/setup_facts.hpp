// SPDX-License-Identifier: Apache-2.0
// What a picture needs to know of a simulated machine.
#pragma once

#include <weft/output/record/network_facts.hpp>
#include <weft/simulate/setup/scene.hpp>

namespace weft {

// With the rates of links and the room of buffers.
NetworkFacts facts_of(const Scene& scene);

}  // namespace weft
