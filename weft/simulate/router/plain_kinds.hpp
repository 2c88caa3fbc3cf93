// SPDX-License-Identifier: Apache-2.0
// Which variant of the plain visit fits a network. plain_whole.cpp, plain_blocks.cpp,
// plain_two_words.cpp and plain_commits.cpp have some of the variants each: in one piece the
// compiler would think them too many, and inline less.
#pragma once

#include <weft/simulate/router/cube_visit.hpp>
#include <weft/simulate/router/plain_ends.hpp>
#include <weft/simulate/router/plain_outputs.hpp>
#include <weft/simulate/router/plain_queues.hpp>
#include <weft/simulate/router/plain_router.hpp>
#include <weft/simulate/router/plain_visit.hpp>

namespace weft::detail {

constexpr std::uint32_t actors_max_narrow = 64;

template <PlainKind kind>
void visit_plain(State& state, int worker, RouterIndex r, Reach reach) {
  ++state.worker(worker).counts.visits;
  PlainVisit<kind>(state, worker, r).run(reach);
}

template <CubeShape shape>
void visit_cube(State& state, int worker, RouterIndex r, Reach reach) {
  ++state.worker(worker).counts.visits;
  CubeVisit<shape>(state, worker, r).run(reach);
}

// Nearly all are of three dimensions, and have buffers of 16 packets.
template <bool whole, bool waits>
VisitFunction cube_visit(const State& state) {
  const auto have = [&](std::uint32_t ports) {
    return std::all_of(state.routers.begin(), state.routers.end(), [&](const Router& router) {
      return router.nodes == 1 && (ports == 0 || router.ports == ports);
    });
  };
  if (whole && have(6) && state.rings.bits == 4)
    return visit_cube<CubeShape{.ports = 6, .ring_bits = 4, .waits = waits}>;
  if (have(0)) return visit_cube<CubeShape{.ports = 0, .ring_bits = 0, .waits = waits}>;
  return visit_plain<PlainKind{
      .vcs = 2, .even = true, .waits = waits, .cube = true, .whole = whole}>;
}

template <bool whole, bool waits>
VisitFunction fastest_visit(const State& state, bool even) {
  if (!even) return visit_plain<PlainKind{.vcs = 0, .even = false, .waits = waits, .whole = whole}>;
  // A mesh gives a packet the choice of both VCs, which CubeVisit leaves to PlainVisit.
  if (state.all_up && state.setup.vcs == 2 && state.dimension_order != nullptr &&
      state.setup.facts.hops_max < static_cast<int>(Slot::hops_max))
    return cube_visit<whole, waits>(state);
  if (state.setup.vcs == 2)
    return visit_plain<PlainKind{.vcs = 2, .even = true, .waits = waits, .whole = whole}>;
  return visit_plain<PlainKind{.vcs = 0, .even = true, .waits = waits, .whole = whole}>;
}

template <bool whole, bool timed, bool wide>
VisitFunction less_usual_visit(bool even) {
  if (even)
    return visit_plain<PlainKind{
        .vcs = 0, .even = true, .waits = true, .timed = timed, .wide = wide, .whole = whole}>;
  return visit_plain<PlainKind{
      .vcs = 0, .even = false, .waits = true, .timed = timed, .wide = wide, .whole = whole}>;
}

template <bool whole, bool timed, bool wide>
VisitFunction buffered_visit() {
  return visit_plain<PlainKind{.vcs = 0,
                               .even = false,
                               .waits = true,
                               .timed = timed,
                               .wide = wide,
                               .buffered = true,
                               .whole = whole}>;
}

template <bool timed>
VisitFunction two_word_visit(bool even) {
  if (even)
    return visit_plain<PlainKind{
        .vcs = 0, .even = true, .waits = true, .timed = timed, .wide = true, .words = 2}>;
  return visit_plain<PlainKind{
      .vcs = 0, .even = false, .waits = true, .timed = timed, .wide = true, .words = 2}>;
}

template <std::uint32_t words, bool wide>
VisitFunction commit_visit(bool even) {
  if (even)
    return visit_plain<PlainKind{.vcs = 0,
                                 .even = true,
                                 .waits = true,
                                 .timed = true,
                                 .wide = wide,
                                 .words = words,
                                 .commits = true}>;
  return visit_plain<PlainKind{.vcs = 0,
                               .even = false,
                               .waits = true,
                               .timed = true,
                               .wide = wide,
                               .words = words,
                               .commits = true}>;
}

inline bool is_even(const State& state) {
  return state.byte_ps != 0 && !state.setup.holds_vcs;
}
inline bool is_wide(const State& state) {
  return std::any_of(state.routers.begin(), state.routers.end(),
                     [](const Router& router) { return router.actors > actors_max_narrow; });
}

// One for each kind would take the compiler too long.
template <bool whole>
VisitFunction find_plain_visit(const State& state) {
  const bool even = is_even(state);
  const bool wide = is_wide(state);
  if (state.setup.buffered) {
    if (state.setup.timed)
      return wide ? buffered_visit<whole, true, true>() : buffered_visit<whole, true, false>();
    return wide ? buffered_visit<whole, false, true>() : buffered_visit<whole, false, false>();
  }
  if (state.setup.timed)
    return wide ? less_usual_visit<whole, true, true>(even)
                : less_usual_visit<whole, true, false>(even);
  if (wide) return less_usual_visit<whole, false, true>(even);
  return state.measures_waits ? fastest_visit<whole, true>(state, even)
                              : fastest_visit<whole, false>(state, even);
}

}  // namespace weft::detail
