// SPDX-License-Identifier: Apache-2.0
// The interface between weft, which is built without libpmix, and the plugin, which is built with
// it. Only plain C crosses it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::launch {

struct PmixListener {
  // Called from a thread of libpmix: `rank` has ended, or if `all` is set the launcher is gone.
  void (*notify)(void* owner, int all, std::uint32_t rank);
  void* owner;
};

struct PmixTaker {
  void (*take)(void* owner, const void* data, std::size_t size);
  void* owner;
};

// The plugin exports one of these as `weft_launch_pmix_v1`. Calls return 0, or an error code for
// text().
struct PmixPlugin {
  // `environment` is environ as the program sees it.
  int (*init)(char** environment, PmixListener listener);
  std::uint32_t (*self)();
  std::uint32_t (*ranks)();
  int (*put)(const char* key, const void* data, std::size_t size);
  int (*barrier)();
  int (*get)(std::uint32_t rank, const char* key, PmixTaker taker);
  void (*abort)(int code, const char* message);
  void (*finalize)();
  const char* (*text)(int error);
};

}  // namespace weft::launch
