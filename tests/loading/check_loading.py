#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that load the MPI library while they run: plug-ins, and Python.

Usage: check_loading.py WEFT LIBMPI_ABI INCLUDE CC [TEST...]
"""
import itertools
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, LIBRARY, INCLUDE, CC = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
WAYS = list(itertools.product(("local", "global"), ("main", "thread")))


class Loading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-loading-")
        cls.folder = pathlib.Path(cls.held.name)
        flags = ["-Wall", "-Wextra", "-Werror"]
        # The compiler itself: weft cc would link the program with the library.
        subprocess.run([CC, *flags, HERE / "loader.c", "-o", cls.folder / "loader", "-ldl", "-pthread"], check=True)
        subprocess.run([CC, *flags, "-shared", "-fPIC", f"-I{INCLUDE}", HERE / "plug_in.c", "-o", cls.folder / "plug_in.so", LIBRARY,
                        f"-Wl,-rpath,{LIBRARY.parent}"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def run_it(self, *words):
        return subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)

    def lines(self, *words):
        done = self.run_it(*words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return sorted(done.stdout.splitlines())

    def test_plug_in_alone(self):
        for way in WAYS:
            self.assertEqual(self.lines("./loader", "./plug_in.so", *way), ["initialized 0, rank 0 of 1, from 0, sum 0"], way)

    def test_plug_in_of_a_job(self):
        expected = [f"initialized 0, rank {rank} of 3, from {(rank + 2) % 3}, sum 3" for rank in range(3)]
        for way in WAYS:
            self.assertEqual(self.lines(WEFT, "run", "--quiet", "-n", 3, "./loader", "./plug_in.so", *way), expected, way)

    def test_python(self):
        program = (sys.executable, HERE / "program.py", LIBRARY)
        self.assertEqual(self.lines(*program), ["rank 0 of 1"])
        self.assertEqual(self.lines(WEFT, "run", "--quiet", "-n", 3, *program), [f"rank {rank} of 3" for rank in range(3)])

    def test_simulation_says_what_to_do(self):
        done = self.run_it(WEFT, "sim", "--quiet", "--net", "torus:4", "-n", 2, "./loader", "./plug_in.so", "local", "main")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("weft cc", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    skip.run_unittests(["check_loading", *sys.argv[5:]])
