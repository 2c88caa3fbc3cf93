// SPDX-License-Identifier: Apache-2.0
// Heads of plain routers that take a VC before an output (Setup::commits): they are routed when
// they are due, and get the first of their options that has a free VC. The rest is as in other
// plain routers, except that a winner has its VC already. As the functions of GeneralVisit.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include <weft/simulate/router/masks.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/port_view.hpp>
#include <weft/simulate/router/visit.hpp>

namespace weft::detail {

template <PlainKind kind>
class PlainSeek {
 public:
  PlainSeek(State& state, int worker, RouterIndex r)
      : state_(state),
        setup_(state.setup),
        router_(state.routers[r]),
        seek_(state.seek),
        inputs_(&state.inputs[router_.first_input]),
        one_word_(router_.ends() <= 64),
        worker_(worker),
        r_(r) {}

  // Does what is due, and returns when there is more to do.
  std::int64_t act(std::int64_t now) {
    const std::int64_t later = route_due_heads(now);
    return std::min(later, allocate_vcs(now));
  }

 private:
  static constexpr std::uint64_t all_ways = ~std::uint64_t{0};
  static constexpr LocalOutput no_output{UINT32_MAX};
  using Mask = MaskOf<kind.words>;
  using Bits = Masks<kind.words>;

  [[gnu::always_inline]] inline std::int64_t route_due_heads(std::int64_t now);
  [[gnu::always_inline]] inline void route_head(LocalInput bit, std::int64_t now);
  bool ask_options(LocalInput bit, std::int64_t now);
  bool take_row(LocalInput bit, std::int64_t now);
  void order_row(LocalInput bit);
  [[gnu::always_inline]] inline std::int64_t allocate_vcs(std::int64_t now);
  [[gnu::always_inline]] inline LocalOutput try_head(LocalInput bit, std::uint64_t ways,
                                                     std::int64_t now);
  LocalOutput ask_and_commit(LocalInput bit, std::uint64_t ways, std::int64_t now);
  LocalOutput commit_head(LocalInput bit, std::uint64_t ways, std::int64_t now);
  LocalOutput take_vc(LocalInput bit, const RouteOption& option, Vc vc, std::int64_t now);
  bool is_shut(LocalOutput output, std::int64_t now);
  std::uint64_t find_open(std::int64_t now);
  [[gnu::always_inline]] inline Mask find_candidates(Mask seekers, std::uint64_t open);
  void note_wants(LocalInput bit);
  void forget_wants(LocalInput bit);
  VcPick find_vc(LocalOutput output, VcMask vcs, std::int64_t size, std::int64_t now);
  VcPick try_way(LocalInput bit, const RouteOption& option, std::int64_t now);
  void note_shut(LocalOutput output, std::int64_t until);
  void wait_for(LocalOutput output, LocalInput bit);

  InputIndex input_at(LocalInput bit) const { return router_.first_input + bit; }
  OutputIndex index_of(LocalOutput output) const { return router_.first_output + output; }
  Slot& head_of(LocalInput bit) { return state_.whole_slot(input_at(bit), inputs_[bit].head); }
  RouteOption* options_of(LocalInput bit) {
    return &state_.options[std::size_t{input_at(bit).value} * setup_.options_max];
  }
  std::uint64_t* unrouted() { return kind.words == 1 ? &router_.unrouted : state_.unrouted(r_); }
  std::uint64_t* seeking() { return &seek_.heads[std::size_t{r_.value} * kind.words]; }
  std::uint64_t* wanting(std::uint32_t output) {
    return &seek_.wanting[(std::size_t{router_.first_output.value} + output) * kind.words];
  }
  bool is_taken(LocalOutput output) const {
    return one_word_ && (seek_.taken[r_] & way_bit(output.value)) != 0;
  }
  std::uint64_t* untried() { return &seek_.untried[std::size_t{r_.value} * kind.words]; }
  // The port at this place of the row, in the order of ties.
  static std::uint16_t port_of(const QueueRow& row, std::uint32_t place) {
    const std::uint32_t from_first = row.begin + place;
    return static_cast<std::uint16_t>(
        row.first + (from_first < row.count ? from_first : from_first - row.count));
  }
  // Outputs as bits of a word, modulo 64.
  static std::uint64_t way_bit(std::uint32_t output) { return std::uint64_t{1} << (output % 64); }

