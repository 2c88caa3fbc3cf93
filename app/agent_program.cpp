// SPDX-License-Identifier: Apache-2.0
// What weft run starts on every other host. A program of its own: weft has all of a page's and a
// file's libraries in it, and takes ten times as long to start.
#include "run_agent.hpp"

int main() {
  return weft::app::serve_agent();
}
