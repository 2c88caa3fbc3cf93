// SPDX-License-Identifier: Apache-2.0
// Every sub-command, one line each: net stands for the function net_command() in net.cpp.
#pragma once

#define WEFT_COMMANDS(command)                                                           \
  command(net) command(traffic) command(sim) command(run) command(map) command(probe)    \
      command(report) command(cc) command(cxx) command(fc) command(doctor) command(help) \
          command(completion)
