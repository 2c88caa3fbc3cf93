# SPDX-License-Identifier: Apache-2.0
"""A Python program that calls the MPI library by itself. Usage: program.py LIBMPI_ABI"""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
world = ctypes.c_void_p(0x101)  # MPI_COMM_WORLD of the standard ABI.
rank, ranks = ctypes.c_int(-1), ctypes.c_int(-1)
library.MPI_Init(None, None)
library.MPI_Comm_rank(world, ctypes.byref(rank))
library.MPI_Comm_size(world, ctypes.byref(ranks))
library.MPI_Barrier(world)
print(f"rank {rank.value} of {ranks.value}", flush=True)
library.MPI_Finalize()
