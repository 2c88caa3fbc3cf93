// SPDX-License-Identifier: Apache-2.0
// The algorithm of the paper (Kaneda, Taura, Yonezawa: "A Message Passing System with Dynamic
// Connection Management", section 2), as published: every host measures every other, the largest
// jump of each row gives its switch, and flows between all pairs of pairs of switches give the
// tree, from the leaves up. Slow and obvious: the reference for the fast algorithm.
#pragma once

#include <weft/network/probe/find.hpp>

namespace weft::probe {

Finding find_by_paper(Meter& meter, const ProbeSettings& settings);

}  // namespace weft::probe
