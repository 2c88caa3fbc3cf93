// SPDX-License-Identifier: Apache-2.0
// Joins the other processes of an MPI job.
#pragma once

#include <memory>
#include <string>

#include <weft/base/result.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/parallel/processes/process_group.hpp>

namespace weft {

// Once per process, and collective: all processes of the job call it, and all destroy the result.
// The destructor waits for the other processes and drops messages that were never received. A
// process that cannot go on calls abort() instead. A process that was started alone gets a group of
// one.
// `library_folder` holds weft's own libraries. No MPI library is loaded before this call.
Result<std::unique_ptr<ProcessGroup>> join_job(const Launch& launch,
                                               const std::string& library_folder);

}  // namespace weft
