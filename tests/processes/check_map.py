#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft map` on several processes: the map and report of one process, and an orderly end in every case."""
import pathlib
import sys
import tempfile
import unittest

import launch
from launch import skip

WEFT, LAUNCHERS = launch.parse(__doc__)
WORK = ["--evaluations", "2000", "--tries", "20000", "--trial-effort", "20"]


def bruck(ranks):
    steps = [1 << k for k in range(ranks.bit_length() - 1)]
    return "".join(f"{i} {(i + s) % ranks} {512 * s}\n" for i in range(ranks) for s in steps)


def tangle(ranks):
    """Partners and sizes without order."""
    return "".join(f"{i} {(i * 37 + k * k * 11 + 5) % ranks} {1000 + (i * 7919 + k * 104729) % 9000}\n"
                   for i in range(ranks) for k in range(4) if (i * 37 + k * k * 11 + 5) % ranks != i)


CASES = {
    "linear": (bruck(64), ["--net", "torus:4x4x4"]),
    "annealed": (tangle(60), ["--net", "torus:4x4x4", "--forbid", "3,9", "--fix", "0=5"]),
    "tree": (tangle(32), ["--net", "fattree:k=4,levels=3", "--ranks-per-node", "2", "--routing", "adaptive-up"]),
    "perfect": ("".join(f"{i * 5 % 64} {(i + 1) * 5 % 64} 100\n{(i + 1) * 5 % 64} {i * 5 % 64} 100\n" for i in range(64)),
                ["--net", "torus:8x8"]),
    "played": (tangle(16), ["--net", "torus:4x4", "--objective", "time"]),
}


class Map(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def results(self, before, options):
        for name in ("best.map", "report.json"):
            (self.folder / name).unlink(missing_ok=True)
        done = launch.run([*before, WEFT, "map", "--traffic", "traffic.txt", *options, "-o", "best.map", "--json", "report.json"],
                          self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout, (self.folder / "best.map").read_bytes(), launch.results_in(self.folder / "report.json")

    def same(self, name):
        text, options = CASES[name]
        (self.folder / "traffic.txt").write_text(text, encoding="ascii")
        options = [*options, *WORK]
        alone = self.results([], [*options, "--threads", "1"])
        for threads in ("2", "4"):
            with self.subTest(threads=threads):
                self.assertEqual(self.results([], [*options, "--threads", threads]), alone)
        for launcher in LAUNCHERS:
            for processes in (2, 3):
                with self.subTest(launcher=launcher.name, processes=processes):
                    self.assertEqual(self.results(launcher.words(processes), options), alone)

    def test_linear(self):
        self.same("linear")

    def test_annealed(self):
        self.same("annealed")

    def test_tree(self):
        self.same("tree")

    def test_perfect(self):
        self.same("perfect")

    def test_played(self):
        self.same("played")

    def test_bad_input_is_told_once(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                done = launch.run([*launcher.words(2), WEFT, "map", "--net", "torus:4x4", "--traffic", "nowhere.txt"], self.folder)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count(b"nowhere.txt"), 1, done.stderr)

    def test_time_ends_all(self):
        (self.folder / "traffic.txt").write_text(tangle(60), encoding="ascii")
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                out, best, _ = self.results(launcher.words(2), ["--net", "torus:4x4x4", "--time", "2s"])
                self.assertIn(b"work:", out)
                self.assertEqual(len(best.splitlines()), 62)


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1])
