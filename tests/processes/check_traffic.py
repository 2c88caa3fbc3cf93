#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft traffic` on several processes: the bytes that one process writes, and an orderly end in every case."""
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest

import launch
from launch import skip

WEFT, LAUNCHERS = launch.parse(__doc__)
GRAPH = """weft-graph 1
router hub
router left
router right
router loft
"""
GRAPH += "".join(f"node {name}{i} {name}\n" for name in ("left", "right", "loft") for i in range(3))
GRAPH += "".join(f"link {pair}\n" for pair in ("hub left", "hub right", "hub loft", "left right"))
SHORT = ["--warmup", "200", "--measure", "600"]
CASES = {
    "mesh": ["--profile", "textbook", "--net", "mesh:8x8", "--routing", "dor", "--packet", "8", "--load", "0.05,0.15,0.9", *SHORT],
    "torus": ["--net", "torus:4x4x4", "--routing", "min-adaptive", "--vcs", "3", "--packet", "1:0.5,16:0.5",
              "--pattern", "tornado", "--load", "0.1,0.3", *SHORT],
    "crossline": ["--net", "torus:5x4", "--packet", "8", "--vary", "routing=crossline;crossline:escape;rca-1d", "--load", "0.4", *SHORT],
    "instant": ["--net", "mesh:5x4", "--packet", "8", "--routing", "crossline", "--set", "news.mode=instant", "--load", "0.3", *SHORT],
    "fattree": ["--net", "fattree:k=4,levels=2", "--routing", "adaptive-up", "--packet", "4", "--load", "30%", *SHORT],
    "dragonfly": ["--net", "dragonfly:a=4,h=2,p=2", "--routing", "ugal-l", "--packet", "4", "--load", "0.2",
                  "--injection", "bursty:0.02,0.05", *SHORT],
    "graph": ["--net", "graph:house.graph", "--vary", "seed=1,2,3", "--packet", "8", "--load", "0.05,0.2", *SHORT],
    "search": ["--net", "mesh:4x4", "--packet", "8", "--saturation", "--search-tolerance", "10", *SHORT],
    "converge": ["--net", "mesh:3x3", "--packet", "2", "--load", "0.3", "--converge", "5"],
}
ENDLESS = ["--net", "mesh:4x4", "--packet", "8", "--load", "0.1", "--measure", "1000000000"]


