// SPDX-License-Identifier: Apache-2.0
// The part of weft run that is on every other host.
#pragma once

namespace weft::app {

// Descriptors 0 to 2 are there, so that no other gets their numbers.
void open_standard_descriptors();

// Does what the launcher says over standard input and output; returns the exit code.
int serve_agent();

}  // namespace weft::app
