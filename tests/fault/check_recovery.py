#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of `weft run` whose ranks are killed, and which go on. Usage: check_recovery.py WEFT [--rounds N] [TEST...]

With more rounds, each with other moments of death, all work is done with all options.
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT = str(pathlib.Path(sys.argv[1]).resolve())
ROUNDS = int(sys.argv[3]) if sys.argv[2:3] == ["--rounds"] else 0
WORK = ("ring", "large", "any", "barrier", "allreduce", "reduce-large", "alltoall", "started", "shrink", "agree", "split")
WAYS = {
    "shared memory": [],
    "TCP": ["--no-shared-memory"],
    "TCP, protected": ["--no-shared-memory", "--protect", "all"],
    "managed": ["--no-shared-memory", "--connections", "managed,shortcuts=1"],
}


class Recovery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-recovery-")
        cls.folder = pathlib.Path(cls.held.name)
        for name in ("recovery", "lost_quietly"):
            subprocess.run([WEFT, "cc", "-O1", "-Wall", "-Wextra", str(HERE / f"{name}.c"), "-o", str(cls.folder / name)], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def start(self, *words):
        return subprocess.run([WEFT, *words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=100)

    def outlives(self, way, ranks, work, victims):
        """victims: pairs of a rank and the microseconds that it works."""
        done = self.start("run", "--quiet", "--timeout", "60s", *WAYS[way], "-n", str(ranks), "./recovery", work,
                          *(f"{rank}:{after}" for rank, after in victims))
        dead = {rank for rank, _ in victims}
        expected = sorted(f"rank {rank}: {ranks - len(dead)} left, 0 wrong" for rank in range(ranks) if rank not in dead)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (137 if dead else 0, expected),
                         f"{way}, {ranks} ranks, {work} {victims}: {done.stdout}{done.stderr}")

    def draw(self, random_numbers, ranks):
        dead = random_numbers.sample(range(ranks), random_numbers.randint(1, ranks - 1))
        return [(rank, random_numbers.randint(1, 60000)) for rank in dead]

    def test_without_failures(self):
        self.outlives("shared memory", 4, "agree", [])
        for work in WORK:
            done = self.start("sim", "--quiet", "--payload", "full", "--net", "torus:2x2", "./recovery", work)
            self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, [f"rank {rank}: 4 left, 0 wrong" for rank in range(4)]),
                             f"{work}: {done.stderr}")

    def outlives_some(self, way):
        numbers = random.Random(way)
        for work in WORK:
            ranks = numbers.choice((2, 3, 4, 5, 8))
            self.outlives(way, ranks, work, self.draw(numbers, ranks))
        for seed in range(ROUNDS):
            numbers = random.Random(seed)
            for work in WORK:
                ranks = numbers.randint(2, 8)
                self.outlives(way, ranks, work, self.draw(numbers, ranks))

    def test_shared_memory(self):
        self.outlives_some("shared memory")

    def test_tcp(self):
        self.outlives_some("TCP")

    def test_protected(self):
        self.outlives_some("TCP, protected")

    def test_managed(self):
        self.outlives_some("managed")

    # Of all that could lead, one after the other is lost.
    def test_first_ranks_are_lost(self):
        for work in ("shrink", "agree"):
            self.outlives("shared memory", 6, work, [(rank, 3000 + 1500 * rank) for rank in range(5)])

    def test_handlers_decide_whether_a_job_goes_on(self):
        done = self.start("run", "--quiet", "--grace", "1s", "-n", "3", "./lost_quietly")
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (137, ["rank 0: told", "rank 2: told"]), done.stderr)
        begin = time.monotonic()
        done = self.start("run", "--quiet", "--grace", "1s", "-n", "3", "./lost_quietly", "fatal")
        self.assertEqual((done.returncode, done.stdout), (137, ""), done.stderr)
        self.assertLess(time.monotonic() - begin, 2.9)


if __name__ == "__main__":
    skip.run_unittests(["check_recovery", *(sys.argv[4:] if ROUNDS else sys.argv[2:])])
