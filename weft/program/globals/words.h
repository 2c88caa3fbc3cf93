// SPDX-License-Identifier: Apache-2.0
// The words through which compiled programs find a rank's data. The compiler pass knows them by
// name, so these three are part of the binary interface of executables and never change. Objects
// that the pass has made define them weakly, and then the program's are used by all: so it also
// starts with another MPI library.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Distance from a global's own address to the current rank's copy of it; zero outside the simulator
// and when each rank has its own segments.
extern __thread uintptr_t __weft_delta __attribute__((tls_model("initial-exec")));

// The program's writable segments, so that code can tell its own globals from those of libraries
// where the compiler could not; empty outside the simulator.
extern uintptr_t __weft_data_begin;
extern uintptr_t __weft_data_size;

#ifdef __cplusplus
}
#endif
