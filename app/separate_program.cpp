// SPDX-License-Identifier: Apache-2.0
// weft-separate, in which the simulator runs where every rank is a process of its own. The library
// that it is linked with takes it over before its main.
#include <cstdio>

int main() {
  std::fputs("weft-separate is started by weft sim --separate processes\n", stderr);
  return 2;
}
