// SPDX-License-Identifier: Apache-2.0
// Threads that work off a list of jobs, while the calling thread looks after them.
#pragma once

#include <cstddef>
#include <functional>

namespace weft::map {

// Calls job(i) for all i below count, each once, on at most `threads` threads; `look` every so
// often from the calling thread until all are done, and once at least.
void work_off(std::size_t count, int threads, const std::function<void(std::size_t)>& job,
              const std::function<void()>& look);

}  // namespace weft::map
