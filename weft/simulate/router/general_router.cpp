// SPDX-License-Identifier: Apache-2.0
// One visit of a router: heads are routed; an output decides which goes, and into which virtual
// channel; what follows from it.
#include "weft/simulate/router/general_router.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <weft/simulate/router/masks.hpp>
#include <weft/simulate/router/port_view.hpp>
#include <weft/simulate/router/visit.hpp>

namespace weft::detail {

template <GeneralKind kind>
class GeneralVisit : private Visit<false, true> {
 public:
  GeneralVisit(State& state, int worker, RouterIndex r)
      : Visit(state, worker, r),
        setup_(state.setup),
        next_(&state.next_at[router_.first_next]),
        groups_(&state.actor_groups[router_.first_group()]),
        crossbar_(&state.crossbar_free_at[router_.first_port]) {}

  void run(Reach reach);

 private:
  struct Candidate {
    InputIndex input;
    VcMask vcs = 0;
    std::uint64_t route = 0;  // Flight::state if it goes.
    Vc vc = no_vc;
    std::int64_t possible_at = never_at;  // Lower bound, when it cannot go now.
  };
  struct Frame {  // An output in service, and the one that called for it.
    LocalOutput output;
    const Frame* below;
  };
  static constexpr bool usual = kind.words != 0;
  using Mask = Masks<kind.words>;
  static constexpr LocalOutput no_output{UINT32_MAX};
  static constexpr std::uint64_t all_ways = ~std::uint64_t{0};

  // A decision is a few hundred instructions: calls that pass structs would cost a quarter of it.
  void act(Actor actor, std::int64_t now);
  void route_heads(std::int64_t now);
  [[gnu::always_inline]] inline std::int64_t route_due_heads(std::int64_t now);
  [[gnu::always_inline]] inline void route_head(InputIndex input, std::int64_t now);
  bool ask_options(InputIndex input, std::int64_t now);
  VcMask vcs_of(const Choice& choice, InputIndex input) const;
  void serve(LocalOutput output, std::int64_t now, const Frame* below);
  [[gnu::always_inline]] inline std::int64_t allocate_vcs(std::int64_t now);
  bool is_shut(LocalOutput output, std::int64_t now);
  std::uint64_t find_open(std::int64_t now);
  [[gnu::always_inline]] inline VcPick try_way(InputIndex input, const RouteOption& option,
                                               std::int64_t now);
  LocalOutput ask_and_commit(InputIndex input, std::uint64_t ways, std::int64_t now);
  LocalOutput commit_head(InputIndex input, std::uint64_t ways, std::int64_t now);
  [[gnu::always_inline]] inline void stop_waiting(InputIndex input);
  template <typename Attempt>
  void try_in_turn(const std::uint64_t* mask, std::uint32_t pointer, std::uint32_t own,
                   Attempt&& attempt) const;
  template <typename Attempt>
  void try_candidates(LocalOutput output, Attempt&& attempt);
  [[gnu::always_inline]] inline Candidate find_winner(LocalOutput output, std::int64_t now,
                                                      const Frame* below);
  Candidate find_oldest(LocalOutput output, std::int64_t now);
  [[gnu::always_inline]] inline void find_vc(Candidate& c, LocalOutput output, std::uint32_t size,
                                             std::int64_t now);
  [[gnu::always_inline]] inline Candidate evaluate(LocalOutput output, LocalInput bit,
                                                   std::int64_t now);
  LocalOutput better_output(const Candidate& c, LocalOutput output, std::int64_t now,
                            const Frame* below);
  [[gnu::always_inline]] inline void grant(LocalOutput output, const Candidate& c,
                                           std::int64_t now);
  [[gnu::always_inline]] inline void depart(InputIndex input, const Passage& passage);