  State& state_;
  const Setup& setup_;
  Router& router_;
  SeekTables& seek_;
  const Slice<Input, LocalInput> inputs_;
  const bool one_word_;  // The outputs that heads choose from fit into one word.
  const int worker_;
  const RouterIndex r_;
};

// Returns when the next ones are due.
template <PlainKind kind>
inline std::int64_t PlainSeek<kind>::route_due_heads(std::int64_t now) {
  std::int64_t& due = state_.route_due[r_];
  if (due > now) return due;
  const Slice<std::int64_t, LocalInput> dues(&state_.head_due[router_.first_input]);
  std::int64_t later = never_at;
  for (std::uint32_t w = 0; w < kind.words; ++w) {
    for (std::uint64_t heads = unrouted()[w]; heads != 0; heads &= heads - 1) {
      const LocalInput bit(w * 64 + static_cast<std::uint32_t>(std::countr_zero(heads)));
      const std::int64_t at = dues[bit];
      if (at > now) {
        later = std::min(later, at);
        continue;
      }
      Bits::clear(unrouted(), bit);
      route_head(bit, now);
    }
  }
  return due = later;
}

template <PlainKind kind>
inline void PlainSeek<kind>::route_head(LocalInput bit, std::int64_t now) {
  if (!setup_.asks_late && !ask_options(bit, now)) return;
  if (kind.words == 1) router_.heads |= std::uint64_t{1} << bit.value;
  Input& in = inputs_[bit];
  in.ready_at = std::max(head_of(bit).head_at + setup_.early_ps, in.ready_at) + setup_.late_ps;
  Bits::set(seeking(), bit);
  Bits::set(untried(), bit);
}

// Notes where the head may go, best first; false if nowhere.
template <PlainKind kind>
bool PlainSeek<kind>::ask_options(LocalInput bit, std::int64_t now) {
  if (state_.rows.policy != nullptr && take_row(bit, now)) return true;
  const Slot& packet = head_of(bit);
  const Choices& choices = ask_policy(state_, worker_, r_, packet, now);
  if (choices.empty()) return false;
  RouteOption* option = options_of(bit);
  std::uint64_t ways = 0;
  for (const Choice& choice : choices.all()) {
    *option = {.output = static_cast<std::uint16_t>(output_of(state_, r_, packet, choice).value),
               .vcs = choice.vcs & setup_.all_vcs,
               .route = choice.state};
    ways |= way_bit(option++->output);
  }
  const InputIndex input = input_at(bit);
  state_.option_count[input] = static_cast<std::uint8_t>(choices.count());
  seek_.ways[input] = ways;
  return true;
}

// Where the head may take any port of a row: notes the best one, and the queues as they are now, in
// the order of ties. False if it may not.
template <PlainKind kind>
bool PlainSeek<kind>::take_row(LocalInput bit, std::int64_t now) {
  const InputIndex input = input_at(bit);
  RowTables& rows = state_.rows;
  QueueRow& row = rows.of_head[input];
  if (!rows.policy->find(state_.placement.ids[r_], flight_of(state_, head_of(bit)), row))
    return false;
  std::int64_t* const queues = rows.queues_of(input);
  const RouterView view(state_, r_, now);
  const std::uint32_t until_end = row.count - std::uint32_t{row.begin};
  view.queues(row.first + row.begin, std::span(queues, until_end));
  view.queues(row.first, std::span(queues + until_end, row.begin));
  std::uint32_t best = 0;
  std::int64_t least = queues[0];
  for (std::uint32_t i = 1; i < row.count; ++i) {
    const bool less = __builtin_expect_with_probability(queues[i] < least, 1, 0.5) != 0;
    best = less ? i : best;
    least = less ? queues[i] : least;
  }
  *options_of(bit) = {
      .output = port_of(row, best), .vcs = row.vcs & setup_.all_vcs, .route = row.state};
  state_.option_count[input] = 1;
  return true;
}

// The first option of the head has no VC: puts all of them in order.
template <PlainKind kind>
void PlainSeek<kind>::order_row(LocalInput bit) {
  const InputIndex input = input_at(bit);
  QueueRow& row = state_.rows.of_head[input];
  const std::int64_t* const queues = state_.rows.queues_of(input);
  RouteOption* const options = options_of(bit);
  std::array<std::uint16_t, Choices::capacity> best;  // Places in the row.
  std::uint32_t count = 0;
  for (std::uint16_t i = 0; i < row.count; ++i) {
    if (count == setup_.options_max) {
      if (queues[best[count - 1]] <= queues[i]) continue;
      --count;
    }
    std::uint32_t at = count++;
    for (; at > 0 && queues[best[at - 1]] > queues[i]; --at) best[at] = best[at - 1];
    best[at] = i;
  }
  std::uint64_t ways = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    options[i] = {
        .output = port_of(row, best[i]), .vcs = row.vcs & setup_.all_vcs, .route = row.state};
    ways |= way_bit(options[i].output);
  }
  state_.option_count[input] = static_cast<std::uint8_t>(count);
  seek_.ways[input] = ways;
  row.count = 0;
}

