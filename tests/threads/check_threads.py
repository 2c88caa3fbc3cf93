#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads of simulated ranks: what they compute, how long it takes, and how they end.

Usage: check_threads.py WEFT [TEST...]
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT = pathlib.Path(sys.argv[1]).resolve()
SIM = ["sim", "--quiet", "--payload", "full", "--net", "torus:4"]


def obstacle():
    """Why ranks have no threads here, or nothing."""
    if "vgpreload" in os.environ.get("LD_PRELOAD", ""):
        return "valgrind hides system calls"
    with tempfile.TemporaryDirectory(prefix="weft-threads-") as folder:
        subprocess.run([WEFT, "cc", HERE / "cases.c", "-o", "cases", "-pthread"], cwd=folder, check=True)
        done = subprocess.run([WEFT, *SIM, "-n", "1", "./cases", "level"], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    return "" if done.returncode == 0 else "threads of ranks are not simulated on this machine, or in this build (sanitizers)"


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-threads-")
        cls.folder = pathlib.Path(cls.held.name)
        warnings = ["-O2", "-Wall", "-Wextra", "-Werror"]
        cls.compile("cc", [HERE / "cases.c", *warnings, "-pthread"], "cases")
        cls.compile("cc", [ROOT / "bench/threads/rate.c", *warnings, "-pthread"], "rate")
        cls.compile("c++", ["-std=c++17", HERE / "throws.cpp", *warnings, "-pthread"], "throws")

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    @classmethod
    def compile(cls, language, words, name, **environment):
        return subprocess.run([WEFT, language, *words, "-o", name], cwd=cls.folder, env={**os.environ, **environment}, check=False, capture_output=True,
                              text=True)

    def start(self, *words, **environment):
        return subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, **environment})

    def said(self, *words, **environment):
        done = self.start(WEFT, *SIM, *words, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{words}: {done.stdout}")
        return done.stdout

    def test_cases(self):
        """The programs check times and values themselves; most expect nothing to be said."""
        expected = {"compute": "longest of 1 to 4 ms: 4.000000 ms\n", "lock": "4 times 1 ms with a lock: 4.000000 ms\n",
                    "late": "rank 0: last at 5.0 ms\nrank 1: last at 5.0 ms\n"}
        for name in ("compute", "lock", "sync", "conditions", "others", "polls", "many", "late", "leave"):
            for way in ([], ["--separate", "copies"], ["--threads", "2"]):
                self.assertEqual(self.said("-n", 2, *way, "./cases", name), expected.get(name, ""), f"{name} {way}")

    def test_fewer_cores_take_turns(self):
        """1, 2, 3 and 4 ms in slices of 1 ms."""
        for cores, end in ((1, 10), (2, 6), (3, 5), (4, 4)):
            self.assertEqual(self.said("--cores-per-rank", cores, "./cases", "compute"), f"longest of 1 to 4 ms: {end}.000000 ms\n")

    def test_described_cores_are_shared_out(self):
        words = ("--set", "node.cores=4", "-n", 8)
        self.assertIn(" 10.000000 ms", self.said(*words, "./cases", "compute"))  # Four ranks a node.
        self.assertIn(" 6.000000 ms", self.said(*words, "--ranks-per-node", 2, "./cases", "compute"))
        self.assertIn(" 6.000000 ms", self.said(*words, "--cores-per-rank", 2, "./cases", "compute"))
        for more in (["--ranks-per-node", 2, "--cores-per-rank", 3], ["--cores-per-rank", 5]):
            done = self.start(WEFT, *SIM, *words, *more, "./cases", "compute")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"--cores-per-rank: .* the description gives 4 \(node.cores\)")
        for wrong in ("0", "-3"):
            self.assertIn("--cores-per-rank: ", self.start(WEFT, *SIM, f"--cores-per-rank={wrong}", "./cases").stderr)

    def test_exceptions_and_futures(self):
        for way in ([], ["--separate", "copies"]):
            self.assertEqual(sorted(self.said("-n", 2, *way, "./throws").splitlines()), [f"rank {rank}: 22 5 at 5.000000 ms" for rank in (0, 1)])
        done = self.start(WEFT, *SIM, "-n", 2, "./throws", "escape")
        self.assertEqual(done.returncode, 134)
        self.assertIn("weft: error: rank 0 crashed at 2000.000 us: Aborted", done.stderr)

    def test_bad_ends_are_told(self):
        receives = r"rank 1, thread 2 in MPI_Recv waits for a message from rank 0 with tag 6"
        locks = r"deadlock at 2 ms: 2 of 2 ranks wait forever\n  rank 0, thread 0 waits for a lock, a condition or a barrier of the program\n  rank 0, thread 1"
        for name, code, text in (("exit", 3, "^$"), ("locks", 1, locks), ("receives", 1, receives), ("crash", 139, "rank 0 crashed at 1000.000 us: Segm"),
                                 ("overflow", 139, "rank 0 overflowed its stack")):
            done = self.start(WEFT, *SIM, "-n", 2, "./cases", name)
            self.assertEqual(done.returncode, code, f"{name}: {done.stderr}")
            self.assertRegex(done.stderr, text, name)

    def test_a_thread_that_never_lets_go_is_told(self):
        with subprocess.Popen([WEFT, *SIM, "-n", "1", "./cases", "spin"], cwd=self.folder, stderr=subprocess.PIPE, text=True) as run:
            self.assertIn("rank 0, thread 1 has run for 10 s without a call that lets others go on", run.stderr.readline())
            run.send_signal(signal.SIGTERM)
            self.assertIn("interrupted inside a rank", run.communicate(timeout=60)[1])
            self.assertEqual(run.returncode, 130)

    def test_message_rate_in_both_worlds(self):
        told = r"latency_us [0-9.]+ rate_per_s [0-9]+\n"
        for threads in (1, 2, 4):
            first, again = (self.said("-n", 2, *way, "./rate", "multiple", threads, 8, 1) for way in ([], ["--threads", 2]))
            self.assertRegex(first, told)
            self.assertEqual(first, again)
            self.assertRegex(self.start(WEFT, "run", "--quiet", "--timeout", "60s", "-n", 2, "./rate", "multiple", threads, 8, 20).stdout, told)

    def test_every_kind_of_call_at_once(self):
        """The program that checks the lock of weft run, with 1 to 8 threads a rank."""
        self.compile("cc", [ROOT / "tests/worlds/many_threads.c", "-O2", "-pthread"], "many_threads")
        for way in ([], ["--connections", "managed,shortcuts=1"], ["--record", "record"], ["--ranks-per-node", 2], ["--set", "node.cores=1"]):
            for threads, ranks in ((1, 3), (2, 2), (4, 3), (8, 2)):
                subprocess.run(["rm", "-rf", "record"], cwd=self.folder, check=True)
                done = self.start(WEFT, *SIM, "-n", ranks, *way, "./many_threads", threads, 16, threads)
                self.assertEqual((done.returncode, done.stdout), (0, f"{threads} threads right\n"), f"{way}: {done.stdout}{done.stderr}")

    def test_without_the_trap_openmp_has_one_thread(self):
        """As under valgrind, which is known by a library that it loads."""
        if self.compile("cc", [HERE / "halo.c", "-O2", "-fopenmp"], "halo_alone", WEFT_CC="gcc").returncode != 0:
            self.skipTest("GCC has no OpenMP here")
        words = [word for word in SIM if word != "--quiet"]
        done = self.start(WEFT, *words, "./halo_alone", 1, LD_PRELOAD="vgpreload", OMP_NUM_THREADS="4")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "1 threads, 0 wrong, 8.000000 ms in regions"))
        self.assertIn("weft: warning: OpenMP gets one thread: valgrind hides system calls\n", done.stderr)

    def halo(self, name, *words, **environment):
        built = self.compile("cc", [HERE / "halo.c", "-O2", "-fopenmp"], name, **environment)
        if built.returncode != 0:
            self.skipTest(f"no OpenMP: {built.stderr.strip().splitlines()[-1]}")
        for threads in (1, 2, 4, 8):
            for cores in (1, 2, 4, 8):
                text = self.said("--cores-per-rank", cores, *words, f"./{name}", 3, OMP_NUM_THREADS=str(threads))
                self.assertEqual(text, f"{threads} threads, 0 wrong, {3 * 8 / min(threads, cores):.6f} ms in regions\n", f"{cores} cores")
        unset = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
        done = subprocess.run([WEFT, *SIM, "--cores-per-rank", "4", f"./{name}", "1"], cwd=self.folder, capture_output=True, text=True, check=True, env=unset)
        self.assertEqual(done.stdout, "4 threads, 0 wrong, 2.000000 ms in regions\n")

    def test_clangs_openmp(self):
        self.halo("halo_clang")

    def test_gccs_openmp(self):
        self.halo("halo_gcc", WEFT_CC="gcc")

    def test_many_ranks_with_threads(self):
        """200 ranks of 8 threads."""
        if self.compile("cc", [HERE / "halo.c", "-O2", "-fopenmp"], "halo_many", WEFT_CC="gcc").returncode != 0:
            self.skipTest("GCC has no OpenMP here")
        done = self.start(WEFT, "sim", "--quiet", "--payload", "full", "--net", "torus:10x20", "--cores-per-rank", 8, "./halo_many", 2)
        self.assertEqual((done.returncode, done.stdout), (0, "8 threads, 0 wrong, 2.000000 ms in regions\n"), done.stderr)

    def test_measured_time_is_the_longest_threads(self):
        if self.compile("cc", [HERE / "halo.c", "-O2", "-fopenmp"], "halo_measured", WEFT_CC="gcc").returncode != 0:
            self.skipTest("GCC has no OpenMP here")
        text = self.said("--compute", "measured", "--cores-per-rank", 4, "./halo_measured", 1)
        spent = float(re.fullmatch(r"4 threads, 0 wrong, ([0-9.]+) ms in regions\n", text)[1])
        self.assertGreaterEqual(spent, 2)
        self.assertLess(spent, 8)


if __name__ == "__main__":
    reason = obstacle()
    if reason:
        skip.leave(reason)
    skip.run_unittests(["check_threads", *sys.argv[2:]])
