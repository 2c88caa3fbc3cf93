// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/plain_router.hpp"

#include <algorithm>

namespace weft::detail {

bool fits_plain(const State& state) {
  const Setup& setup = state.setup;
  const bool simple = !setup.buffered && state.rings.is_whole();
  const bool masks_fit = state.words == 1 || (state.words == 2 && simple);
  const bool choices_fit =
      setup.commits ? simple : setup.options_max == 1 && setup.policy.lines() == nullptr;
  return masks_fit && choices_fit && state.crossbar_lanes == 1 &&
         setup.machine.arbitration != Arbitration::age;
}

namespace {

void make_seek_tables(State& state) {
  state.seek.full = LazyArray<SeekTables::Full, OutputIndex>(state.output_count);
  state.seek.wanting = LazyArray<std::uint64_t>(std::size_t{state.output_count} * state.words);
  state.seek.taken.assign(state.placement.ids.size(), 0);
}

// What policies ask for at every packet is kept as packets come and go.
void keep_queues(State& state) {
  QueueTables& queues = state.queues;
  if (!queues.counts_waiting || !state.all_up) return;
  queues.kept = true;
  queues.ahead = LazyArray<std::int64_t, OutputIndex>(state.output_count);
  queues.fewer_at = LazyArray<std::int64_t, OutputIndex>(state.output_count);
  std::fill(queues.fewer_at.begin(), queues.fewer_at.end(), never_at);
  if (state.setup.asks_late || state.setup.policy.queue_rows() == nullptr) return;
  RowTables& rows = state.rows;
  rows.policy = state.setup.policy.queue_rows();
  rows.longest = static_cast<std::size_t>(rows.policy->longest());
  rows.keys = LazyArray<std::int64_t>(state.real_inputs * rows.longest);
  rows.of_head = LazyArray<RowTables::Row, InputIndex>(state.real_inputs);
}

}  // namespace

VisitFunction use_plain(State& state) {
  if (state.setup.commits) {
    make_seek_tables(state);
    keep_queues(state);
  } else {
    state.queues.counts_waiting = false;
  }
  const DimensionOrder* const dor = state.setup.policy.dimension_order();
  // Ports at the edge of a mesh have no cable, and no packet is sent there.
  if (state.special_visits && state.setup.graph.all_up() && dor != nullptr &&
      dor->places().bits() <= 32)
    state.dimension_order = dor;
  const std::int64_t byte_ps = state.wires[0].byte_ps;
  const auto same_rate = [&](const Wire& wire) { return wire.byte_ps == byte_ps; };
  if (std::all_of(state.wires.begin(), state.wires.end(), same_rate)) state.byte_ps = byte_ps;
  if (state.setup.commits) return find_commit_visit(state);
  if (state.words == 2) return find_two_word_visit(state);
  return state.rings.is_whole() ? find_plain_visit<true>(state) : find_plain_visit<false>(state);
}

}  // namespace weft::detail
