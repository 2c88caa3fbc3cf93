// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/flit_view.hpp"

#include <weft/simulate/flits/news.hpp>

namespace weft::flits {

Bytes FlitView::free(int port, int vc) const {
  const OutputVc& out =
      state_.outputs[end(port) * state_.setup.vcs + static_cast<std::uint32_t>(vc)];
  return state_.setup.machine.flit * out.credits;
}

// Flits behind the output and on their way there, and those here that are to take it; with a
// buffer at the output, those in it and those behind the link.
Bytes FlitView::queued(int port) const {
  const Setup& setup = state_.setup;
  const OutputVc* const outs = &state_.outputs[end(port) * setup.vcs];
  std::int64_t flits = 0;
  for (std::uint32_t vc = 0; vc < setup.vcs; ++vc) {
    flits += setup.switched_flits() - outs[vc].credits;
    if (setup.is_buffered())
      flits += setup.buffer_flits - state_.buffers.queues[end(port) * setup.vcs + vc].credits;
    if (outs[vc].owner != none) flits += state_.inputs[outs[vc].owner].flits;
  }
  return setup.machine.flit * flits;
}

Bytes FlitView::flowing(int port) const {
  return state_.setup.flowing[cable(port).link_class];
}

LineNews FlitView::line(int port, int line) const {
  return state_.news->line_now(router_, port, line);
}

}  // namespace weft::flits
