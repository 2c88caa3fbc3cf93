// SPDX-License-Identifier: Apache-2.0
// A shared library: its data does not belong to the program.
int library_counter = 5;
int library_count(void) {
  return ++library_counter;
}
