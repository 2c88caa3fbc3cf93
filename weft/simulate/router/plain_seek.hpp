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

#include <weft/simulate/router/actors.hpp>
#include <weft/simulate/router/masks.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/port_view.hpp>
#include <weft/simulate/router/visit.hpp>

namespace weft::detail {

// Holds what is known of this router, looked up once. As in PlainVisit nothing that is not inlined
// may see `this`, so what is rare is static, and looks its part up again.
template <PlainKind kind>
class PlainSeek {
 public:
  [[gnu::always_inline]] PlainSeek(State& state, int worker, RouterIndex r)
      : state_(state),
        setup_(state.setup),
        router_(state.routers[r]),
        seek_(state.seek),
        inputs_(&state.inputs[router_.first_input]),
        outputs_(&state.outputs[router_.first_output]),
        accounts_(&state.accounts[state.channel(router_.first_output, Vc(0))]),
        free_at_(&state.vc_free_at[state.channel(router_.first_output, Vc(0))]),
        slots_(&state.whole_slot(router_.first_input, 0)),
        options_(&state.options[std::size_t{router_.first_input.value} * state.setup.options_max]),
        times_(state, router_),
        seeking_(&seek_.heads[std::size_t{r.value} * kind.words]),
        untried_(&seek_.untried[std::size_t{r.value} * kind.words]),
        vcs_(state.setup.vcs),
        ring_bits_(state.rings.bits),
        one_word_(router_.ends() <= 64),
        worker_(worker),
        r_(r) {}

  // Does what is due, and returns when there is more to do.
  [[gnu::always_inline]] std::int64_t act(std::int64_t now) {
    const std::int64_t later = route_due_heads(now);
    return std::min(later, allocate_vcs(now));
  }

 private:
  static constexpr std::uint64_t all_ways = ~std::uint64_t{0};
  static constexpr LocalOutput no_output{UINT32_MAX};
  using Mask = MaskOf<kind.words>;
  using Bits = Masks<kind.words>;
  struct Head {
    InputIndex input;
    const Slot& packet;
    RouteOption* options;
  };

  [[gnu::always_inline]] inline std::int64_t route_due_heads(std::int64_t now);
  [[gnu::always_inline]] inline void route_head(LocalInput bit, std::int64_t now);
  [[gnu::always_inline]] inline bool ask_options(LocalInput bit, std::int64_t now);
  [[gnu::noinline]] static bool note_options(State& state, int worker, RouterIndex r,
                                             const Head& head, std::int64_t now);
  [[gnu::always_inline]] inline bool take_row(LocalInput bit, std::int64_t now);
  [[gnu::noinline]] static void order_row(State& state, RouterIndex r, LocalInput bit);
  [[gnu::always_inline]] inline std::int64_t allocate_vcs(std::int64_t now);
  [[gnu::always_inline]] inline LocalInput next_in_turn(Mask left, std::uint32_t pointer);
  [[gnu::always_inline]] inline bool ask_late(LocalInput bit, std::uint64_t ways, std::int64_t now);
  [[gnu::always_inline]] inline LocalOutput commit_head(LocalInput bit, std::uint64_t ways,
                                                        std::int64_t now);
  [[gnu::always_inline]] inline LocalOutput commit_in_row(LocalInput bit, std::uint64_t ways,
                                                          std::int64_t now);
  [[gnu::always_inline]] static inline std::uint16_t first_in_row(std::uint64_t ports,
                                                                  const QueueRow& row,
                                                                  const std::int64_t* keys);
  [[gnu::noinline]] static LocalOutput commit_in_order(State& state, RouterIndex r, LocalInput bit,
                                                       std::uint64_t left, std::int64_t now);
  [[gnu::always_inline]] inline LocalOutput take_vc(LocalInput bit, const RouteOption& option,
                                                    Vc vc, std::int64_t now);
  [[gnu::always_inline]] inline bool is_shut(LocalOutput output, std::int64_t now);
  [[gnu::noinline]] static std::uint64_t find_open(State& state, RouterIndex r, std::int64_t now);
  [[gnu::always_inline]] inline Mask find_candidates(Mask seekers, std::uint64_t open);
  [[gnu::always_inline]] inline void note_wants(LocalInput bit);
  [[gnu::always_inline]] inline void forget_wants(LocalInput bit);
  [[gnu::always_inline]] inline VcPick find_vc(LocalOutput output, VcMask vcs, std::int64_t size,
                                               std::int64_t now);
  [[gnu::noinline]] static VcPick compare_vcs(State& state, OutputIndex output, VcMask vcs,
                                              std::int64_t size, std::int64_t now);
  [[gnu::always_inline]] inline VcPick try_way(LocalInput bit, const RouteOption& option,
                                               std::int64_t now);
  [[gnu::always_inline]] inline void note_shut(LocalOutput output, std::int64_t until);
  [[gnu::always_inline]] inline void wait_for(LocalOutput output, LocalInput bit);

