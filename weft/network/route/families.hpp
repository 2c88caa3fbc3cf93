// SPDX-License-Identifier: Apache-2.0
// The factories behind the table in builtin.cpp. Each pair is one policy: vcs_<name> says how many
// VCs it needs on a topology (0: does not fit), make_<name> builds it.
#pragma once

#include <array>

#include <weft/network/route/policy.hpp>

namespace weft::detail {

using MadePolicy = Result<std::unique_ptr<Policy>>;

int vcs_dor(const Topology& t);
MadePolicy make_dor(const Topology& t, int vcs);
inline constexpr std::array dor_words = {
    PolicyWords{"coin|up", "exactly half-way round a ring: by the packet's coin, or always up"}};
int vcs_dor_with(const Topology& t, const ChosenWords& words);
MadePolicy make_dor_with(const Topology& t, int vcs, const ChosenWords& words);
int vcs_dor_balanced(const Topology& t);
MadePolicy make_dor_balanced(const Topology& t, int vcs);

int vcs_xy_yx(const Topology& t);
MadePolicy make_xy_yx(const Topology& t, int vcs);
MadePolicy make_xy_yx_adaptive(const Topology& t, int vcs);
int vcs_planar_adaptive(const Topology& t);
MadePolicy make_planar_adaptive(const Topology& t, int vcs);
MadePolicy make_planar_adaptive_booksim(const Topology& t, int vcs);
int vcs_min_adaptive(const Topology& t);
MadePolicy make_min_adaptive(const Topology& t, int vcs);
MadePolicy make_min_adaptive_booksim(const Topology& t, int vcs);
MadePolicy make_rca_1d(const Topology& t, int vcs);

// The decisions that the paper leaves open, D3 to D15 of its specification.
inline constexpr std::array cross_line_words = {
    PolicyWords{"nets|escape", "VCs by sign of the way and wraps so far, or free above an escape"},
    PolicyWords{"fold|nofold", "in y use the VCs of the net that is not seen there, or not"},
    PolicyWords{"half|ring", "how far round a torus a line is known"},
    PolicyWords{"full|unknown", "before the first news: all is ready, or nothing is known"},
    PolicyWords{"packet|number",
                "beyond the wrap a line shows the VC that the packet will have, or "
                "the one of the same number"},
    PolicyWords{"up|parity", "between equals half-way round: up, or by the router's parity"},
    PolicyWords{"shorter-zero|shorter-loses",
                "a line that has ended has runs of 0, or loses at once"},
    PolicyWords{"again|once", "decide until there is a VC, or once a hop"},
    PolicyWords{"whole|cut", "count all of a line, or only what the packet has to go there"},
    PolicyWords{"parity-net|better-net", "the net where y needs no hop: by parity, or the freer x"},
    PolicyWords{"line|local|order", "look along lines, at own outputs only, or at nothing"}};
int vcs_foresight(const Topology& t);
MadePolicy make_foresight(const Topology& t, int vcs);
int vcs_cross_line(const Topology& t);
MadePolicy make_cross_line(const Topology& t, int vcs);
int vcs_cross_line_with(const Topology& t, const ChosenWords& words);
MadePolicy make_cross_line_with(const Topology& t, int vcs, const ChosenWords& words);

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
