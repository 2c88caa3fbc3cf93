// SPDX-License-Identifier: Apache-2.0
// The smallest possible rank, for large numbers of them.
#include "test_program.h"

static int mine = 5;
int untouched[50000];  // Costs address space only.

int main(void) {
  const int rank = globals_test_rank();
  mine += rank;
  globals_test_yield();
  mine += rank;
  globals_test_yield();
  CHECK(mine == 5 + 2 * rank);
  return rank == 0 ? untouched[49999] : 0;
}
