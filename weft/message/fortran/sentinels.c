/* SPDX-License-Identifier: Apache-2.0 */
/* For programs whose own parts lack these COMMON blocks; otherwise the linker merges them. */
#include "fortran.h"

#define COMMON __attribute__((common))
COMMON int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_;
COMMON int mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
COMMON int mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
COMMON int mpi_fortran_unweighted_[1], mpi_fortran_weights_empty_[1];
COMMON int mpi_fortran_errcodes_ignore_[1];
COMMON char mpi_fortran_argv_null_[1], mpi_fortran_argvs_null_[1];
