// SPDX-License-Identifier: Apache-2.0
// The life of a connection, written down as two tables. A link is the
// connection to a peer over all rails; every rail of it has a life of its own.
// README.md shows the same tables, and a test compares them. What is not in a
// table cannot happen: code that steps that way has a bug.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <weft/base/check.hpp>

namespace weft::wire {

template <typename State, typename Event, typename Action>
struct Transition {
  State from;
  Event on;
  State to;
  Action action;
};

// Null: the table has no such edge.
template <typename State, typename Event, typename Action>
constexpr const Transition<State, Event, Action>* find_transition(
    std::span<const Transition<State, Event, Action>> table, State from, Event on) {
  for (const Transition<State, Event, Action>& edge : table) {
    if (edge.from == from && edge.on == on) return &edge;
  }
  return nullptr;
}

// ---- The connection to a peer, over all rails ----

enum class LinkState : std::uint8_t {
  idle,          // Neither side has anything to say.
  open,          // Rails are up, or are being opened.
  closing,       // We asked to close; the peer has not answered yet.
  peer_closing,  // The peer asked to close.
  draining,      // Both asked: rails close when everything sent on them is acknowledged.
  left,          // The peer has ended in order.
  dying,         // The peer's process has ended; what it sent before still counts.
  lost,          // No rail leads there any more.
};
enum class LinkEvent : std::uint8_t {
  connect,          // Somebody here has something to send.
  disconnect,       // The message layer lets go of the connection.
  peer_disconnect,  // The peer does.
  rail_up,          // A connection on one of the rails has passed the handshake.
  rails_down,       // The last rail of a link that closes is down.
  goodbye,          // The peer says that it ends.
  process_ended,    // The launcher says that its process has ended.
  unreachable,      // All rails have been down for too long, or no process is there any more.
  no_descriptor,    // The system has had no descriptor for a connection for too long.
};
enum class LinkAction : std::uint8_t {
  none,
  dial_rails,      // Connect on every rail.
  await_calls,     // The peer connected first, and will on the other rails too.
  announce_close,  // Stop dialing, and tell the peer on every rail.
  stop_dialing,
  connect_later,   // Remember the connect until the old connections are closed.
  resume,          // Closing is called off: a new connection came.
  finish_closing,  // Connect again if that was remembered, or if frames wait.
  report_lost,
  report_refused,
};
using LinkTransition = Transition<LinkState, LinkEvent, LinkAction>;

inline constexpr auto link_life = [] {
  using S = LinkState;
  using E = LinkEvent;
  using A = LinkAction;
  return std::to_array<LinkTransition>({
      {S::idle, E::connect, S::open, A::dial_rails},
      {S::idle, E::rail_up, S::open, A::await_calls},
      {S::idle, E::disconnect, S::idle, A::none},
      {S::open, E::connect, S::open, A::none},
      {S::open, E::rail_up, S::open, A::none},
      {S::open, E::disconnect, S::closing, A::announce_close},
      {S::open, E::peer_disconnect, S::peer_closing, A::stop_dialing},
      {S::open, E::goodbye, S::left, A::none},
      {S::open, E::process_ended, S::dying, A::none},
      {S::open, E::unreachable, S::lost, A::report_lost},
      {S::open, E::no_descriptor, S::idle, A::report_refused},
      {S::closing, E::connect, S::closing, A::connect_later},
      {S::closing, E::rail_up, S::open, A::resume},
      {S::closing, E::disconnect, S::closing, A::none},
      {S::closing, E::peer_disconnect, S::draining, A::none},
      {S::closing, E::rails_down, S::idle, A::finish_closing},
      {S::closing, E::goodbye, S::left, A::none},
      {S::closing, E::process_ended, S::dying, A::none},
      {S::peer_closing, E::connect, S::peer_closing, A::connect_later},
      {S::peer_closing, E::rail_up, S::open, A::resume},
      {S::peer_closing, E::disconnect, S::draining, A::announce_close},
      {S::peer_closing, E::peer_disconnect, S::peer_closing, A::none},
      {S::peer_closing, E::rails_down, S::idle, A::finish_closing},
      {S::peer_closing, E::goodbye, S::left, A::none},
      {S::peer_closing, E::process_ended, S::dying, A::none},
      {S::draining, E::connect, S::draining, A::connect_later},
      {S::draining, E::rail_up, S::open, A::resume},
      {S::draining, E::disconnect, S::draining, A::none},
      {S::draining, E::peer_disconnect, S::draining, A::none},
      {S::draining, E::rails_down, S::idle, A::finish_closing},
      {S::draining, E::goodbye, S::left, A::none},
      {S::draining, E::process_ended, S::dying, A::none},
      {S::left, E::connect, S::left, A::none},
      {S::left, E::rail_up, S::left, A::none},
      {S::left, E::disconnect, S::left, A::none},
      {S::left, E::peer_disconnect, S::left, A::none},
      {S::left, E::goodbye, S::left, A::none},
      {S::left, E::process_ended, S::left, A::none},
      {S::dying, E::connect, S::dying, A::none},
      {S::dying, E::rail_up, S::dying, A::none},
      {S::dying, E::disconnect, S::dying, A::none},
      {S::dying, E::peer_disconnect, S::dying, A::none},
      {S::dying, E::goodbye, S::left, A::none},
      {S::dying, E::process_ended, S::dying, A::none},
      {S::dying, E::unreachable, S::lost, A::report_lost},
      {S::lost, E::connect, S::lost, A::none},
      {S::lost, E::disconnect, S::lost, A::none},
      {S::lost, E::process_ended, S::lost, A::none},
  });
}();

// ---- One rail ----

enum class RailState : std::uint8_t {
  down,        // To be dialed, now or after a pause.
  connecting,  // The kernel calls the peer's kernel.
  proving,     // The handshake: both sides prove that they know the secret.
  up,
};
enum class RailEvent : std::uint8_t {
  ready,            // It needs no connection (shared memory, RDMA), and can be used.
  dialed,           // A call to the peer has begun.
  answered,         // The peer's kernel has answered it.
  welcomed,         // The peer takes the connection.
  turned_away,      // The peer has another one on this rail, or is making it.
  failed,           // The call led nowhere, or the other side does not know the secret.
  timed_out,        // No kernel has answered.
  cancelled,        // We close, or give the peer up.
  peer_connected,   // The peer called, has proved itself, and we take its connection.
  broken,           // The kernel says so, or what came makes no sense.
  stalled,          // Nothing sent on it has been acknowledged for too long.
  reported_broken,  // The peer says, over another rail, that it gave this one up.
  drained,          // The link closes, and everything is acknowledged.
};
enum class RailAction : std::uint8_t {
  none,
  watch_for_proof,      // The socket is to be read from now on.
  drop_dial,            // Forget the call; another one follows after a pause.
  use,                  // Frames and writes go here.
  repeat_elsewhere,     // What may not have arrived goes over other rails.
  tell_peer_of_repeat,  // The same; the peer may not have noticed.
  replace,              // What may not have arrived goes over the new one.
};
using RailTransition = Transition<RailState, RailEvent, RailAction>;

inline constexpr auto rail_life = [] {
  using S = RailState;
  using E = RailEvent;
  using A = RailAction;
  return std::to_array<RailTransition>({
      {S::down, E::ready, S::up, A::use},
      {S::down, E::dialed, S::connecting, A::none},
      {S::down, E::peer_connected, S::up, A::use},
      {S::connecting, E::answered, S::proving, A::watch_for_proof},
      {S::connecting, E::failed, S::down, A::drop_dial},
      {S::connecting, E::timed_out, S::down, A::drop_dial},
      {S::connecting, E::cancelled, S::down, A::drop_dial},
      {S::connecting, E::peer_connected, S::up, A::use},
      {S::proving, E::welcomed, S::up, A::use},
      {S::proving, E::turned_away, S::down, A::drop_dial},
      {S::proving, E::failed, S::down, A::drop_dial},
      {S::proving, E::cancelled, S::down, A::drop_dial},
      {S::proving, E::peer_connected, S::up, A::use},
      {S::up, E::broken, S::down, A::repeat_elsewhere},
      {S::up, E::stalled, S::down, A::tell_peer_of_repeat},
      {S::up, E::reported_broken, S::down, A::repeat_elsewhere},
      {S::up, E::drained, S::down, A::repeat_elsewhere},
      {S::up, E::peer_connected, S::up, A::replace},
  });
}();

// Follows the edge, and returns what is to be done.
inline LinkAction step(LinkState& state, LinkEvent on) {
  const auto* const edge = find_transition(std::span<const LinkTransition>(link_life), state, on);
  WEFT_CHECK(edge != nullptr);
  state = edge->to;
  return edge->action;
}
inline RailAction step(RailState& state, RailEvent on) {
  const auto* const edge = find_transition(std::span<const RailTransition>(rail_life), state, on);
  WEFT_CHECK(edge != nullptr);
  state = edge->to;
  return edge->action;
}

// As README.md writes them; in the order of the enumerations.
inline constexpr auto link_states = std::to_array<std::string_view>(
    {"idle", "open", "closing", "peer_closing", "draining", "left", "dying", "lost"});
inline constexpr auto link_events = std::to_array<std::string_view>(
    {"connect", "disconnect", "peer_disconnect", "rail_up", "rails_down", "goodbye",
     "process_ended", "unreachable", "no_descriptor"});
inline constexpr auto link_actions = std::to_array<std::string_view>(
    {"none", "dial_rails", "await_calls", "announce_close", "stop_dialing", "connect_later",
     "resume", "finish_closing", "report_lost", "report_refused"});
inline constexpr auto rail_states =
    std::to_array<std::string_view>({"down", "connecting", "proving", "up"});
inline constexpr auto rail_events = std::to_array<std::string_view>(
    {"ready", "dialed", "answered", "welcomed", "turned_away", "failed", "timed_out", "cancelled",
     "peer_connected", "broken", "stalled", "reported_broken", "drained"});
inline constexpr auto rail_actions =
    std::to_array<std::string_view>({"none", "watch_for_proof", "drop_dial", "use",
                                     "repeat_elsewhere", "tell_peer_of_repeat", "replace"});

}  // namespace weft::wire