// Gives free VCs to the heads that have none; returns when it may be worth trying again. Heads are
// tried in turn, but those that cannot get a VC are left out: they have been tried before, and
// nothing has opened for them since.
template <PlainKind kind>
inline std::int64_t PlainSeek<kind>::allocate_vcs(std::int64_t now) {
  const Mask seekers = load_mask<Mask>(seeking());
  if (seekers == 0) return never_at;
  std::uint64_t open = seek_.soonest_at[r_] <= now ? find_open(now) : 0;
  std::int64_t again_at = never_at;
  const Mask later = ~low_part<Mask>(router_.vc_pointer);
  const Mask through = setup_.machine.arbitration == Arbitration::through_first
                           ? low_part<Mask>(router_.ports * setup_.vcs)
                           : ~Mask{0};
  for (Mask left = find_candidates(seekers, open); left != 0;) {
    const Mask first = (left & through) != 0 ? left & through : left;
    const LocalInput bit(first_bit((first & later) != 0 ? first & later : first));
    left &= ~(Mask{1} << bit.value);
    const bool first_time = Bits::has(untried(), bit);
    if (!first_time && (seek_.ways[input_at(bit)] & open) == 0) continue;
    if (const std::int64_t ready_at = inputs_[bit].ready_at; ready_at > now) {
      again_at = std::min(again_at, ready_at);
      continue;
    }
    Bits::clear(untried(), bit);
    const LocalOutput taken = try_head(bit, first_time ? all_ways : open, now);
    if (taken == no_output) {
      if (first_time) note_wants(bit);
      continue;
    }
    Bits::clear(seeking(), bit);
    router_.vc_pointer = static_cast<std::uint16_t>(bit.value + 1);
    // Modulo 64, one bit may stand for several outputs.
    const std::uint64_t way = way_bit(taken.value);
    if ((open & way) != 0 && one_word_ && is_shut(taken, now)) open &= ~way;
    if (open == 0 && load_mask<Mask>(untried()) == 0) break;
  }
  return std::min(again_at, seek_.soonest_at[r_]);
}

// The heads to try: those that have not been tried, and those that wait for an open output.
template <PlainKind kind>
inline typename PlainSeek<kind>::Mask PlainSeek<kind>::find_candidates(Mask seekers,
                                                                       std::uint64_t open) {
  if (open != 0 && !one_word_) return seekers;
  Mask candidates = load_mask<Mask>(untried());
  for (; open != 0; open &= open - 1)
    candidates |= load_mask<Mask>(wanting(static_cast<std::uint32_t>(std::countr_zero(open))));
  return candidates;
}

// The head has been tried in vain: it waits for its outputs.
template <PlainKind kind>
void PlainSeek<kind>::note_wants(LocalInput bit) {
  if (!one_word_) return;
  for (std::uint64_t left = seek_.ways[input_at(bit)]; left != 0; left &= left - 1)
    Bits::set(wanting(static_cast<std::uint32_t>(std::countr_zero(left))), bit);
}

// The head waits no longer.
template <PlainKind kind>
void PlainSeek<kind>::forget_wants(LocalInput bit) {
  if (!one_word_) return;
  for (std::uint64_t left = seek_.ways[input_at(bit)]; left != 0; left &= left - 1)
    Bits::clear(wanting(static_cast<std::uint32_t>(std::countr_zero(left))), bit);
}

// Gives the head a VC on one of these ways, and returns that.
template <PlainKind kind>
inline LocalOutput PlainSeek<kind>::try_head(LocalInput bit, std::uint64_t ways, std::int64_t now) {
  return setup_.asks_late ? ask_and_commit(bit, ways, now) : commit_head(bit, ways, now);
}

