# SPDX-License-Identifier: Apache-2.0
"""What runs beside a simulated rank: threads and processes of its interpreter. Usage: beside.py LIBMPI_ABI"""
import ctypes
import multiprocessing
import os
import subprocess
import sys
import threading
import time

mpi = ctypes.CDLL(sys.argv[1])
WORLD = ctypes.c_void_p(0x101)
seen = []


def sleep_often():
    for _ in range(20):
        seen.append(time.monotonic())
        time.sleep(0.001)


mpi.MPI_Init(None, None)
thread = threading.Thread(target=sleep_often)
thread.start()
for _ in range(50):
    mpi.MPI_Barrier(WORLD)
thread.join()
echoed = subprocess.run(["echo", "echo"], capture_output=True, text=True, check=True).stdout.strip()
with multiprocessing.Pool(2) as pool:
    absolute = pool.map(abs, [-1, -2])
child = os.fork()
if child == 0:
    sys.exit(0)
print(f"{len(seen)} {seen == sorted(seen)} {echoed} {absolute} {os.waitpid(child, 0)[1]}", flush=True)
before = time.monotonic()
time.sleep(2)
print(f"slept {time.monotonic() - before:.3f}")
mpi.MPI_Finalize()
