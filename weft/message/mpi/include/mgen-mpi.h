/* SPDX-License-Identifier: Apache-2.0
 * For a program that was written for MPI: include this instead of mpi.h. MPI_ and MGEN_ names mean
 * the same. */
#include <mgen.h>
