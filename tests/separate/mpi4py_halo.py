# SPDX-License-Identifier: Apache-2.0
"""A halo exchange on a grid of ranks with mpi4py, that of the how-to page. Usage: mpi4py_halo.py"""
import numpy
from mpi4py import MPI

CELLS, STEPS = 64, 10

grid = MPI.COMM_WORLD.Create_cart(MPI.Compute_dims(MPI.COMM_WORLD.size, 2), periods=[True, True])
field = numpy.full((CELLS + 2, CELLS + 2), float(grid.rank))
start = MPI.Wtime()
for step in range(STEPS):
    for axis in range(2):
        low, high = grid.Shift(axis, 1)
        turned = field if axis == 0 else field.T
        for to, source, send, receive in ((high, low, -2, 0), (low, high, 1, -1)):
            strip = numpy.ascontiguousarray(turned[send])
            ghost = numpy.empty_like(strip)
            grid.Sendrecv(strip, to, recvbuf=ghost, source=source)
            turned[receive] = ghost
    field[1:-1, 1:-1] = (field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]) / 4
total = grid.allreduce(field[1:-1, 1:-1].sum())
took = grid.reduce(MPI.Wtime() - start, op=MPI.MAX)
if grid.rank == 0:
    print(f"{grid.size} ranks, {STEPS} steps, sum {total:.3f}, {took * 1e6:.3f} us", flush=True)
