// SPDX-License-Identifier: Apache-2.0
// Joins the other processes of an MPI job.
#pragma once

#include <memory>
#include <string>

#include <weft/base/result.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/parallel/processes/peers.hpp>

namespace weft {

// Once per process. All processes of the job make this call, and all destroy what they got: the
// end waits for the others, and drops what nobody received. A process that cannot go on calls
// abort() instead. Started alone, a process is its only peer.
//
// `library_folder` is where weft's own libraries lie. Nothing of an MPI library is loaded before.
Result<std::unique_ptr<Peers>> join_job(const Launch& launch, const std::string& library_folder);

}  // namespace weft