  InputIndex input_at(LocalInput bit) const { return router_.first_input + bit; }
  OutputIndex index_of(LocalOutput output) const { return router_.first_output + output; }
  Slot& head_of(LocalInput bit) {
    return slots_[(std::size_t{bit.value} << ring_bits_) + (inputs_[bit].head & state_.rings.mask)];
  }
  RouteOption* options_of(LocalInput bit) {
    return options_ + std::size_t{bit.value} * setup_.options_max;
  }
  std::uint64_t* unrouted() { return kind.words == 1 ? &router_.unrouted : state_.unrouted(r_); }
  std::uint64_t* wanting(std::uint32_t output) {
    return &seek_.wanting[(std::size_t{router_.first_output.value} + output) * kind.words];
  }
  bool is_taken(LocalOutput output) const {
    return one_word_ && (seek_.taken[r_] & way_bit(output.value)) != 0;
  }
  // Outputs as bits of a word, modulo 64.
  static std::uint64_t way_bit(std::uint32_t output) { return std::uint64_t{1} << (output % 64); }

  State& state_;
  const Setup& setup_;
  Router& router_;
  SeekTables& seek_;
  const Slice<Input, LocalInput> inputs_;
  const Slice<Output, LocalOutput> outputs_;
  Account* const accounts_;      // By output and VC.
  std::int64_t* const free_at_;  // By output and VC.
  Slot* const slots_;            // First slot of input 0.
  RouteOption* const options_;   // Of input 0.
  ActorTimes<kind.wide> times_;
  std::uint64_t* const seeking_;  // Heads without a VC,
  std::uint64_t* const untried_;  // and those of them that have not been tried yet.
  const std::uint32_t vcs_, ring_bits_;
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
  Bits::set(seeking_, bit);
  Bits::set(untried_, bit);
}

// Notes where the head may go, best first; false if nowhere.
template <PlainKind kind>
inline bool PlainSeek<kind>::ask_options(LocalInput bit, std::int64_t now) {
  if (state_.rows.policy != nullptr && take_row(bit, now)) return true;
  return note_options(state_, worker_, r_, {input_at(bit), head_of(bit), options_of(bit)}, now);
}

template <PlainKind kind>
bool PlainSeek<kind>::note_options(State& state, int worker, RouterIndex r, const Head& head,
                                   std::int64_t now) {
  const Choices& choices = ask_policy(state, worker, r, head.packet, now);
  if (choices.empty()) return false;
  RouteOption* option = head.options;
  std::uint64_t ways = 0;
  for (const Choice& choice : choices.all()) {
    *option = {.output = static_cast<std::uint16_t>(output_of(state, r, head.packet, choice).value),
               .vcs = choice.vcs & state.setup.all_vcs,
               .route = choice.state};
    ways |= way_bit(option++->output);
  }
  state.option_count[head.input] = static_cast<std::uint8_t>(choices.count());
  state.seek.ways[head.input] = ways;
  return true;
}

// Where the head may take any port of a row: notes the queues as they are now, as keys that put the
// ports in order, and the best one. False if it may not.
template <PlainKind kind>
inline bool PlainSeek<kind>::take_row(LocalInput bit, std::int64_t now) {
  const InputIndex input = input_at(bit);
  RowTables& rows = state_.rows;
  RowTables::Row& row = rows.of_head[input];
  const Slot& packet = head_of(bit);
  if (!rows.policy->find(state_.placement.ids[r_], flight_of(state_, packet), row)) {
    row.count = 0;
    return false;
  }
  if (row.count == 1) {
    const LocalOutput only =
        output_of(state_, r_, packet, Choice{.port = row.first, .vcs = 0, .state = 0});
    *options_of(bit) = {.output = static_cast<std::uint16_t>(only.value),
                        .vcs = row.vcs & setup_.all_vcs,
                        .route = row.state};
    state_.option_count[input] = 1;
    seek_.ways[input] = way_bit(only.value);
    row.count = 0;
    return true;
  }
  std::int64_t* const keys = rows.keys_of(input);
  const RouterView view(state_, r_, now);
  std::int64_t best = INT64_MAX;
  std::uint32_t place = row.begin == 0 ? 0 : row.count - std::uint32_t{row.begin};
  for (std::uint32_t i = 0; i < row.count; ++i) {
    if (i == row.begin) place = 0;
    const std::int64_t key = RowTables::key(view.kept_queue(row.first + i), place++);
    keys[i] = key;
    best = std::min(best, key);
  }
  row.best = RowTables::port_of(row, best);
  seek_.ways[input] = low_bits(row.count) << (row.first % 64);
  return true;
}

// Puts the ports of the head's row in order, where a word is not enough for the outputs.
template <PlainKind kind>
void PlainSeek<kind>::order_row(State& state, RouterIndex r, LocalInput bit) {
  PlainSeek seek(state, 0, r);
  const InputIndex input = seek.input_at(bit);
  RowTables::Row& row = state.rows.of_head[input];
  std::int64_t* const keys = state.rows.keys_of(input);
  std::sort(keys, keys + row.count);
  const std::uint32_t count = std::min<std::uint32_t>(row.count, state.setup.options_max);
  std::uint64_t ways = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    RouteOption& option = seek.options_of(bit)[i];
    option = {.output = RowTables::port_of(row, keys[i]),
              .vcs = row.vcs & state.setup.all_vcs,
              .route = row.state};
    ways |= way_bit(option.output);
  }
  state.option_count[input] = static_cast<std::uint8_t>(count);
  state.seek.ways[input] = ways;
  row.count = 0;
}

