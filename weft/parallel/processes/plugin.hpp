// SPDX-License-Identifier: Apache-2.0
// What a plugin, which is built with an MPI library, does for weft, which is not. Only plain C
// crosses this border.
#pragma once

#include <cstddef>

namespace weft {

// The data must stay until done(owner) is called, from inside send or any later call.
struct PeersParcel {
  const void* data;
  std::size_t size;
  void (*done)(void* owner);
  void* owner;
};

// A plugin exports one of these as `weft_peers_v1`.
struct PeersPlugin {
  // `environment`: environ as the program sees it.
  void (*init)(char** environment);
  int (*self)();
  int (*count)();
  void (*send)(int to, int stream, PeersParcel parcel);
  // Waits for the next one; its size.
  std::size_t (*await)(int from, int stream);
  // Puts the one that was waited for.
  void (*take)(void* data);
  void (*abort)(int code);
  // All make this call. What nobody has received is dropped.
  void (*finalize)();
};

}  // namespace weft
