// SPDX-License-Identifier: Apache-2.0
#pragma once

extern int other_counter;
extern int table_of_other[8];
extern int initialised;
extern int* const other_pointer;
extern int optional __attribute__((weak));
int other_get(void);
int other_add(int amount);
int** other_table(void);
int maybe_there(void);