  // As the functions of State, where the kind makes them short.
  std::uint32_t words() const { return kind.words != 0 ? kind.words : state_.words; }
  std::uint64_t* waiting(OutputIndex output) {
    return kind.words == 1 ? &state_.outputs[output].waiting : state_.waiting(output);
  }
  std::uint64_t* unrouted() { return kind.words == 1 ? &router_.unrouted : state_.unrouted(r_); }
  std::uint64_t* seeking() { return &state_.seek.heads[std::size_t{r_.value} * words()]; }
  std::uint64_t* untried() { return &state_.seek.untried[std::size_t{r_.value} * words()]; }
  Slot& head_of(InputIndex input) {
    const std::uint16_t head = state_.inputs[input].head;
    return usual ? state_.whole_slot(input, head) : state_.slot(state_.inputs[input], head);
  }
  std::int64_t& crossbar_free(const Input& in) {
    return usual ? crossbar_[in.port] : state_.crossbar_free(r_, in.port);
  }
  VcPick pick_vc(OutputIndex output, VcMask vcs, std::int64_t size, std::int64_t now) {
    return detail::pick_vc<usual>(state_, output, vcs, size, now);
  }
  VcPick room_in(OutputIndex output, Vc vc, std::int64_t size, std::int64_t now) {
    const std::int64_t at = room_at<usual>(state_, output, vc, size, now);
    return {at, at <= now ? vc : no_vc};
  }

  // Heads that wait for an output, and their bytes. A policy may offer an output twice.
  void join_queue(OutputIndex output, InputIndex input) {
    std::uint64_t* const mask = waiting(output);
    if (state_.queues.counts_waiting && !Mask::has(mask, number_of(input)))
      state_.queues.waiting[output] += head_size(input);
    Mask::set(mask, number_of(input));
  }
  void leave_queue(OutputIndex output, LocalInput bit, std::int64_t size) {
    std::uint64_t* const mask = waiting(output);
    if (state_.queues.counts_waiting && Mask::has(mask, bit)) state_.queues.waiting[output] -= size;
    Mask::clear(mask, bit);
  }
  // Of a head that waits for an output.
  bool has_one_way(const Input& in) const {
    return kind.commits || setup_.options_max == 1 || in.port == no_port;
  }
  LocalInput number_of(InputIndex input) const { return input - router_.first_input; }
  RouteOption* options_of(InputIndex input) {
    return &state_.options[std::size_t{input.value} * setup_.options_max];
  }
  // Outputs as bits of a word, modulo 64.
  static std::uint64_t way_bit(std::uint32_t output) { return std::uint64_t{1} << (output % 64); }
  // No head that has been tried gets a VC of the output before.
  void note_shut(LocalOutput output, std::int64_t until) {
    if (until == never_at) return;
    SeekTables& seek = state_.seek;
    std::int64_t& shut = seek.shut_until[index_of(output)];
    shut = std::min(shut, until);
    seek.soonest_at[r_] = std::min(seek.soonest_at[r_], until);
    seek.soon[r_] |= way_bit(output.value);
  }
  std::int64_t head_size(InputIndex input) { return head_of(input).size(); }

  // When this output acts next, whoever has it do so now.
  void schedule(LocalOutput output, std::int64_t at) {
    next_[actor_of(output)] = at;
    ActorGroup& group = groups_[actor_of(output).value / actors_per_group];
    group.bring_forward(actor_of(output), at);
    if (at < never_at) router_.active |= Router::active_bit(actor_of(output));
  }

