// SPDX-License-Identifier: Apache-2.0
// The part of weft run that runs on every other host.
#pragma once

namespace weft::app {

// Opens descriptors 0 to 2 if they are closed, so that no other file gets these numbers.
void open_standard_descriptors();

// Follows the launcher's commands on standard input and output; returns the exit code.
int serve_agent();

}  // namespace weft::app
