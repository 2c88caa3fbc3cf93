// SPDX-License-Identifier: Apache-2.0
// The words that code compiled by weft cc finds its rank's variables with.
#include <weft/program/globals/words.h>

__thread uintptr_t __weft_delta __attribute__((tls_model("initial-exec"), visibility("default")));
uintptr_t __weft_data_begin __attribute__((visibility("default")));
uintptr_t __weft_data_size __attribute__((visibility("default")));