// Gives free VCs to the heads that have none; returns when it may be worth trying again. Heads are
// tried in turn, but those that cannot get a VC are left out: they have been tried before, and
// nothing has opened for them since.
template <PlainKind kind>
inline std::int64_t PlainSeek<kind>::allocate_vcs(std::int64_t now) {
  const Mask seekers = load_mask<Mask>(seeking_);
  if (seekers == 0) return never_at;
  std::uint64_t open = seek_.soonest_at[r_] <= now ? find_open(state_, r_, now) : 0;
  std::int64_t again_at = never_at;
  const std::uint32_t pointer = router_.vc_pointer;
  for (Mask left = find_candidates(seekers, open); left != 0;) {
    const LocalInput bit =
        (left & (left - 1)) == 0 ? LocalInput(first_bit(left)) : next_in_turn(left, pointer);
    left &= ~(Mask{1} << bit.value);
    const bool first_time = Bits::has(untried_, bit);
    if (!first_time && (seek_.ways[input_at(bit)] & open) == 0) continue;
    if (const std::int64_t ready_at = inputs_[bit].ready_at; ready_at > now) {
      again_at = std::min(again_at, ready_at);
      continue;
    }
    Bits::clear(untried_, bit);
    const std::uint64_t ways = first_time ? all_ways : open;
    if (setup_.asks_late && !ask_late(bit, ways, now)) {
      if (first_time) note_wants(bit);
      continue;
    }
    const LocalOutput taken = commit_head(bit, ways, now);
    if (taken == no_output) {
      if (first_time) note_wants(bit);
      continue;
    }
    Bits::clear(seeking_, bit);
    router_.vc_pointer = static_cast<std::uint16_t>(bit.value + 1);
    if (open == 0) continue;
    // Modulo 64, one bit may stand for several outputs.
    const std::uint64_t way = way_bit(taken.value);
    if ((open & way) != 0 && one_word_ && is_shut(taken, now)) open &= ~way;
    if (open == 0 && load_mask<Mask>(untried_) == 0) break;
  }
  return std::min(again_at, seek_.soonest_at[r_]);
}

// The first of several heads whose turn it is.
template <PlainKind kind>
inline LocalInput PlainSeek<kind>::next_in_turn(Mask left, std::uint32_t pointer) {
  const Mask later = ~low_part<Mask>(pointer);
  const Mask through = setup_.machine.arbitration == Arbitration::through_first
                           ? low_part<Mask>(router_.ports * vcs_)
                           : ~Mask{0};
  const Mask first = (left & through) != 0 ? left & through : left;
  return LocalInput(first_bit((first & later) != 0 ? first & later : first));
}

