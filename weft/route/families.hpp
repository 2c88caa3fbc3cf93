// SPDX-License-Identifier: Apache-2.0
// The factories behind the table in builtin.cpp. Each pair is one policy: vcs_<name> says how many
// VCs it needs on a topology (0: does not fit), make_<name> builds it.
#pragma once

#include <weft/route/policy.hpp>

namespace weft::detail {

using MadePolicy = Result<std::unique_ptr<Policy>>;

int vcs_dor(const Topology& t);
MadePolicy make_dor(const Topology& t, int vcs);
int vcs_dor_balanced(const Topology& t);
MadePolicy make_dor_balanced(const Topology& t, int vcs);

int vcs_xy_yx(const Topology& t);
MadePolicy make_xy_yx(const Topology& t, int vcs);
MadePolicy make_xy_yx_adaptive(const Topology& t, int vcs);
int vcs_planar_adaptive(const Topology& t);
MadePolicy make_planar_adaptive(const Topology& t, int vcs);
int vcs_min_adaptive(const Topology& t);
MadePolicy make_min_adaptive(const Topology& t, int vcs);
MadePolicy make_min_adaptive_escape_first(const Topology& t, int vcs);

int vcs_minimal(const Topology& t);
MadePolicy make_minimal(const Topology& t, int vcs);
int vcs_two_legs(const Topology& t);
MadePolicy make_valiant(const Topology& t, int vcs);
MadePolicy make_ugal_l(const Topology& t, int vcs);

int vcs_fat_tree(const Topology& t);
MadePolicy make_source_up(const Topology& t, int vcs);
MadePolicy make_dest_down(const Topology& t, int vcs);
MadePolicy make_adaptive_up(const Topology& t, int vcs);

int vcs_up_down(const Topology& t);
MadePolicy make_up_down(const Topology& t, int vcs);
int vcs_shortest(const Topology& t);
MadePolicy make_shortest(const Topology& t, int vcs);

}  // namespace weft::detail