  const Setup& setup_;
  const Slice<std::int64_t, Actor> next_;
  ActorGroup* const groups_;
  std::int64_t* const crossbar_;  // By input port, where each has one lane.
};

template <GeneralKind kind>
void GeneralVisit<kind>::run(Reach reach) {
  router_.wake_at = visiting;
  ++state_.worker(worker_).counts.visits;
  for (;;) {
    // A route that does not depend on time is computed as soon as we are here.
    if (!setup_.timed) route_heads(0);
    const bool few = router_.actors <= 64;
    const Due due = few ? first_of_active(next_, router_.active)
                        : next_due(next_, groups_, groups_of(router_.actors));
    if (due.at >= reach.sure_ps) {
      sleep_until(due.at);
      return;
    }
    act(due.actor, due.at);
    if (next_[due.actor] == never_at) router_.active &= ~Router::active_bit(due.actor);
    if (few) continue;
    const std::uint32_t group = due.actor.value / actors_per_group;
    groups_[group].set(first_of_group(next_, group));
  }
}

template <GeneralKind kind>
void GeneralVisit<kind>::act(Actor actor, std::int64_t now) {
  const LocalOutput output(actor.value - 1);
  if (actor == routing_actor) {
    route_heads(now);
  } else if (output < router_.first_card_output()) {
    serve(output, now, nullptr);
  } else if (output.value < router_.outputs) {
    serve_card(state_, worker_, r_, output, now);
  } else if (output.value < std::uint32_t{router_.outputs} + router_.nodes) {
    ring_alarm(state_, worker_, r_, output.value - router_.outputs, now);
  } else {
    state_.news->act(worker_, r_, now);
  }
}

template <GeneralKind kind>
void GeneralVisit<kind>::route_heads(std::int64_t now) {
  std::int64_t later = route_due_heads(now);
  if (kind.commits) later = std::min(later, allocate_vcs(now));
  state_.next_of(r_, routing_actor) = later;
}

// Returns when the next ones are due.
template <GeneralKind kind>
std::int64_t GeneralVisit<kind>::route_due_heads(std::int64_t now) {
  std::int64_t later = never_at;
  if (setup_.timed && state_.route_due[r_] > now) return state_.route_due[r_];
  std::uint64_t* const heads = unrouted();
  for (std::uint32_t w = 0; w < words(); ++w) {
    for (std::uint64_t word = heads[w]; word != 0; word &= word - 1) {
      const LocalInput bit(w * 64 + static_cast<std::uint32_t>(std::countr_zero(word)));
      const InputIndex input = router_.first_input + bit;
      if (setup_.timed) {
        const std::int64_t at = state_.head_due[input];
        if (at > now) {
          later = std::min(later, at);
          continue;
        }
      }
      Mask::clear(heads, bit);
      route_head(input, now);
    }
  }
  if (setup_.timed) state_.route_due[r_] = later;
  return later;
}

template <GeneralKind kind>
void GeneralVisit<kind>::route_head(InputIndex input, std::int64_t now) {
  if (!setup_.asks_late && !ask_options(input, now)) return;
  Input& in = state_.inputs[input];
  if (words() == 1) router_.heads |= std::uint64_t{1} << number_of(input).value;
  in.ready_at = state_.ready_at(in);
  if (kind.commits) {  // First a VC, then an output.
    Mask::set(seeking(), number_of(input));
    Mask::set(untried(), number_of(input));
    return;
  }
  for (const Choice& choice : state_.worker(worker_).choices.all()) {
    const LocalOutput output = output_of(state_, r_, head_of(input), choice);
    const OutputIndex index = index_of(output);
    join_queue(index, input);
    state_.bring_forward(r_, actor_of(output),
                         std::max(in.ready_at, state_.outputs[index].free_at));
  }
}

// Notes where the head may go, best first; false if nowhere.
template <GeneralKind kind>
bool GeneralVisit<kind>::ask_options(InputIndex input, std::int64_t now) {
  Slot& packet = head_of(input);
  const Choices& choices = ask_policy(state_, worker_, r_, packet, now);
  if (choices.empty()) return false;
  if (setup_.options_max == 1) {
    state_.inputs[input].vcs = vcs_of(choices[0], input);
    packet.route = choices[0].state;
    return true;
  }
  state_.option_count[input] = static_cast<std::uint8_t>(choices.count());
  RouteOption* option = options_of(input);
  std::uint64_t ways = 0;
  for (const Choice& choice : choices.all()) {
    *option = {.output = static_cast<std::uint16_t>(output_of(state_, r_, packet, choice).value),
               .vcs = vcs_of(choice, input),
               .route = choice.state};
    ways |= way_bit(option++->output);
  }
  if (kind.commits) state_.seek.ways[input] = ways;
  return true;
}

// Output buffers have a queue for each VC, and these overtake one another: where the order of
// packets is kept, a packet for a node here stays in its VC.
template <GeneralKind kind>
VcMask GeneralVisit<kind>::vcs_of(const Choice& choice, InputIndex input) const {
  if (choice.port == Choice::eject && setup_.buffered && setup_.facts.in_order)
    return VcMask{1} << (number_of(input).value % setup_.vcs);
  return choice.vcs & setup_.all_vcs;
}

template <GeneralKind kind>
void GeneralVisit<kind>::serve(LocalOutput output, std::int64_t now, const Frame* below) {
  const OutputIndex index = index_of(output);
  Output& out = state_.outputs[index];
  if (out.free_at > now) {
    schedule(output, out.free_at);
    return;
  }
  const Candidate winner = setup_.machine.arbitration == Arbitration::age
                               ? find_oldest(output, now)
                               : find_winner(output, now, below);
  if (!winner.vc.exists()) {
    WEFT_DCHECK(winner.possible_at > now);
    schedule(output, winner.possible_at);
    return;
  }
  grant(output, winner, now);
  schedule(output, Mask::is_empty(waiting(index), words()) ? never_at : out.free_at);
  // The packet's VC will be there for the next one.
  if (kind.commits && output.value < router_.ends())
    state_.reopen(worker_, r_, index, std::max(now, state_.vc_free(index, winner.vc)));
}

// Gives free VCs to the heads that have none; returns when it may be worth trying again. Heads are
// tried in turn, but those that cannot get a VC are left out: they have been tried before, and
// nothing has opened for them since.
template <GeneralKind kind>
std::int64_t GeneralVisit<kind>::allocate_vcs(std::int64_t now) {
  SeekTables& seek = state_.seek;
  std::uint64_t* const seeking = this->seeking();
  std::uint64_t* const untried = this->untried();
  if (Mask::is_empty(seeking, words())) return never_at;
  std::uint64_t open = seek.soonest_at[r_] <= now ? find_open(now) : 0;
  std::int64_t again_at = never_at;
  const std::uint32_t own = router_.ports * setup_.vcs;
  try_in_turn(open != 0 ? seeking : untried, router_.vc_pointer, own, [&](LocalInput bit) {
    const InputIndex input = router_.first_input + bit;
    const bool first_time = Mask::has(untried, bit);
    if (!first_time && (seek.ways[input] & open) == 0) return false;
    const std::int64_t ready_at = state_.inputs[input].ready_at;
    if (ready_at > now) {
      again_at = std::min(again_at, ready_at);
      return false;
    }
    Mask::clear(untried, bit);
    const std::uint64_t ways = first_time ? all_ways : open;
    const LocalOutput taken =
        setup_.asks_late ? ask_and_commit(input, ways, now) : commit_head(input, ways, now);
    if (taken == no_output) return false;
    Mask::clear(seeking, bit);
    router_.vc_pointer = static_cast<std::uint16_t>(bit.value + 1);
    // Modulo 64, one bit may stand for several outputs.
    const std::uint64_t way = way_bit(taken.value);
    if ((open & way) != 0 && router_.ends() <= 64 && is_shut(taken, now)) open &= ~way;
    return open == 0 && Mask::is_empty(untried, words());
  });
  return std::min(again_at, seek.soonest_at[r_]);
}

// Is no VC of the output there for a packet of any size? Then notes until when.
template <GeneralKind kind>
bool GeneralVisit<kind>::is_shut(LocalOutput output, std::int64_t now) {
  const OutputIndex index = index_of(output);
  const Output& out = state_.outputs[index];
  for (Vc vc{0}; vc.value < setup_.vcs; ++vc) {
    if (state_.vc_free(index, vc) > now) continue;
    if (has_room(state_.accounts[state_.channel(index, vc)], out, 1)) return false;
  }
  const VcPick pick = pick_vc(index, setup_.all_vcs, 1, now);
  if (pick.vc.exists()) return false;
  note_shut(output, pick.possible_at);
  return true;
}

// The outputs that may have a VC for a head which has been tried before.
template <GeneralKind kind>
std::uint64_t GeneralVisit<kind>::find_open(std::int64_t now) {
  std::uint64_t open = 0;
  std::int64_t* const shut = &state_.seek.shut_until[router_.first_output];
  state_.seek.soonest_at[r_] = never_at;
  for (std::uint64_t left = std::exchange(state_.seek.soon[r_], 0); left != 0; left &= left - 1) {
    LocalOutput o(static_cast<std::uint32_t>(std::countr_zero(left)));
    for (; o.value < router_.ends(); o.value += 64) {
      if (shut[o.value] > now) {
        note_shut(o, shut[o.value]);
        continue;
      }
      shut[o.value] = never_at;
      if (!is_shut(o, now)) open |= way_bit(o.value);
    }
  }
  return open;
}

// A VC for the head on one of its ways, or none, and then until when not.
template <GeneralKind kind>
VcPick GeneralVisit<kind>::try_way(InputIndex input, const RouteOption& option, std::int64_t now) {
  const LocalOutput output(option.output);
  const VcPick pick = pick_vc(index_of(output), option.vcs, head_size(input), now);
  if (!pick.vc.exists()) note_shut(output, pick.possible_at);
  return pick;
}

// At first a head's options are not known. Later they are the same as before, only their order may
// have changed: no need to ask while none of them is open.
template <GeneralKind kind>
LocalOutput GeneralVisit<kind>::ask_and_commit(InputIndex input, std::uint64_t ways,
                                               std::int64_t now) {
  const RouteOption* const options = options_of(input);
  bool free = ways == all_ways;
  for (int i = 0; i < state_.option_count[input] && !free; ++i)
    free = (ways & way_bit(options[i].output)) != 0 && try_way(input, options[i], now).vc.exists();
  if (!free) return no_output;
  if (ask_options(input, now)) return commit_head(input, ways, now);
  Mask::clear(seeking(), number_of(input));
  return no_output;
}

// Takes the best of these options that has a free VC, whether or not its output is busy.
template <GeneralKind kind>
LocalOutput GeneralVisit<kind>::commit_head(InputIndex input, std::uint64_t ways,
                                            std::int64_t now) {
  RouteOption* const options = options_of(input);
  for (int i = 0; i < state_.option_count[input]; ++i) {
    const RouteOption option = options[i];
    if ((ways & way_bit(option.output)) == 0) continue;
    const VcPick pick = try_way(input, option, now);
    if (!pick.vc.exists()) continue;
    const LocalOutput output(option.output);
    const OutputIndex index = index_of(output);
    options[0] = {
        .output = option.output, .vcs = VcMask{1} << pick.vc.value, .route = option.route};
    state_.option_count[input] = 1;
    state_.inputs[input].vcs = options[0].vcs;
    head_of(input).route = option.route;
    join_queue(index, input);
    // No other packet gets this VC until this one has gone.
    state_.vc_free_at[state_.channel(index, pick.vc)] = never_at;
    if (state_.news != nullptr) state_.news->check_port(r_, output, now);
    state_.bring_forward(r_, actor_of(output), std::max(now, state_.outputs[index].free_at));
    return output;
  }
  return no_output;
}

// The head goes: it no longer waits for any of its outputs. One for which nobody waits has nothing
// to do.
template <GeneralKind kind>
void GeneralVisit<kind>::stop_waiting(InputIndex input) {
  const RouteOption* const options = options_of(input);
  for (int i = 0; i < state_.option_count[input]; ++i) {
    const LocalOutput output(options[i].output);
    std::uint64_t* const mask = waiting(index_of(output));
    leave_queue(index_of(output), number_of(input), head_size(input));
    if (!Mask::is_empty(mask, words())) continue;
    next_[actor_of(output)] = never_at;
    router_.active &= ~Router::active_bit(actor_of(output));
  }
}

// Calls attempt(bit) for the bits of the mask in the order of service, until it returns true: round
// robin, and where through traffic goes first, bits from `own` on (packets of the router's nodes)
// after the others.
template <GeneralKind kind>
template <typename Attempt>
void GeneralVisit<kind>::try_in_turn(const std::uint64_t* mask, std::uint32_t pointer,
                                     std::uint32_t own, Attempt&& attempt) const {
  const std::uint32_t end = words() * 64;
  if (setup_.machine.arbitration != Arbitration::through_first) own = end;
  if constexpr (usual) {
    using Word = MaskOf<kind.words>;
    const Word later = ~low_part<Word>(pointer), through = low_part<Word>(own);
    for (Word left = load_mask<Word>(mask); left != 0;) {
      const Word best = (left & through) != 0 ? left & through : left;
      const std::uint32_t bit = first_bit((best & later) != 0 ? best & later : best);
      left &= ~(Word{1} << bit);
      if (attempt(LocalInput(bit))) return;
    }
    return;
  }
  const auto scan = [&](std::uint32_t from, std::uint32_t until) {
    for (std::uint32_t w = from / 64; w * 64 < until; ++w) {
      std::uint64_t word = mask[w];
      if (w == from / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (until < w * 64 + 64) word &= (std::uint64_t{1} << (until % 64)) - 1;
      for (; word != 0; word &= word - 1) {
        if (attempt(LocalInput(w * 64 + static_cast<std::uint32_t>(std::countr_zero(word)))))
          return true;
      }
    }
    return false;
  };
  const std::uint32_t low = std::min(pointer, own), high = std::max(pointer, own);
  static_cast<void>(scan(low, own) || scan(0, low) || scan(high, end) || scan(own, high));
}

template <GeneralKind kind>
template <typename Attempt>
void GeneralVisit<kind>::try_candidates(LocalOutput output, Attempt&& attempt) {
  // Behind an output buffer all are equal.
  const std::uint32_t own =
      output.value < router_.ends() ? router_.ports * setup_.vcs : words() * 64;
  const OutputIndex index = index_of(output);
  try_in_turn(waiting(index), state_.outputs[index].pointer, own, attempt);
}

template <GeneralKind kind>
typename GeneralVisit<kind>::Candidate GeneralVisit<kind>::find_winner(LocalOutput output,
                                                                       std::int64_t now,
                                                                       const Frame* below) {
  const Frame here{output, below};
  // Better outputs served on the way; modulo 64, which can only end the search sooner.
  std::uint64_t tried = 0;
  for (;;) {
    Candidate best;
    LocalOutput better = no_output;
    try_candidates(output, [&](LocalInput bit) {
      const Candidate c = evaluate(output, bit, now);
      if (!c.vc.exists()) {
        best.possible_at = std::min(best.possible_at, c.possible_at);
        return false;
      }
      best = c;
      if (setup_.options_max > 1 && !kind.commits) {
        better = better_output(c, output, now, &here);
        if (better != no_output && ((tried >> (better.value % 64)) & 1) != 0) better = no_output;
      }
      return true;
    });
    if (better == no_output) return best;
    // The first in line prefers another output and could take it now: let that output decide first.
    tried |= std::uint64_t{1} << (better.value % 64);
    serve(better, now, &here);
  }
}

template <GeneralKind kind>
typename GeneralVisit<kind>::Candidate GeneralVisit<kind>::find_oldest(LocalOutput output,
                                                                       std::int64_t now) {
  Candidate best;
  std::int64_t oldest = never_at;
  std::uint32_t oldest_from = 0;
  try_candidates(output, [&](LocalInput bit) {
    const Candidate c = evaluate(output, bit, now);
    if (!c.vc.exists()) {
      if (!best.vc.exists()) best.possible_at = std::min(best.possible_at, c.possible_at);
      return false;
    }
    const Message& message = state_.messages[head_of(c.input).message];
    if (!best.vc.exists() ||
        std::pair(message.born_at, message.from) < std::pair(oldest, oldest_from)) {
      best = c;
      oldest = message.born_at;
      oldest_from = message.from;
    }
    return false;
  });
  return best;
}

// Can this candidate go through the output now, and into which VC?
template <GeneralKind kind>
typename GeneralVisit<kind>::Candidate GeneralVisit<kind>::evaluate(LocalOutput output,
                                                                    LocalInput bit,
                                                                    std::int64_t now) {
  Candidate c;
  c.input = state_.first_candidate(r_, output) + bit;
  const Input& in = state_.inputs[c.input];
  std::int64_t at = in.ready_at;
  if (in.port != no_port) at = std::max(at, crossbar_free(in));
  if (at > now) {
    c.possible_at = at;
    return c;
  }
  const Slot& packet = head_of(c.input);
  if (has_one_way(in)) {
    c.vcs = in.vcs;
    c.route = packet.route;
    if (kind.commits && in.port != no_port)  // It has this VC, and room in it.
      c.vc = Vc(static_cast<std::uint32_t>(std::countr_zero(c.vcs)));
    else
      find_vc(c, output, packet.size(), now);
    return c;
  }
  // A policy may offer an output twice: in its adaptive VCs, and in those of the escape.
  const RouteOption* const options = options_of(c.input);
  for (int i = 0; i < state_.option_count[c.input] && !c.vc.exists(); ++i) {
    if (options[i].output != output.value) continue;
    c.vcs = options[i].vcs;
    c.route = options[i].route;
    find_vc(c, output, packet.size(), now);
  }
  return c;
}

// Which of the candidate's VCs has room, or when one may have at the earliest.
template <GeneralKind kind>
void GeneralVisit<kind>::find_vc(Candidate& c, LocalOutput output, std::uint32_t size,
                                 std::int64_t now) {
  if (std::has_single_bit(c.vcs)) {
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(c.vcs)));
    const VcPick room = room_in(index_of(output), vc, size, now);
    c.possible_at = std::min(c.possible_at, room.possible_at);
    c.vc = room.vc;
  } else {
    const VcPick pick = pick_vc(index_of(output), c.vcs, size, now);
    c.possible_at = std::min(c.possible_at, pick.possible_at);
    c.vc = pick.vc;
  }
}

