#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft sim` on several processes: how it ends when something goes wrong. That results are the same asks tests/repeat."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import launch
from launch import skip

WEFT, LAUNCHERS = launch.parse(__doc__)
HERE = pathlib.Path(__file__).resolve().parent
NET = ["--net", "torus:4x4x2"]


class Sim(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.scratch.name)
        for source in (HERE / "troubled.c", HERE.parent / "fault" / "endless.c"):
            subprocess.run([WEFT, "cc", "-O1", str(source), "-o", str(cls.place / source.stem)], check=True)
        cls.troubled, cls.endless = cls.place / "troubled", cls.place / "endless"

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def lines_of_weft(self, done):
        return [line for line in done.stderr.splitlines() if line.startswith((b"weft: ", b"  rank "))]

    def test_mistakes_are_told_once(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                for words, code, text in (
                        (["--nett", "torus:4x4", self.troubled], 2, b"--nett"),
                        (["--net", "torus:4", "--threads", "2", self.troubled], 2, b"each process has one thread"),
                        (["--net", "torus:4x4", "--partition", "block", self.troubled], 2, b"did you mean 'blocks'?"),
                        ([*NET, "no_program"], 3, b"no such program"),
                        ([*NET, "--progress-file", "no/folder", self.troubled], 1, b"no/folder")):
                    done = launch.run([*launcher.words(3), WEFT, "sim", *words], self.place)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertEqual(done.stderr.count(b"weft: error: "), 1, done.stderr)
                    self.assertIn(text, done.stderr)

    def test_deadlocks_are_described_as_by_one(self):
        alone = launch.run([WEFT, "sim", *NET, self.troubled, "circle"], self.place)
        self.assertIn(b"in a cycle", alone.stderr)
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                done = launch.run([*launcher.words(3), WEFT, "sim", *NET, self.troubled, "circle"], self.place)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(self.lines_of_weft(done), self.lines_of_weft(alone))

    def test_exit_code_is_that_of_the_lowest_rank(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                done = launch.run([*launcher.words(2), WEFT, "sim", "-q", *NET, self.troubled, "exit"], self.place)
                self.assertEqual(done.returncode, 2, done.stderr)

    def test_ranks_speak_in_the_order_of_their_clocks(self):
        alone = launch.run([WEFT, "sim", "-q", "--label", *NET, self.troubled, "speak"], self.place)
        self.assertEqual(alone.stdout.count(b"\n"), 64)
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                done = launch.run([*launcher.words(4), WEFT, "sim", "-q", "--label", *NET, self.troubled, "speak"], self.place)
                self.assertEqual((done.stdout, done.stderr, done.returncode), (alone.stdout, alone.stderr, 0))

    def test_crash_of_a_rank_names_it(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                done = launch.run([*launcher.words(3), WEFT, "sim", *NET, self.troubled, "crash"], self.place)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count(b"rank 31"), 1, done.stderr)

    def begin(self, before):
        self.out = self.place / self.id().rsplit(".", 1)[-1]
        progress = self.place / "progress.json"
        progress.unlink(missing_ok=True)
        job = launch.start([*before, WEFT, "sim", *NET, "--output", self.out, "--progress-file", progress, self.endless], self.place)

        def state():
            return json.loads(progress.read_text(encoding="utf-8")) if progress.exists() else {}
        begun = launch.wait_until(lambda: state().get("simulated_ps", 0) > 0 or not job.running())
        self.assertTrue(begun and job.running(), "did not begin")
        return job, state

    def test_interrupt_leaves_results_so_far(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                for number in (signal.SIGINT, signal.SIGTERM):
                    job, state = self.begin(launcher.words(2))
                    with job:
                        job.signal(number)
                        done = job.end(60)
                    self.assertEqual(done.stderr.count(b"weft: interrupted, results cover"), 1, done.stderr)
                    self.assertEqual(json.loads((self.out / "summary.json").read_text())["ending"], "interrupted")
                    self.assertEqual(state()["state"], "interrupted")

    def test_lost_process_ends_all_with_a_line(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher.name):
                job, _ = self.begin(launcher.words(3))
                with job:
                    programs, parents = job.members(self.endless), job.members(WEFT)
                    self.assertEqual(len(programs), 3)
                    os.kill(programs[-1], signal.SIGKILL)
                    done = job.end(60)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count(b"weft: error: process "), 1, done.stderr)
                self.assertIn(b"was killed after it had used", done.stderr)
                gone = launch.wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in programs + parents))
                self.assertTrue(gone, "processes are left over")


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1])
