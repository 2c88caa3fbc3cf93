// SPDX-License-Identifier: Apache-2.0
// Runs a list of jobs on threads, while the calling thread reports the progress.
#pragma once

#include <cstddef>
#include <functional>

namespace weft::map {

// Calls job(i) once for each i below count, on at most `threads` threads. The calling thread calls
// `look` every 50 ms until all jobs are done, and at least once. If any of them throws, no further
// job begins, and the first exception is thrown once the jobs that run have ended.
void run_jobs(std::size_t count, int threads, const std::function<void(std::size_t)>& job,
              const std::function<void()>& look);

}  // namespace weft::map
