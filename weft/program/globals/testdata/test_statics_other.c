// SPDX-License-Identifier: Apache-2.0
#include "test_statics.h"
#include <stddef.h>

int other_counter = 100;
int table_of_other[8];
int* const other_pointer = &initialised;  // Constant, but rank-specific.
static int* pointers[] = {&other_counter, &initialised};
#ifdef WEFT_TEST_COMMON
int tentative;
#endif

int other_get(void) {
  return other_counter;
}
int other_add(int amount) {
  return other_counter + amount;
}
int** other_table(void) {
  return pointers;
}
int maybe_there(void) {
  return &optional != NULL;
}
