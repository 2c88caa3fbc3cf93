/* SPDX-License-Identifier: Apache-2.0
 * A library that counts the calls of its process. */
int count_call(void);

int count_call(void) {
  static int calls;
  return ++calls;
}
