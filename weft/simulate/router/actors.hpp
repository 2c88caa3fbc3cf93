// SPDX-License-Identifier: Apache-2.0
// When the actors of a router act, as a visit sees it. Where there are few, those that may have
// something to do are looked at one by one; where there are many, in groups (State::next_at).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// The first of these actors, the lowest among equals; those that are not there have nothing to do.
inline Due first_of_active(Slice<std::int64_t, Actor> next, std::uint64_t active) {
  Due first{routing_actor, never_at};
  for (; active != 0; active &= active - 1) {
    const Actor a(static_cast<std::uint32_t>(std::countr_zero(active)));
    const std::int64_t at = next[a];
    // The next actor is as good as random: select, do not branch.
    const bool sooner = __builtin_expect_with_probability(at < first.at, 1, 0.5) != 0;
    first.actor = sooner ? a : first.actor;
    first.at = sooner ? at : first.at;
  }
  return first;
}

// The first of a group of actors (State::next_at), the lowest among equals. A group is never short:
// the places of actors that are not there say never.
inline Due first_of_group(Slice<std::int64_t, Actor> next, std::uint32_t group) {
  Actor a(group * actors_per_group);
  Due first{a, next[a]};
  for (std::uint32_t i = 1; i < actors_per_group; ++i) {
    ++a;
    const std::int64_t at = next[a];
    // As good as random: select, do not branch.
    const bool sooner = __builtin_expect_with_probability(at < first.at, 1, 0.5) != 0;
    first.actor = sooner ? a : first.actor;
    first.at = sooner ? at : first.at;
  }
  return first;
}

// The group whose first actor is the first of all, or the first of these groups.
inline std::uint32_t first_group(const ActorGroup* groups, std::uint32_t count) {
  std::uint32_t group = 0;
  std::int64_t at = groups[0].at;
  for (std::uint32_t g = 1; g < count; ++g) {
    const bool sooner = __builtin_expect_with_probability(groups[g].at < at, 1, 0.5) != 0;
    group = sooner ? g : group;
    at = sooner ? groups[g].at : at;
  }
  return group;
}

// The first of all actors. The bound of a group is exact unless one of its actors was put off while
// another one acted; then it is put right here.
inline Due next_due(Slice<std::int64_t, Actor> next, ActorGroup* groups, std::uint32_t count) {
  for (;;) {
    ActorGroup& group = groups[first_group(groups, count)];
    const Due due = first_of_group(next, static_cast<std::uint32_t>(&group - groups));
    if (due.at == group.at) return due;
    group.set(due);
  }
}

// wide: there may be more than 64 actors. The object lives in registers: all is inlined.
template <bool wide>
class ActorTimes {
 public:
  [[gnu::always_inline]] ActorTimes(State& state, Router& router)
      : next_(&state.next_at[router.first_next]),
        groups_(&state.actor_groups[router.first_group()]),
        router_(router) {}

  std::int64_t& operator[](Actor actor) const { return next_[actor]; }

  // The actor acts at `at` or before.
  [[gnu::always_inline]] void bring_forward(Actor actor, std::int64_t at) {
    std::int64_t& next = next_[actor];
    next = std::min(next, at);
    if constexpr (wide) {
      groups_[actor.value / actors_per_group].bring_forward(actor, at);
      router_.active |= Router::active_bit(actor);
    } else {
      router_.active |= std::uint64_t{1} << actor.value;
    }
  }
  // The actor, whose turn it is, acts next at `at`.
  [[gnu::always_inline]] void schedule(Actor actor, std::int64_t at) {
    if (at == never_at) {
      stop(actor);
    } else {
      next_[actor] = at;
    }
  }
  // The actor has nothing to do until something comes to it.
  [[gnu::always_inline]] void stop(Actor actor) {
    next_[actor] = never_at;
    router_.active &= wide ? ~Router::active_bit(actor) : ~(std::uint64_t{1} << actor.value);
  }
  [[gnu::always_inline]] Due first() const {
    if constexpr (!wide) return first_of_active(next_, router_.active);
    // Exact: while an actor acts here, it puts off nobody else.
    const ActorGroup& group = groups_[first_group(groups_, groups_of(router_.actors))];
    return {Actor(group.actor), group.at};
  }
  // The actor, whose turn it was, has acted.
  [[gnu::always_inline]] void note_acted(Actor actor) {
    if constexpr (wide) {
      const std::uint32_t group = actor.value / actors_per_group;
      groups_[group].set(first_of_group(next_, group));
    }
  }

 private:
  const Slice<std::int64_t, Actor> next_;
  ActorGroup* const groups_;
  Router& router_;
};

}  // namespace weft::detail
