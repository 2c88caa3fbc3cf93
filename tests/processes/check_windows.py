#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shared windows (windows.c) in both worlds: real processes, simulated ranks on threads and processes, a program alone.

Usage: check_windows.py WEFT PROBE LIBRARY_FOLDER [NAME=MPIRUN...] [CLASS...]
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import launch
from check_run_support import Job, LAUNCHERS, TESTS, WEFT, main, run, wait_until

HERE = pathlib.Path(__file__).resolve().parent
MACHINE = ["--net", "torus:3x2", "--ranks-per-node", "4", "--payload", "full"]


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if "weft" in name}


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.program = pathlib.Path(cls.scratch.name, "windows")
        subprocess.run([WEFT, "cc", "-O1", HERE / "windows.c", "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def check(self, words, said):
        done = run([*words])
        self.assertEqual((done.returncode, done.stdout), (0, said + "\n"), done.stderr)
        return done


class Real(Windows):
    def test_all_cases(self):
        for ranks in (1, 2, 3, 5):
            for words in ([], ["--no-shared-memory", "--rails", "lo"], ["--no-single-copy"]):
                with self.subTest(ranks=ranks, words=words):
                    self.check([WEFT, "run", "-n", str(ranks), *words, self.program], f"ok {ranks}")

    def test_alone(self):
        self.check([self.program], "ok 1")

    def test_memory_that_is_not_there_is_an_error(self):
        self.check([WEFT, "run", "-n", "2", self.program, "huge"], "MPI_ERR_NO_MEM")
        self.check([self.program, "huge"], "MPI_ERR_NO_MEM")
        # A limit of the process, where the host has enough.
        self.check([WEFT, "run", "-n", "2", "sh", "-c", f"ulimit -v 2000000; exec {self.program} huge 3000000000"], "MPI_ERR_NO_MEM")
        self.check([WEFT, "run", "-n", "2", "sh", "-c", f"ulimit -f 2000; exec {self.program} huge 30000000"], "MPI_ERR_NO_MEM")

    def test_nothing_is_left_behind(self):
        before = shared_memory()
        for end in ("ranks", "launcher"):
            with self.subTest(end=end), Job([WEFT, "run", "-n", "3", self.program, "hold"]) as job:
                job.read_until("held")
                ranks = job.left(self.program)
                self.assertEqual(len(ranks), 3)
                for pid in ranks:  # Mapped, but under no name, and no file is open any more.
                    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
                    self.assertIn("/memfd:weft-window (deleted)", maps)
                    files = [os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
                    self.assertFalse([file for file in files if "weft-window" in file])
                for pid in ranks if end == "ranks" else [job.process.pid]:
                    with contextlib.suppress(ProcessLookupError):  # The end of the first may have ended the next.
                        os.kill(pid, signal.SIGKILL)
                job.end()
                self.assertTrue(wait_until(lambda: not job.left()))  # pylint: disable=cell-var-from-loop
        self.assertEqual(shared_memory() - before, set())

    def test_fortran(self):
        if shutil.which("gfortran") is None:
            self.skipTest("no gfortran (Debian: gfortran)")
        sources = TESTS.parent / "weft" / "message" / "fortran" / "testdata"
        program = pathlib.Path(self.scratch.name, "fortran")
        subprocess.run([WEFT, "fc", sources / "checks.f90", sources / "windows.f90", "-o", program], cwd=self.scratch.name, check=True)
        done = run([WEFT, "run", "-n", "3", program])
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["ok", "windows"]), done.stderr)


class Simulated(Windows):
    def test_all_cases(self):
        for threads in ("1", "2"):
            with self.subTest(threads=threads):
                self.check([WEFT, "sim", "-q", *MACHINE, "--threads", threads, self.program, "all", "5"], "ok 24")

    def test_time_does_not_depend_on_threads(self):
        times = []
        for threads in "12":
            done = run([WEFT, "sim", *MACHINE, "--threads", threads, self.program, "all", "3"])
            times.append([line for line in (done.stdout + done.stderr).splitlines() if line.startswith("program time")])
        self.assertEqual(len(times[0]), 1)
        self.assertEqual(times[0], times[1])

    def test_ranks_of_several_nodes_share_nothing(self):
        self.check([WEFT, "sim", "-q", *MACHINE, self.program, "across"], "MPI_ERR_RMA_SHARED")
        done = run([WEFT, "sim", "-q", *MACHINE, self.program, "huge"])
        self.assertEqual(done.stdout, "MPI_ERR_NO_MEM\n", done.stderr)

    def test_several_processes(self):
        if not LAUNCHERS:
            self.skipTest("no mpirun was found when weft was configured (Debian: openmpi-bin or mpich)")
        for name, mpirun in LAUNCHERS.items():
            with self.subTest(launcher=name):
                words = [mpirun, "-np", "2", WEFT, "sim", "-q", *MACHINE, self.program, "all", "5"]
                done = launch.run(words, self.scratch.name)
                self.assertEqual((done.returncode, done.stdout), (0, b"ok 24\n"), done.stderr)


if __name__ == "__main__":
    main("check_windows")
