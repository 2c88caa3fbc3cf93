// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/flow.hpp"

namespace weft::detail {

void queue_for_cable(State& state, InputIndex input, RouterIndex r) {
  const Router& router = state.routers[r];
  Input& in = state.inputs[input];
  const std::uint32_t vcs = state.setup.vcs;
  const std::uint32_t local = (input - router.first_input).value - router.ends() * vcs;
  const LocalOutput output(router.ends() + local / vcs);
  const LocalInput bit(local % vcs);  // Its VC.
  in.ready_at = std::max(in.ready_at, state.slot(in, in.head).head_at);
  in.vcs = VcMask{1} << bit.value;
  const OutputIndex index = router.first_output + output;
  set_bit(state.waiting(index), bit);
  state.bring_forward(r, actor_of(output), std::max(in.ready_at, state.outputs[index].free_at));
}

}  // namespace weft::detail
