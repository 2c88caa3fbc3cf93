// SPDX-License-Identifier: Apache-2.0
// weft-agent, which weft run starts on every other host. It is a program of its own because weft
// loads all libraries for pages and files, and takes ten times as long to start.
#include "run_agent.hpp"

int main() {
  return weft::app::serve_agent();
}
