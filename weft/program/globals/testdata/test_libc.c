// SPDX-License-Identifier: Apache-2.0
// State that the C library keeps between calls. Arguments: -ab VALUE --name TEXT rest
#include "test_program.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static int at_exit_calls;
static void leave(void) {
  ++at_exit_calls;
  CHECK(at_exit_calls == 1);
  globals_test_note();
}

static void check_random(int rank) {
  char table[128], own_table[64];
  struct random_data data;
  int expected;
  memset(&data, 0, sizeof data);
  initstate_r(1, table, sizeof table, &data);
  for (int i = 0; i < 5; ++i) {  // Like a program that never calls srand.
    random_r(&data, &expected);
    CHECK(rand() == expected);
    globals_test_yield();
  }
  srand(rank + 1u);
  srandom_r(rank + 1u, &data);
  for (int i = 0; i < 5; ++i) {
    random_r(&data, &expected);
    globals_test_yield();
    CHECK(random() == expected);
  }
  char* old = initstate(5, own_table, sizeof own_table);
  const long one = random();
  setstate(old);
  random_r(&data, &expected);
  CHECK(random() == expected);
  setstate(own_table);
  globals_test_yield();
  CHECK(random() != one);
}

static void check_drand48(int rank) {
  struct drand48_data data;
  double expected;
  long expected_long;
  memset(&data, 0, sizeof data);
  drand48_r(&data, &expected);
  CHECK(drand48() == expected);
  srand48(rank);
  srand48_r(rank, &data);
  for (int i = 0; i < 3; ++i) {
    globals_test_yield();
    lrand48_r(&data, &expected_long);
    CHECK(lrand48() == expected_long);
    mrand48_r(&data, &expected_long);
    CHECK(mrand48() == expected_long);
  }
}

static void check_strtok(int rank) {
  char text[] = "a b c d e f g";
  char* word = strtok(text, " ");
  for (int i = 0; i < 7; ++i) {
    CHECK(word != NULL && word[0] == 'a' + i);
    if ((rank + i) % 2 == 0) globals_test_yield();
    word = strtok(NULL, " ");
  }
  CHECK(word == NULL);
}

static void check_options(int argc, char** argv) {
  static const struct option names[] = {{"name", required_argument, NULL, 'n'}, {0, 0, 0, 0}};
  char* own[16];  // getopt may reorder them.
  for (int i = 0; i <= argc; ++i) own[i] = argv[i];
  const char *value = "", *name = "";
  int a = 0, found;
  CHECK(optind == 1 && opterr == 1);
  while ((found = getopt_long(argc, own, "ab:", names, NULL)) != -1) {
    a += found == 'a';
    if (found == 'b') value = optarg;
    if (found == 'n') name = optarg;
    const char* argument = optarg;
    globals_test_yield();
    CHECK(optarg == argument);
  }
  CHECK(a == 1 && strcmp(value, "7") == 0 && strcmp(name, "x") == 0);
  CHECK(optind == argc - 1 && strcmp(own[optind], "rest") == 0);
  optind = 0;  // Start again, with other options.
  CHECK(getopt(argc, own, "+a:") == 'a' && strcmp(optarg, "b") == 0);
  CHECK(getopt(argc, own, "+a:") == -1 && strcmp(own[optind], "7") == 0);
  opterr = globals_test_rank();
  globals_test_yield();
  CHECK(opterr == globals_test_rank());
}

int main(int argc, char** argv) {
  const int rank = globals_test_rank();
  atexit(leave);
  check_options(argc, argv);
  check_random(rank);
  check_drand48(rank);
  check_strtok(rank);
  return 0;
}
