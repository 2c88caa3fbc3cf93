// SPDX-License-Identifier: Apache-2.0
// For functions that replace others of the same name.
#pragma once

#include <dlfcn.h>

// Declares `original`: the next definition of a function of this name and type.
#define WEFT_ORIGINAL(name) \
  static const auto original = reinterpret_cast<decltype(&::name)>(::dlsym(RTLD_NEXT, #name))