class Traffic(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "house.graph").write_text(GRAPH, encoding="ascii")

    def results(self, before, options):
        """All that comes out; files of the run before are gone."""
        for name in ("out.csv", "out.json"):
            (self.folder / name).unlink(missing_ok=True)
        done = launch.run([*before, WEFT, "traffic", *options, "--csv", "out.csv", "--json", "out.json"], self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout, (self.folder / "out.csv").read_bytes(), launch.results_in(self.folder / "out.json")

    def same(self, name):
        options = CASES[name]
        alone = self.results([], options)
        self.assertIn(b"digest", alone[0])
        for workers in (2, 4):
            with self.subTest(workers=workers):
                self.assertEqual(self.results([], [*options, "--threads", workers]), alone)
        for launcher in LAUNCHERS:
            for processes in (2, 3, 4):
                with self.subTest(launcher=launcher.name, processes=processes):
                    self.assertEqual(self.results(launcher.words(processes), options), alone)

    def test_mesh(self):
        self.same("mesh")

    def test_torus(self):
        self.same("torus")

    def test_fattree(self):
        self.same("fattree")

    def test_dragonfly(self):
        self.same("dragonfly")

    def test_graph(self):
        self.same("graph")

    def test_search(self):
        self.same("search")

    def test_convergence(self):
        self.same("converge")

    def test_one_process_of_an_mpirun(self):
        alone = self.results([], CASES["mesh"])
        for launcher in LAUNCHERS:
            self.assertEqual(self.results(launcher.words(1), CASES["mesh"]), alone)

    def test_partitions(self):
        alone = self.results([], CASES["mesh"])
        lacks_metis = skip.without_parts(WEFT, "METIS")
        for partition in ("blocks", "ranges") if lacks_metis else ("blocks", "metis", "ranges"):
            with self.subTest(partition=partition):
                options = [*CASES["mesh"], "--partition", partition]
                self.assertEqual(self.results([], [*options, "--threads", "3"]), alone)
                self.assertEqual(self.results(LAUNCHERS[0].words(2), options), alone)
        if lacks_metis:
            self.skipTest(lacks_metis)

    def refused(self, launcher, options, code, text):
        done = launch.run([*launcher.words(3), WEFT, *options], self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr.count(b"weft: error: "), 1, done.stderr)
        self.assertIn(text, done.stderr)

    def test_mistakes_are_told_once(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                self.refused(launcher, ["traffic", "--lod", "0.1"], 2, b"did you mean '--load'?")
                self.refused(launcher, ["traffic", "--net", "mesh:4x4", "--load", "0.1", "--threads", "2"], 2, b"leave out")
                self.refused(launcher, ["traffic", "--net", "none.toml", "--load", "0.1"], 3, b"none.toml")
                self.refused(launcher, ["traffic", "--net", "mesh:4x4", "--load", "0.1", "--csv", "no/out.csv"], 2, b"no folder")

    def test_trouble_of_one_process_is_everybodys(self):
        # Each process reads the network; process 1 looks for it elsewhere.
        script = 'if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ]; then cd /; fi; exec "$@"'
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                words = [*launcher.words(3), "sh", "-c", script, "sh", WEFT, "traffic", *CASES["graph"]]
                done = launch.run(words, self.folder)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, b"")
                self.assertEqual(done.stderr.count(b"weft: error: "), 1, done.stderr)
                self.assertRegex(done.stderr, rb"weft: error: process 1: .*cannot read .house.graph")

    def test_help_is_told_once(self):
        alone = launch.run([WEFT, "traffic", "--help"], self.folder).stdout
        for launcher in LAUNCHERS:
            self.assertEqual(launch.run([*launcher.words(2), WEFT, "traffic", "--help"], self.folder).stdout, alone)

    def progress(self):
        try:
            return json.loads((self.folder / "progress.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"state": "not begun", "share": None}

    def begin(self, before):
        (self.folder / "progress.json").unlink(missing_ok=True)
        job = launch.start([*before, WEFT, "traffic", *ENDLESS, "--csv", "out.csv", "--progress-file", "progress.json"], self.folder)
        begun = launch.wait_until(lambda: (self.progress()["share"] or 0) > 0 or not job.running())
        self.assertTrue(begun and job.running(), "did not begin")
        return job

    def interrupted(self, launcher, number):
        (self.folder / "out.csv").unlink(missing_ok=True)
        with self.begin(launcher.words(2) if launcher else []) as job:
            job.signal(number)
            done = job.end(60)
        if launcher is None or launcher.name != "mpich":  # Its mpirun forgets exit codes when it passes a signal on.
            self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count(b"weft: error: interrupted; the results above"), 1, done.stderr)
        self.assertIn(b"digest", done.stdout)
        self.assertIn(",stopped,", (self.folder / "out.csv").read_text(encoding="utf-8"))
        self.assertEqual(self.progress()["state"], "interrupted")

    def test_interrupt_leaves_results_so_far(self):
        for launcher in (None, *LAUNCHERS):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(launcher=launcher and launcher.name, signal=number):
                    self.interrupted(launcher, number)

    def test_one_process_is_enough_to_interrupt(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name), self.begin(launcher.words(3)) as job:
                members = job.members(WEFT)
                self.assertEqual(len(members), 3)
                os.kill(members[-1], signal.SIGTERM)
                done = job.end(60)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count(b"weft: error: interrupted;"), 1, done.stderr)
                self.assertEqual(self.progress()["state"], "interrupted")

    def test_lost_process_ends_all(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name), self.begin(launcher.words(3)) as job:
                members = job.members(WEFT)
                os.kill(members[-1], signal.SIGKILL)
                self.assertNotEqual(job.end(60).returncode, 0)
                gone = launch.wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in members))
                self.assertTrue(gone, "processes are left over")

    def test_progress_file_says_how_it_ended(self):
        for before in ([], *(launcher.words(2) for launcher in LAUNCHERS)):
            with self.subTest(before=before):
                done = launch.run([*before, WEFT, "traffic", *CASES["mesh"], "--progress-file", "progress.json"], self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                told = self.progress()
                self.assertEqual((told["state"], told["share"], told["left_s"], told["points_done"]), ("done", 1, 0, 3))
                words = [*before, WEFT, "traffic", "--net", "mesh:4x4", "--packet", "1", "--load", "1.5",
                         "--progress-file", "progress.json"]
                self.assertEqual(launch.run(words, self.folder).returncode, 2)
                self.assertEqual(self.progress()["state"], "failed")


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1])
