// SPDX-License-Identifier: Apache-2.0
// Little data, some of it aligned: copies may be packed.
#include "test_program.h"
#include <stdint.h>
#include <string.h>

#ifndef ALIGNMENT
#define ALIGNMENT 256
#endif
#ifndef MORE
#define MORE 300
#endif

static char text[] = "initial";
static int zeros[20];
_Alignas(ALIGNMENT) static int aligned = 7;
static char more[MORE];
static int* const address = &zeros[3];  // Constant, but with another address in each rank.
static char* moving = text;
#ifndef ONE_THREAD
static _Thread_local int own = 42;  // Its initial value stands in the program's data.
static _Thread_local char own_text[] = "a thread's";
#else
static int own = 42;
static char own_text[] = "a thread's";
#endif
extern char _end[];  // Just behind the data, where the linker puts it.
static char* behind = _end;

int main(void) {
  const int rank = globals_test_rank();
  CHECK(strcmp(text, "initial") == 0 && moving == text && address == &zeros[3]);
  CHECK((uintptr_t)&aligned % ALIGNMENT == 0 && aligned == 7);
  for (int i = 0; i < 20; ++i) CHECK(zeros[i] == 0);
  for (int i = 0; i < MORE; ++i) CHECK(more[i] == 0);
  CHECK(own == 42 && strcmp(own_text, "a thread's") == 0);
  CHECK(behind == _end && behind > text && behind - text <= MORE + 3 * ALIGNMENT + 4096);
  own += rank;
  own_text[0] = (char)('a' + rank % 26);
  *address = rank;
  aligned = rank + 1;
  memset(more, rank, MORE);
  memset(text, 'a' + rank % 26, sizeof text - 1);
  globals_test_yield();
  CHECK(own == 42 + rank && own_text[0] == 'a' + rank % 26);
  CHECK(zeros[3] == rank && aligned == rank + 1 && moving[6] == 'a' + rank % 26);
  for (int i = 0; i < MORE; ++i) CHECK(more[i] == (char)rank);
  return 0;
}
