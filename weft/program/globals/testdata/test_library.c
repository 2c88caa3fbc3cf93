// SPDX-License-Identifier: Apache-2.0
// For a shared library: its data is not the program's.
int library_counter = 5;
int library_count(void) {
  return ++library_counter;
}
