/* SPDX-License-Identifier: Apache-2.0
 * A program that knows nothing of MPI and loads a plug-in that does.
 * Usage: loader PLUG_IN local|global main|thread */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char** words;

static void* load(void* unused) {
  (void)unused;
  void* const library =
      dlopen(words[1], RTLD_NOW | (strcmp(words[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return "failed";
  }
  int (*use)(void) = NULL;
  *(void**)&use = dlsym(library, "use_mpi");
  return use == NULL || use() != 0 ? "failed" : NULL;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  words = arguments;
  void* end = NULL;
  pthread_t thread;
  if (strcmp(words[3], "thread") != 0) {
    end = load(NULL);
  } else if (pthread_create(&thread, NULL, load, NULL) != 0 || pthread_join(thread, &end) != 0) {
    return 1;
  }
  return end != NULL;
}