// The heads to try: those that have not been tried, and those that wait for an open output.
template <PlainKind kind>
inline typename PlainSeek<kind>::Mask PlainSeek<kind>::find_candidates(Mask seekers,
                                                                       std::uint64_t open) {
  if (open != 0 && !one_word_) return seekers;
  Mask candidates = load_mask<Mask>(untried_);
  for (; open != 0; open &= open - 1)
    candidates |= load_mask<Mask>(wanting(static_cast<std::uint32_t>(std::countr_zero(open))));
  return candidates;
}

// The head has been tried in vain: it waits for its outputs.
template <PlainKind kind>
inline void PlainSeek<kind>::note_wants(LocalInput bit) {
  if (!one_word_) return;
  for (std::uint64_t left = seek_.ways[input_at(bit)]; left != 0; left &= left - 1)
    Bits::set(wanting(static_cast<std::uint32_t>(std::countr_zero(left))), bit);
}

// The head waits no longer.
template <PlainKind kind>
inline void PlainSeek<kind>::forget_wants(LocalInput bit) {
  if (!one_word_) return;
  for (std::uint64_t left = seek_.ways[input_at(bit)]; left != 0; left &= left - 1)
    Bits::clear(wanting(static_cast<std::uint32_t>(std::countr_zero(left))), bit);
}

// Is no VC of the output there for a packet of any size? Then notes until when.
template <PlainKind kind>
inline bool PlainSeek<kind>::is_shut(LocalOutput output, std::int64_t now) {
  if (is_taken(output)) return true;
  const VcPick pick = find_vc(output, setup_.all_vcs, 1, now);
  if (pick.vc.exists()) return false;
  note_shut(output, pick.possible_at);
  return true;
}

// No head that has been tried gets a VC of the output before.
template <PlainKind kind>
inline void PlainSeek<kind>::note_shut(LocalOutput output, std::int64_t until) {
  if (until == never_at) return;
  std::int64_t& shut = seek_.shut_until[index_of(output)];
  shut = std::min(shut, until);
  seek_.soonest_at[r_] = std::min(seek_.soonest_at[r_], until);
  seek_.soon[r_] |= way_bit(output.value);
}

// The outputs that may have a VC for a head which has been tried before.
template <PlainKind kind>
std::uint64_t PlainSeek<kind>::find_open(State& state, RouterIndex r, std::int64_t now) {
  PlainSeek seek(state, 0, r);
  SeekTables& tables = state.seek;
  std::uint64_t open = 0;
  const Slice<std::int64_t, LocalOutput> shut(&tables.shut_until[seek.router_.first_output]);
  std::uint64_t due = 0, later = 0;
  std::int64_t soonest_at = never_at;
  for (std::uint64_t left = tables.soon[r]; left != 0; left &= left - 1) {
    LocalOutput output(static_cast<std::uint32_t>(std::countr_zero(left)));
    do {
      const std::int64_t at = shut[output];
      (at > now ? later : due) |= left & -left;
      soonest_at = std::min(soonest_at, at > now ? at : never_at);
      output.value += 64;
    } while (!seek.one_word_ && output.value < seek.router_.ends());
  }
  tables.soonest_at[r] = soonest_at;
  tables.soon[r] = later;
  for (; due != 0; due &= due - 1) {
    LocalOutput output(static_cast<std::uint32_t>(std::countr_zero(due)));
    do {
      if (shut[output] <= now) {
        shut[output] = never_at;
        if (state.is_wanted(r, seek.index_of(output)) && !seek.is_shut(output, now))
          open |= way_bit(output.value);
      }
      output.value += 64;
    } while (!seek.one_word_ && output.value < seek.router_.ends());
  }
  return open;
}

// A VC of the output for a packet of this size, or none, and then until when not. Remembers if
// there is none.
template <PlainKind kind>
inline VcPick PlainSeek<kind>::find_vc(LocalOutput output, VcMask vcs, std::int64_t size,
                                       std::int64_t now) {
  const SeekTables::Full& full = seek_.full[index_of(output)];
  if (full.until > now && size >= full.size && (vcs & ~full.vcs) == 0) return {full.until, no_vc};
  if ((vcs & (vcs - 1)) == 0) {  // Nothing to compare: no need to count all credits.
    const Vc vc(static_cast<std::uint32_t>(std::countr_zero(vcs)));
    const std::size_t channel = std::size_t{output.value} * vcs_ + vc.value;
    if (free_at_[channel] <= now && has_room(accounts_[channel], outputs_[output], size))
      return {now, vc};
  }
  return compare_vcs(state_, index_of(output), vcs, size, now);
}