// Is no VC of the output there for a packet of any size? Then notes until when.
template <PlainKind kind>
bool PlainSeek<kind>::is_shut(LocalOutput output, std::int64_t now) {
  if (is_taken(output)) return true;
  const VcPick pick = find_vc(output, setup_.all_vcs, 1, now);
  if (pick.vc.exists()) return false;
  note_shut(output, pick.possible_at);
  return true;
}

// No head that has been tried gets a VC of the output before.
template <PlainKind kind>
void PlainSeek<kind>::note_shut(LocalOutput output, std::int64_t until) {
  if (until == never_at) return;
  std::int64_t& shut = seek_.shut_until[index_of(output)];
  shut = std::min(shut, until);
  seek_.soonest_at[r_] = std::min(seek_.soonest_at[r_], until);
  seek_.soon[r_] |= way_bit(output.value);
}

// The outputs that may have a VC for a head which has been tried before.
template <PlainKind kind>
std::uint64_t PlainSeek<kind>::find_open(std::int64_t now) {
  std::uint64_t open = 0;
  const Slice<std::int64_t, LocalOutput> shut(&seek_.shut_until[router_.first_output]);
  std::uint64_t due = 0, later = 0;
  std::int64_t soonest_at = never_at;
  for (std::uint64_t left = seek_.soon[r_]; left != 0; left &= left - 1) {
    LocalOutput output(static_cast<std::uint32_t>(std::countr_zero(left)));
    do {
      const std::int64_t at = shut[output];
      (at > now ? later : due) |= left & -left;
      soonest_at = std::min(soonest_at, at > now ? at : never_at);
      output.value += 64;
    } while (!one_word_ && output.value < router_.ends());
  }
  seek_.soonest_at[r_] = soonest_at;
  seek_.soon[r_] = later;
  for (; due != 0; due &= due - 1) {
    LocalOutput output(static_cast<std::uint32_t>(std::countr_zero(due)));
    do {
      if (shut[output] <= now) {
        shut[output] = never_at;
        if (state_.is_wanted(r_, index_of(output)) && !is_shut(output, now))
          open |= way_bit(output.value);
      }
      output.value += 64;
    } while (!one_word_ && output.value < router_.ends());
  }
  return open;
}

// As pick_vc(); remembers if there is none.
template <PlainKind kind>
VcPick PlainSeek<kind>::find_vc(LocalOutput output, VcMask vcs, std::int64_t size,
                                std::int64_t now) {
  const OutputIndex index = index_of(output);
  SeekTables::Full& full = seek_.full[index];
  if (full.until > now && size >= full.size && (vcs & ~full.vcs) == 0) return {full.until, no_vc};
  const VcPick best = pick_vc_in_order<true>(state_, index, vcs, size, now);
  if (!best.vc.exists())
    full = {.until = best.possible_at, .size = static_cast<std::uint32_t>(size), .vcs = vcs};
  return best;
}

// A VC for the head on one of its ways, or none, and then until when not.
template <PlainKind kind>
VcPick PlainSeek<kind>::try_way(LocalInput bit, const RouteOption& option, std::int64_t now) {
  const LocalOutput output(option.output);
  const VcPick pick = find_vc(output, option.vcs, head_of(bit).size(), now);
  if (!pick.vc.exists()) note_shut(output, pick.possible_at);
  return pick;
}

// At first a head's options are not known. Later they are the same as before, only their order may
// have changed: no need to ask while none of them is open.
template <PlainKind kind>
LocalOutput PlainSeek<kind>::ask_and_commit(LocalInput bit, std::uint64_t ways, std::int64_t now) {
  const RouteOption* const options = options_of(bit);
  bool free = ways == all_ways;
  for (int i = 0; i < state_.option_count[input_at(bit)] && !free; ++i)
    free = (ways & way_bit(options[i].output)) != 0 && try_way(bit, options[i], now).vc.exists();
  if (!free) return no_output;
  if (ask_options(bit, now)) return commit_head(bit, ways, now);
  Bits::clear(seeking(), bit);
  if (ways != all_ways) forget_wants(bit);
  seek_.ways[input_at(bit)] = 0;
  return no_output;
}

