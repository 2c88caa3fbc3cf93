// SPDX-License-Identifier: Apache-2.0
#include "test_program.h"

int library_count(void);
int main(void) {
  CHECK(library_count() > 5);
  return 0;
}