template <PlainKind kind>
VcPick PlainSeek<kind>::compare_vcs(State& state, OutputIndex output, VcMask vcs, std::int64_t size,
                                    std::int64_t now) {
  const VcPick best = pick_vc_in_order<true>(state, output, vcs, size, now);
  if (!best.vc.exists())
    state.seek.full[output] = {
        .until = best.possible_at, .size = static_cast<std::uint32_t>(size), .vcs = vcs};
  return best;
}

// A VC for the head on one of its ways, or none, and then until when not.
template <PlainKind kind>
inline VcPick PlainSeek<kind>::try_way(LocalInput bit, const RouteOption& option,
                                       std::int64_t now) {
  const LocalOutput output(option.output);
  const VcPick pick = find_vc(output, option.vcs, head_of(bit).size(), now);
  if (!pick.vc.exists()) note_shut(output, pick.possible_at);
  return pick;
}

// At first a head's options are not known. Later they are the same as before, only their order may
// have changed: no need to ask while none of them is open. False: there is nothing to try.
template <PlainKind kind>
inline bool PlainSeek<kind>::ask_late(LocalInput bit, std::uint64_t ways, std::int64_t now) {
  const RouteOption* const options = options_of(bit);
  const InputIndex input = input_at(bit);
  bool free = ways == all_ways;
  for (int i = 0; i < state_.option_count[input] && !free; ++i)
    free = (ways & way_bit(options[i].output)) != 0 && try_way(bit, options[i], now).vc.exists();
  if (!free) return false;
  if (ask_options(bit, now)) return true;
  Bits::clear(seeking_, bit);
  if (ways != all_ways) forget_wants(bit);
  seek_.ways[input] = 0;
  return false;
}

// Takes the best of these options that has a free VC, whether or not its output is busy.
template <PlainKind kind>
inline LocalOutput PlainSeek<kind>::commit_head(LocalInput bit, std::uint64_t ways,
                                                std::int64_t now) {
  const RouteOption* const options = options_of(bit);
  const InputIndex input = input_at(bit);
  if (state_.rows.policy != nullptr) {
    const RowTables::Row& row = state_.rows.of_head[input];
    if (row.count > 0) {
      if (one_word_) return commit_in_row(bit, ways, now);
      order_row(state_, r_, bit);
    }
  }
  const int count = state_.option_count[input];
  for (int i = 0; i < count; ++i) {
    const RouteOption option = options[i];
    if ((ways & way_bit(option.output)) == 0 || is_taken(LocalOutput(option.output))) continue;
    const VcPick pick = try_way(bit, option, now);
    if (!pick.vc.exists()) continue;
    if (ways != all_ways) forget_wants(bit);
    return take_vc(bit, option, pick.vc, now);
  }
  return no_output;
}

// As commit_head(), where any port of a row is an option: of a long row, the first in order only.
template <PlainKind kind>
inline LocalOutput PlainSeek<kind>::commit_in_row(LocalInput bit, std::uint64_t ways,
                                                  std::int64_t now) {
  const InputIndex input = input_at(bit);
  const RowTables::Row& row = state_.rows.of_head[input];
  const std::int64_t* const keys = state_.rows.keys_of(input);
  const std::uint64_t own = seek_.ways[input], taken = seek_.taken[r_];
  const bool first_time = ways == all_ways;
  const bool is_long = first_time && row.count > setup_.options_max;
  // This many of the best free ports are certainly among the options. For more it is better to put
  // all in order.
  std::int32_t sure = first_time ? 1 : 64;
  if (is_long)
    sure = std::min(sure, static_cast<std::int32_t>(setup_.options_max) -
                              static_cast<std::int32_t>(std::popcount(own & taken)));
  std::uint16_t port = row.best;
  std::uint64_t left = ways & own & ~taken;
  for (; left != 0 && sure > 0; --sure) {
    if ((left & way_bit(port)) == 0) port = first_in_row(left, row, keys);
    const RouteOption option{.output = port, .vcs = row.vcs & setup_.all_vcs, .route = row.state};
    const VcPick pick = try_way(bit, option, now);
    if (pick.vc.exists()) {
      if (!first_time) forget_wants(bit);
      return take_vc(bit, option, pick.vc, now);
    }
    left &= ~way_bit(port);
  }
  if (left == 0 && !is_long) return no_output;
  return commit_in_order(state_, r_, bit, left, now);
}