// An output that this candidate prefers to the one at hand and could take right now.
template <GeneralKind kind>
LocalOutput GeneralVisit<kind>::better_output(const Candidate& c, LocalOutput output,
                                              std::int64_t now, const Frame* below) {
  if (state_.inputs[c.input].port == no_port) return no_output;
  for (const RouteOption* option = options_of(c.input); option->output != output.value; ++option) {
    const LocalOutput other(option->output);
    if (state_.outputs[index_of(other)].free_at > now) continue;
    bool busy = false;
    for (const Frame* f = below; f != nullptr; f = f->below) busy |= f->output == other;
    if (busy) continue;
    if (pick_vc(index_of(other), option->vcs, head_size(c.input), now).vc.exists()) return other;
  }
  return no_output;
}

template <GeneralKind kind>
void GeneralVisit<kind>::grant(LocalOutput output, const Candidate& c, std::int64_t now) {
  const OutputIndex index = index_of(output);
  Output& out = state_.outputs[index];
  const Input& in = state_.inputs[c.input];
  Slot packet = head_of(c.input);
  const LocalInput bit = c.input - state_.first_candidate(r_, output);
  note_wait(index, in, packet, in.port != no_port ? crossbar_free(in) : 0, now);
  const Passage passage = cross(out, bit, packet, now);
  if (in.port == no_port) {
    Mask::clear(waiting(index), bit);
  } else if (has_one_way(in)) {
    leave_queue(index, bit, packet.size());
  } else {
    stop_waiting(c.input);
  }
  if (in.port != no_port) crossbar_free(in) = passage.free_at;
  use_vc(output, out, c.vc, passage.free_at);
  Account& account = state_.accounts[state_.channel(index, c.vc)];
  account.room -= static_cast<std::int32_t>(packet.size());
  ++account.pushed;
  if (state_.news != nullptr) state_.news->check_port(r_, output, now);
  packet.head_at = now + out.delay;
  packet.tail_after = static_cast<std::uint32_t>(passage.tail_at - now);
  packet.route = c.route;
  depart(c.input, passage);
  if (out.kind == to_node) {
    const std::int64_t arrived = packet.head_at + packet.tail_after;
    note_node_credit(state_, out.target + c.vc, packet, packet.tail_after, arrived);
    receive_packet(state_, worker_, packet, arrived);
    return;
  }
  if (out.kind == to_router) packet.count_hop();
  push(state_, worker_, out, c.vc, packet);
}

