// SPDX-License-Identifier: Apache-2.0
// The interface between weft, which is built without MPI, and a plugin, which is built with an MPI
// library. Only plain C crosses it.
#pragma once

#include <cstddef>

namespace weft {

// The data must stay valid until done(owner) is called, from inside send or any later call.
struct PluginMessage {
  const void* data;
  std::size_t size;
  void (*done)(void* owner);
  void* owner;
};

// A plugin exports one of these as `weft_processes_v1`.
struct ProcessesPlugin {
  // `environment` is environ as the program sees it.
  void (*init)(char** environment);
  int (*self)();
  int (*count)();
  void (*send)(int to, int stream, PluginMessage parcel);
  // Waits for the next message and returns its size.
  std::size_t (*await)(int from, int stream);
  // Copies the message that await() returned.
  void (*take)(void* data);
  void (*abort)(int code);
  // Collective. Messages that were never received are dropped.
  void (*finalize)();
};

}  // namespace weft
