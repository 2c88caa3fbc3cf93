// SPDX-License-Identifier: Apache-2.0
// What test programs ask of the runtime that replaces the simulator.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

int globals_test_rank(void);    // The caller's rank; 0 outside ranks.
void globals_test_yield(void);  // Lets all other ranks of the worker run up to their next yield.
void globals_test_note(void);   // Counted; the sum over ranks is printed at the end.
// Counts a failure of the rank and prints the first few.
void globals_test_fail(const char* file, int line, const char* what);

#define CHECK(condition) ((condition) ? (void)0 : globals_test_fail(__FILE__, __LINE__, #condition))

#ifdef __cplusplus
}
#endif
