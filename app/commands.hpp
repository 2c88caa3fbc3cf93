// SPDX-License-Identifier: Apache-2.0
// The list of sub-commands: `net` stands for the function net_command(), defined in net.cpp.
#pragma once

#define WEFT_COMMANDS(command)                                                           \
  command(net) command(traffic) command(sim) command(run) command(map) command(probe)    \
      command(report) command(cc) command(cxx) command(fc) command(doctor) command(help) \
          command(completion)
