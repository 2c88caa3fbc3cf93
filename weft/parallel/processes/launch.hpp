// SPDX-License-Identifier: Apache-2.0
// Was this process started as one of several, and by whose mpirun? Reads only the environment, so
// that a lone process pays nothing and starts nothing.
#pragma once

namespace weft {

struct Launch {
  enum class By {
    nobody,    // Alone: no launcher, or one that started a single process.
    open_mpi,  // Open MPI's mpirun.
    mpich,     // MPICH's mpirun (hydra), or a launcher that speaks its protocol, such as Slurm's.
  };
  By by = By::nobody;
  int self = 0;
  int count = 1;
};
Launch launched();

}  // namespace weft