template <PlainKind kind>
inline std::uint16_t PlainSeek<kind>::first_in_row(std::uint64_t ports, const QueueRow& row,
                                                   const std::int64_t* keys) {
  if ((ports & (ports - 1)) == 0) return static_cast<std::uint16_t>(std::countr_zero(ports));
  std::int64_t best = INT64_MAX;
  for (; ports != 0; ports &= ports - 1)
    best = std::min(best, keys[static_cast<std::uint32_t>(std::countr_zero(ports)) - row.first]);
  return RowTables::port_of(row, best);
}

// The rest of commit_in_row() the first time, with the ports that are left to try.
template <PlainKind kind>
LocalOutput PlainSeek<kind>::commit_in_order(State& state, RouterIndex r, LocalInput bit,
                                             std::uint64_t left, std::int64_t now) {
  PlainSeek seek(state, 0, r);
  const InputIndex input = seek.input_at(bit);
  const RowTables::Row& row = state.rows.of_head[input];
  const std::int64_t* const keys = state.rows.keys_of(input);
  std::array<std::int64_t, Choices::capacity> order;
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < row.count; ++i) {
    if (count == seek.setup_.options_max) {
      if (order[count - 1] < keys[i]) continue;
      --count;
    }
    std::size_t at = count++;
    for (; at > 0 && order[at - 1] > keys[i]; --at) order[at] = order[at - 1];
    order[at] = keys[i];
  }
  std::uint64_t ways = 0;
  for (std::size_t i = 0; i < count; ++i) ways |= way_bit(RowTables::port_of(row, order[i]));
  state.seek.ways[input] = ways;
  for (std::size_t i = 0; i < count; ++i) {
    const RouteOption option{.output = RowTables::port_of(row, order[i]),
                             .vcs = row.vcs & seek.setup_.all_vcs,
                             .route = row.state};
    if ((left & way_bit(option.output)) == 0) continue;
    const VcPick pick = seek.try_way(bit, option, now);
    if (pick.vc.exists()) return seek.take_vc(bit, option, pick.vc, now);
  }
  return no_output;
}

// The head takes this VC: no other packet gets it until this one has gone.
template <PlainKind kind>
inline LocalOutput PlainSeek<kind>::take_vc(LocalInput bit, const RouteOption& option, Vc vc,
                                            std::int64_t now) {
  const LocalOutput output(option.output);
  inputs_[bit].vcs = VcMask{1} << vc.value;
  head_of(bit).route = option.route;
  wait_for(output, bit);
  std::int64_t* const free_at = &free_at_[std::size_t{output.value} * vcs_];
  free_at[vc.value] = never_at;
  if (one_word_) {
    bool all = true;
    for (std::uint32_t v = 0; v < vcs_; ++v) all &= free_at[v] == never_at;
    seek_.taken[r_] |= all ? way_bit(output.value) : 0;
  }
  if (state_.news != nullptr) state_.news->check_port(r_, output, now);
  times_.bring_forward(actor_of(output), std::max(now, outputs_[output].free_at));
  return output;
}

template <PlainKind kind>
inline void PlainSeek<kind>::wait_for(LocalOutput output, LocalInput bit) {
  const OutputIndex index = index_of(output);
  Bits::set(kind.words == 1 ? &outputs_[output].waiting : state_.waiting(index), bit);
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
  SeekTables& seek = state.seek;
  seek.full[index].until = 0;
  const bool one_word = router.ends() <= 64;
  if (one_word) seek.taken[r] &= ~(std::uint64_t{1} << leaving.output.value);
  // What heads found before they were tried is of no use to those that come later.
  if (!one_word) {
    state.reopen(worker, r, index, std::max(leaving.now, state.vc_free(index, leaving.vc)));
  } else if (load_mask<MaskOf<kind.words>>(&seek.wanting[std::size_t{index.value} * kind.words]) !=
             0) {
    state.reopen_wanted(worker, r, index, std::max(leaving.now, state.vc_free(index, leaving.vc)));
  }
}

}  // namespace weft::detail
