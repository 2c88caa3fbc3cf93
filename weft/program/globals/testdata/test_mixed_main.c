// SPDX-License-Identifier: Apache-2.0
// C compiled with the pass, linked with Fortran, for which there is no pass; both see the same
// variables.
#include "test_program.h"

extern struct {
  int counter;
  int values[3];
} mixed_;  // COMMON /mixed/
int calls = 0;
void fortran_part_(const int* rank);

int main(void) {
  const int rank = globals_test_rank();
  CHECK(mixed_.counter == 0);
  mixed_.counter = rank;
  globals_test_yield();
  fortran_part_(&rank);
  globals_test_yield();
  ++calls;
  CHECK(mixed_.counter == rank + 1 && mixed_.values[1] == 2 * rank && calls == 1);
  return 0;
}
