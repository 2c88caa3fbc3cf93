// SPDX-License-Identifier: Apache-2.0
// A library of others that is loaded when it is first needed: most commands start without it.
#pragma once

namespace weft {

// Its names are not visible to anybody else: simulated programs link weft too, and may bring
// another version of the same library. It stays loaded.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const char* file);
  // Whether the library is there, and so is every name that was looked for.
  bool is_complete() const { return complete_; }
  // A function or variable; nullptr if there is none.
  template <typename Symbol>
  void find(const char* name, Symbol*& out) {
    out = reinterpret_cast<Symbol*>(address(name));
  }

 private:
  void* address(const char* name);
  void* library_;
  bool complete_;
};

}  // namespace weft
