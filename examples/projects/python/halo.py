# SPDX-License-Identifier: Apache-2.0
"""A halo exchange in a row of ranks, in Python with ctypes over the library of the standard ABI.
State of the interpreter is each rank's own. Usage: halo.py [LIBMPI_ABI [STEPS]]"""
import ctypes
import sys
import time

STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
CELLS = 3000
# Of the standard ABI.
WORLD, NO_STATUS, DOUBLE, SUM = (ctypes.c_void_p(value) for value in (0x101, 0, 0x214, 0x21))

# weft run and weft sim lead the loader to it.
mpi = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libmpi_abi.so.1")
mpi.MPI_Wtime.restype = ctypes.c_double
rank, ranks = ctypes.c_int(-1), ctypes.c_int(-1)
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
mpi.MPI_Comm_size(WORLD, ctypes.byref(ranks))
me, all_of_them = rank.value, ranks.value
left, right = (me - 1) % all_of_them, (me + 1) % all_of_them

field = (ctypes.c_double * (CELLS + 2))(*([float(me)] * (CELLS + 2)))
own, ghost = (ctypes.c_double * CELLS)(), (ctypes.c_double * CELLS)()
start, began = mpi.MPI_Wtime(), time.perf_counter()
for step in range(STEPS):
    for i in range(CELLS):
        own[i] = field[i + 1]
    mpi.MPI_Sendrecv(own, CELLS, DOUBLE, right, step, ghost, CELLS, DOUBLE, left, step, WORLD, NO_STATUS)
    for i in range(CELLS):
        field[i + 1] = (own[i] + ghost[i]) / 2
total, mine = ctypes.c_double(), ctypes.c_double(sum(field[1:CELLS + 1]))
mpi.MPI_Allreduce(ctypes.byref(mine), ctypes.byref(total), 1, DOUBLE, SUM, WORLD)
took, passed = mpi.MPI_Wtime() - start, time.perf_counter() - began
print(f"rank {me} of {all_of_them}: sum {total.value:.6f} in {took * 1e9:.3f} ns, virtual clock {abs(took - passed) < 1e-6}")
mpi.MPI_Finalize()
