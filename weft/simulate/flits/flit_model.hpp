// SPDX-License-Identifier: Apache-2.0
// What the flit model takes from a description beyond the hardware: the table [flit_router].
#pragma once  // Public, for simulations: stays within 0.1; added fields have defaults.

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>

namespace weft {

// Who gets which output in a cycle.
enum class Allocation {
  islip,             // Outputs grant, inputs accept, several times over; round robin.
  separable_input,   // Each input asks for one output, then each output takes one input.
  separable_output,  // Each output offers itself to one input, then each input takes one output.
};

enum class Arbiter {
  round_robin,
  matrix,  // The pair whose last match is longest ago goes first.
};

enum class FlowControl {
  cut_through,  // A packet gets a VC that has room for all of it.
  wormhole,     // A packet gets any free VC and may stop half-way.
};

// Where the routing leaves a choice, which VCs does a head ask for?
enum class VcRequests {
  best,  // The free ones of the first choice that has any.
  all,   // All free ones of all choices, in no order, as BookSim does.
};

struct FlitModel {
  Allocation allocator = Allocation::islip;
  int iterations = 1;  // Of islip.
  Arbiter arbiter = Arbiter::round_robin;
  // A head asks for the switch while it asks for a VC, behind all that have one; if it gets both,
  // it saves the stage.
  bool speculation = false;
  bool hold_switch = false;  // A packet keeps its way through the switch while it has flits.
  FlowControl flow_control = FlowControl::cut_through;
  VcRequests requests = VcRequests::best;
};

// The table [flit_router]; the error names the line of the key.
Status read_flit_model(const Config& config, FlitModel& model);

}  // namespace weft
