// SPDX-License-Identifier: Apache-2.0
// C globals in all their forms; test_statics_other.c has the other half.
#include "test_statics.h"

#include "test_program.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int initialised = 42;
int zero;
int tentative;  // A common symbol with -fcommon.
static int local_static = 7;
static double table[100] = {1.5, 2.5};
char big[2300 * 1024];  // Untouched pages cost nothing.
struct Node {
  int value;
  struct Node* next;
  int* outside;
};
static struct Node third = {3, NULL, &initialised};
static struct Node second = {2, &third, &other_counter};
struct Node first = {1, &second, &table_of_other[3]};
int* pointer = &initialised;
int* array_of_pointers[] = {&initialised, &zero, &local_static, &other_counter};
int* const constant_table[] = {&initialised, &other_counter, &table_of_other[2], &zero};
static const struct {
  const char* name;
  int* variable;
} named[] = {{"initialised", &initialised}, {"zero", &zero}, {"other", &other_counter}};
const void* const nested[] = {constant_table, named, &first};
double* end_of_table = table + 100;
static char* walk = &big[1024];
int placed __attribute__((section("placed_data"))) = 5;
int aligned_one __attribute__((aligned(4096))) = 9;
extern int alias_of_initialised __attribute__((alias("initialised")));
static const char* message = "constant";
FILE** stream = &stdout;  // A library's variable, not the program's.
int (*function)(const char*) = puts;
int (*own_function)(int) = other_add;
__thread int per_thread = 1;
static __thread int* address_per_thread = &initialised;
__thread char zero_per_thread[40];
static int set_by_thread = -1;

static int count_calls(void) {
  static int calls = 10;
  static int* own = &calls;
  ++*own;
  return calls;
}

static int sum_loop(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    table[i % 100] += 1.0;
    sum += *array_of_pointers[i & 3] + table_of_other[i & 7];
    if (i % 3 == 0) ++zero;
  }
  return sum;
}

static int* choose(int which) {
  int* chosen;
  switch (which) {
    case 0:
    case 5:
    case 6:
      chosen = &initialised;
      break;
    case 1:
      chosen = &zero;
      break;
    case 2:
      chosen = &other_counter;
      break;
    default:
      chosen = which > 10 ? &table_of_other[1] : &local_static;
  }
  return chosen;
}

static long through_assembly(long* variable) {
  long value;
#if defined(__aarch64__)
  __asm__ volatile("ldr %0, %1" : "=r"(value) : "m"(*variable));
#else
  __asm__ volatile("mov %1, %0" : "=r"(value) : "m"(*variable));
#endif
  return value;
}
static long assembly_global = 77;
static long assembly_direct(void) {
  long value;
#if defined(__aarch64__)
  __asm__ volatile("ldr %0, %1" : "=r"(value) : "m"(assembly_global));
#else
  __asm__ volatile("mov %1, %0" : "=r"(value) : "m"(assembly_global));
#endif
  return value;
}

static void check_initial(void) {
  CHECK(initialised == 42 && zero == 0 && tentative == 0 && local_static == 7);
  CHECK(table[0] == 1.5 && table[1] == 2.5 && table[2] == 0);
  CHECK(pointer == &initialised && *pointer == 42);
  CHECK(first.next == &second && first.next->next == &third && third.outside == &initialised);
  CHECK(second.outside == &other_counter && first.outside == table_of_other + 3);
  CHECK(array_of_pointers[1] == &zero && array_of_pointers[3] == &other_counter);
  CHECK(constant_table[0] == &initialised && constant_table[1] == &other_counter);
  CHECK(named[1].variable == &zero && named[2].variable == &other_counter);
  CHECK(strcmp(named[2].name, "other") == 0);
  CHECK(nested[0] == constant_table && nested[2] == &first && end_of_table == table + 100);
  CHECK(walk == big + 1024 && big[0] == 0 && big[sizeof big - 1] == 0);
  CHECK(placed == 5 && aligned_one == 9 && (unsigned long)&aligned_one % 4096 == 0);
  int* volatile alias = &alias_of_initialised;  // Compilers assume that two names are two objects.
  CHECK(alias == &initialised && strcmp(message, "constant") == 0);
  CHECK(stream == &stdout && function == puts && own_function == other_add);
  CHECK(other_counter == 100 && other_table()[0] == &other_counter);
  CHECK(other_pointer == &initialised && *other_pointer == 42);
  CHECK(&optional == NULL && maybe_there() == 0);
  CHECK(per_thread == 1 && address_per_thread == &initialised && zero_per_thread[39] == 0);
}

