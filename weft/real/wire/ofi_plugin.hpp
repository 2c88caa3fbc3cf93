// SPDX-License-Identifier: Apache-2.0
// The border between weft and the plugin that is linked with libfabric. Only C crosses it, so that
// no program loads libfabric unless it has RDMA rails.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::wire {

extern "C" {

// A card as libfabric knows it. One per provider and domain.
struct OfiName {
  char provider[64];        // "tcp", "verbs"
  char domain[64];          // "eth0", "mlx5_0"
  char fabric[128];         // What it is connected to; a subnet where the provider thinks in these.
  std::uint64_t bit_per_s;  // 0: unknown.
};

// A domain with an endpoint.
struct OfiPort;

struct OfiMemory {
  void* handle;
  std::uint64_t key;   // For peers.
  std::uint64_t base;  // What peers call its first byte.
};

struct OfiWrite {
  std::uint64_t peer;  // As add_peer named it.
  const void* data;
  void* memory;  // Registration of the data, where the port asks for it.
  std::size_t size;
  std::uint64_t target;  // Base and offset.
  std::uint64_t key;
  void* context;  // Comes back in OfiDone.
};

struct OfiDone {
  void* context;
  int error;  // 0: the data is in the peer's memory, to be seen by its processor.
};

struct OfiPortFacts {
  bool registers_sources;  // The data of writes must be registered as well.
  int descriptor;          // Readable when poll should be called; -1: none.
};

struct OfiTrouble {
  char text[200];
};

struct OfiPlugin {
  // Domains that take remote writes and tell when they have arrived, of this provider (null: of
  // all) and of this name (null: any). How many there are; at most `most` are filled in.
  int (*list)(const char* provider, const char* domain, OfiName* out, int most);
  OfiPort* (*open)(const OfiName* name, bool flush, OfiTrouble* trouble);
  void (*close)(OfiPort* port);
  // A fresh endpoint for the old one. What was under way is not heard of any more, and the old one
  // touches no memory any more. All memory has to be let go of before.
  bool (*renew)(OfiPort* port, OfiTrouble* trouble);
  OfiPortFacts (*facts)(const OfiPort* port);
  // How peers reach the endpoint: its size, 0 if it is more than there is room for.
  std::size_t (*address)(OfiPort* port, void* out, std::size_t room);
  bool (*add_peer)(OfiPort* port, const void* address, std::size_t size, std::uint64_t* peer);
  // `wish` is taken as the key where it may be chosen.
  bool (*open_memory)(OfiPort* port, void* data, std::size_t size, std::uint64_t wish,
                      OfiMemory* out);
  void (*close_memory)(void* handle);
  void (*write)(OfiPort* port, const OfiWrite* write);
  // Moves things on; what has ended.
  int (*poll)(OfiPort* port, OfiDone* out, int most);
  // Nothing would be missed by waiting for the descriptor.
  bool (*may_sleep)(OfiPort* port);
};

// What a plugin exports; the name is the version.
constexpr const char* ofi_plugin_symbol = "weft_wire_ofi_v1";

}  // extern "C"

}  // namespace weft::wire
