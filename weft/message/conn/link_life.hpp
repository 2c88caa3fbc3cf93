// SPDX-License-Identifier: Apache-2.0
// The life of a link as a table of states and events. README.md shows the same table, and a test
// compares them. What is not in the table cannot happen: whoever steps that way has a bug.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <weft/base/check.hpp>

namespace weft::conn {

// In this order: all before `open` have no connection yet.
enum class LinkState : std::uint8_t {
  none,
  invited,  // The peer wants a shortcut; we make room for it.
  asked,    // We want one, and have asked.
  opening,  // Both want it.
  forcing,  // No route leads there: being opened without asking.
  open,
  closing,  // We have asked to close it, as our last frame.
  leaving,  // The peer has asked to close it; our last frame agrees.
};
enum class LinkEvent : std::uint8_t {
  ask,      // We ask the peer for a shortcut.
  invite,   // The peer asks for one, and there is no room yet.
  connect,  // Both want it, or it needs no agreement.
  decline,  // One of both does not want it.
  force,    // No route leads there.
  opened,   // The network reports the connection, or a frame came over it.
  refused,  // The network could not open it.
  close,    // We ask to close it.
  keep,     // The peer does not want to close it.
  leave,    // We agree to close it.
  closed,   // The last frames of both have arrived.
};

struct LinkTransition {
  LinkState from;
  LinkEvent on;
  LinkState to;
};

inline constexpr auto link_life = [] {
  using S = LinkState;
  using E = LinkEvent;
  return std::to_array<LinkTransition>({
      {S::none, E::ask, S::asked},          {S::none, E::invite, S::invited},
      {S::none, E::connect, S::opening},    {S::none, E::force, S::forcing},
      {S::none, E::opened, S::open},  // The peer was first.
      {S::invited, E::connect, S::opening}, {S::invited, E::decline, S::none},
      {S::invited, E::force, S::forcing},   {S::invited, E::opened, S::open},
      {S::asked, E::connect, S::opening},   {S::asked, E::decline, S::none},
      {S::asked, E::force, S::forcing},     {S::asked, E::opened, S::open},
      {S::opening, E::opened, S::open},     {S::opening, E::refused, S::none},
      {S::forcing, E::opened, S::open},     {S::forcing, E::refused, S::none},
      {S::open, E::close, S::closing},      {S::open, E::leave, S::leaving},
      {S::closing, E::keep, S::open},       {S::closing, E::closed, S::none},
      {S::leaving, E::closed, S::none},
  });
}();

// Null: the table has no such edge.
constexpr const LinkTransition* find_transition(LinkState from, LinkEvent on) {
  for (const LinkTransition& edge : link_life) {
    if (edge.from == from && edge.on == on) return &edge;
  }
  return nullptr;
}

inline void step(LinkState& state, LinkEvent on) {
  const LinkTransition* const edge = find_transition(state, on);
  WEFT_CHECK(edge != nullptr);
  state = edge->to;
}

// As README.md spells them.
inline constexpr std::array<std::string_view, 8> link_states = {
    "none", "invited", "asked", "opening", "forcing", "open", "closing", "leaving"};
inline constexpr std::array<std::string_view, 11> link_events = {
    "ask",     "invite", "connect", "decline", "force", "opened",
    "refused", "close",  "keep",    "leave",   "closed"};

}  // namespace weft::conn