// A thread has its own per_thread and its rank's variables.
static void* add_in_thread(void* variable) {
  CHECK(per_thread == 1 && variable == &local_static);
  set_by_thread = initialised;
  return NULL;
}

static void change(int rank) {
  initialised = rank;
  zero = 2 * rank;
  tentative = -rank;
  local_static = 3 * rank;
  table[5] = rank;
  big[100000 + rank % 1000] = (char)(rank % 100 + 1);
  first.next->next->value = rank;
  pointer = &zero;
  array_of_pointers[0] = &tentative;
  other_counter = 5 * rank;
  table_of_other[2] = 7 * rank;
  placed = rank + 1;
  aligned_one = rank + 2;
  assembly_global = rank + 3;
  per_thread = rank + 4;
  zero_per_thread[39] = (char)(rank % 100);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, add_in_thread, &local_static) == 0);
  pthread_join(thread, NULL);
}

static void check_changed(int rank) {
  CHECK(initialised == rank && zero == 2 * rank && tentative == -rank && local_static == 3 * rank);
  CHECK(*other_pointer == rank);
  int* volatile alias = &alias_of_initialised;
  CHECK(*alias == rank);
  CHECK(table[5] == rank && big[100000 + rank % 1000] == (char)(rank % 100 + 1));
  CHECK(big[100000 + (rank + 1) % 1000] == 0);
  CHECK(third.value == rank && *third.outside == rank && *pointer == 2 * rank);
  CHECK(*array_of_pointers[0] == -rank && *constant_table[0] == rank);
  CHECK(*constant_table[1] == 5 * rank && *constant_table[2] == 7 * rank);
  CHECK(*named[1].variable == 2 * rank && other_get() == 5 * rank);
  CHECK(*other_table()[0] == 5 * rank && *other_table()[1] == rank);
  CHECK(placed == rank + 1 && aligned_one == rank + 2);
  CHECK(through_assembly(&assembly_global) == rank + 3 && assembly_direct() == rank + 3);
  CHECK(*choose(0) == rank && *choose(6) == rank && *choose(1) == 2 * rank);
  CHECK(*choose(2) == 5 * rank && *choose(3) == 3 * rank && choose(11) == &table_of_other[1]);
}

int main(int argc, char** argv) {
  const int rank = globals_test_rank();
  CHECK(argc >= 1 && argv[argc] == NULL && errno == 0);
  globals_test_yield();
  check_initial();
  CHECK(count_calls() == 11);
  globals_test_yield();
  change(rank);
  globals_test_yield();
  check_changed(rank);
  CHECK(count_calls() == 12 && own_function(3) == 5 * rank + 3);
  globals_test_yield();
  const int expected_zero = 2 * rank + 100;
  sum_loop(300);
  CHECK(zero == expected_zero && table[5] == rank + 3);
  for (int turn = 0; turn < 3; ++turn) {  // The address is kept across a switch.
    int before = local_static;
    globals_test_yield();
    CHECK(local_static == before);
    ++local_static;
  }
  CHECK(local_static == 3 * rank + 3 && per_thread == rank + 4);
  CHECK(set_by_thread == rank);
  CHECK(zero_per_thread[39] == (char)(rank % 100) && address_per_thread == &initialised);
  return 0;
}