// Takes the best of these options that has a free VC, whether or not its output is busy.
template <PlainKind kind>
LocalOutput PlainSeek<kind>::commit_head(LocalInput bit, std::uint64_t ways, std::int64_t now) {
  const RouteOption* const options = options_of(bit);
  const InputIndex input = input_at(bit);
  if (state_.rows.policy != nullptr && state_.rows.of_head[input].count > 0) {
    const RouteOption first = options[0];
    if (!is_taken(LocalOutput(first.output))) {
      const VcPick pick = try_way(bit, first, now);
      if (pick.vc.exists()) return take_vc(bit, first, pick.vc, now);
    }
    order_row(bit);
  }
  for (int i = 0; i < state_.option_count[input]; ++i) {
    const RouteOption option = options[i];
    if ((ways & way_bit(option.output)) == 0 || is_taken(LocalOutput(option.output))) continue;
    const VcPick pick = try_way(bit, option, now);
    if (!pick.vc.exists()) continue;
    if (ways != all_ways) forget_wants(bit);
    return take_vc(bit, option, pick.vc, now);
  }
  return no_output;
}

// The head takes this VC: no other packet gets it until this one has gone.
template <PlainKind kind>
LocalOutput PlainSeek<kind>::take_vc(LocalInput bit, const RouteOption& option, Vc vc,
                                     std::int64_t now) {
  const InputIndex input = input_at(bit);
  const LocalOutput output(option.output);
  const OutputIndex index = index_of(output);
  const VcMask vcs = VcMask{1} << vc.value;
  *options_of(bit) = {.output = option.output, .vcs = vcs, .route = option.route};
  state_.option_count[input] = 1;
  if (state_.rows.policy != nullptr) state_.rows.of_head[input].count = 0;
  inputs_[bit].vcs = vcs;
  head_of(bit).route = option.route;
  wait_for(output, bit);
  std::int64_t* const free_at = &state_.vc_free_at[state_.channel(index, Vc(0))];
  free_at[vc.value] = never_at;
  if (one_word_ &&
      std::all_of(free_at, free_at + setup_.vcs, [](std::int64_t at) { return at == never_at; }))
    seek_.taken[r_] |= way_bit(output.value);
  if (state_.news != nullptr) state_.news->check_port(r_, output, now);
  state_.bring_forward(r_, actor_of(output), std::max(now, state_.outputs[index].free_at));
  return output;
}

template <PlainKind kind>
void PlainSeek<kind>::wait_for(LocalOutput output, LocalInput bit) {
  const OutputIndex index = index_of(output);
  Bits::set(kind.words == 1 ? &state_.outputs[index].waiting : state_.waiting(index), bit);
  if (!state_.queues.counts_waiting) return;
  const std::uint32_t size = head_of(bit).size();
  state_.queues.waiting[index] += size;
  if (state_.queues.kept) state_.queues.ahead[index] += size;
}

// Does what is due in the search for VCs, and returns when there is more to do.
template <PlainKind kind>
[[gnu::noinline]] std::int64_t seek_vcs(State& state, int worker, RouterIndex r, std::int64_t now) {
  return PlainSeek<kind>(state, worker, r).act(now);
}

// Of a head that has taken a VC before an output.
inline Vc committed_vc(const Input& in) {
  return Vc(static_cast<std::uint32_t>(std::countr_zero(in.vcs)));
}

struct Leaving {  // A packet of this size, which had this VC of the output, has gone.
  LocalOutput output;
  Vc vc;
  std::int64_t size, now;
};

// Now others may take the VC.
template <PlainKind kind>
[[gnu::always_inline]] inline void let_go(State& state, int worker, RouterIndex r,
                                          const Leaving& leaving) {
  const Router& router = state.routers[r];
  const OutputIndex index = router.first_output + leaving.output;
  // With lookahead at once.
  if (kind.even) state.vc_free_at[state.channel(index, leaving.vc)] = 0;
  if (state.queues.counts_waiting) state.queues.waiting[index] -= leaving.size;
  if (state.news != nullptr) state.news->check_port(r, leaving.output, leaving.now);
  state.seek.full[index].until = 0;
  if (router.ends() <= 64) state.seek.taken[r] &= ~(std::uint64_t{1} << leaving.output.value);
  // What heads found before they were tried is of no use to those that come later.
  if (state.is_wanted(r, index))
    state.reopen(worker, r, index, std::max(leaving.now, state.vc_free(index, leaving.vc)));
}

}  // namespace weft::detail
