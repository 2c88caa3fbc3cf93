// SPDX-License-Identifier: Apache-2.0
// A program as one process of a real job (`weft run`, Slurm, mpirun): one rank, over real networks.
#pragma once

namespace weft {

// Call on the thread that will run the program's main. The process joins the job in MPI_Init.
void begin_job_process();

}  // namespace weft