// The head has been granted: it leaves its buffer, and the next packet moves up.
template <GeneralKind kind>
void GeneralVisit<kind>::depart(InputIndex input, const Passage& passage) {
  Input& in = state_.inputs[input];
  Slot& place = head_of(input);
  leave_slot(in, place, place.size(), passage);
  if (words() == 1 && in.port != no_port)
    router_.heads &= ~(std::uint64_t{1} << number_of(input).value);
  if (in.head != in.tail) new_head(state_, worker_, input, r_);
}

namespace {

template <GeneralKind kind>
void visit(State& state, int worker, RouterIndex r, Reach reach) {
  GeneralVisit<kind>(state, worker, r).run(reach);
}

template <std::uint32_t words>
VisitFunction visit_of(bool commits) {
  return commits ? visit<GeneralKind{.words = words, .commits = true}>
                 : visit<GeneralKind{.words = words, .commits = false}>;
}

}  // namespace

VisitFunction use_general(const State& state) {
  const bool commits = state.setup.commits;
  const bool usual = state.crossbar_lanes == 1 && state.rings.is_whole();
  if (usual && state.words == 1) return visit_of<1>(commits);
  if (usual && state.words == 2) return visit_of<2>(commits);
  return visit_of<0>(commits);
}

}  // namespace weft::detail
