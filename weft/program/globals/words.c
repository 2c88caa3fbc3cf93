// SPDX-License-Identifier: Apache-2.0
#include <weft/program/globals/words.h>

__thread uintptr_t __weft_delta __attribute__((tls_model("initial-exec"), visibility("default")));
uintptr_t __weft_data_begin __attribute__((visibility("default")));
uintptr_t __weft_data_size __attribute__((visibility("default")));
