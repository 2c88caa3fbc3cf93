// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <weft/base/loaded_library.hpp>

namespace weft {

namespace {

void* load(const char* file) {
  int how = RTLD_NOW | RTLD_LOCAL;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // They must see every call.
  how |= RTLD_DEEPBIND;
#endif
  return ::dlopen(file, how);
}

}  // namespace

LoadedLibrary::LoadedLibrary(const char* file)
    : library_(load(file)), complete_(library_ != nullptr) {}

void* LoadedLibrary::address(const char* name) {
  void* const found = library_ == nullptr ? nullptr : ::dlsym(library_, name);
  complete_ = complete_ && found != nullptr;
  return found;
}

}  // namespace weft
