#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rails that break and return, and ranks that die, between two hosts of the test bed.

Usage: check_rails.py WEFT [--seconds N] [--rounds N] [--seed N] [--set KEY=VALUE] [--protect on|off|all] [transfer] [killed] [cut]
"""
import argparse
import os
import pathlib
import random
import re
import signal
import sys
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "bed")]
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

LAB = "link a b rate 200mbit\n" * 2
BREAKS = ("cut", "unplug", "ifdown")
DONE = re.compile(r"rank (\d) sent (\d+) messages (\d+) bytes, got (\d+) messages (\d+) bytes, longest pause ([\d.]+) s, wrong (\d+)")
OPTIONS = None


class Trouble(threading.Thread):
    """Breaks and heals rails at random moments, until stopped. Both are down at once for a second and a half at most."""

    def __init__(self, lab, luck):
        super().__init__(daemon=True)
        self.lab, self.luck, self.over, self.made, self.error = lab, luck, threading.Event(), [], None
        self.start_time = time.monotonic()

    def run(self):
        try:
            while not self.over.wait(self.luck.uniform(0, 1.2)):
                rails = self.luck.sample((0, 1), 2 if self.luck.random() < 0.2 else 1)
                broken = [f"{self.luck.choice('ab')}:eth{rail}" for rail in rails]
                for link in broken:
                    self.do(self.luck.choice(BREAKS), link)
                self.over.wait(self.luck.uniform(0, 1.5 if len(broken) > 1 else 3))
                for link in broken:
                    self.do("heal", link)
        except Exception as error:  # Tell the test; a thread has nobody else.
            self.error = error

    def do(self, what, link):
        self.made.append(f"{time.monotonic() - self.start_time:.2f} {what} {link}")
        self.lab.netlab(what, link)

    def stop(self):
        self.over.set()
        self.join()


class Rails(unittest.TestCase):
    def setUp(self):
        if bed.missing():
            self.skipTest(bed.missing())
        seed = OPTIONS.seed if OPTIONS.seed is not None else int.from_bytes(os.urandom(4), "big")
        self.luck = random.Random(seed)
        print(f"{self._testMethodName}: seed {seed}", flush=True)
        self.lab = self.enterContext(bed.Lab(LAB, ["a", "b"]))
        self.made = {}

    def enterContext(self, context):  # As Python 3.11 has it.
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def start(self, name, ranks, options, *words):
        if name not in self.made:
            self.made[name] = bed.build(OPTIONS.weft, HERE / f"{name}.c", self.lab.folder.name)
        made = self.made[name]
        job = self.enterContext(bed.Job(self.lab.words(OPTIONS.weft, ranks, *options, made, *words), made))
        self.assertTrue(bed.wait_until(lambda: "begun" in job.text() or job.process.poll() is not None, 20), "does not begin: " + job.text())
        return job

    def ended(self, job, seconds, what):
        """The seconds that it took to end, with nothing left."""
        begin = time.monotonic()
        if not bed.wait_until(lambda: job.process.poll() is not None, seconds):
            self.fail(f"{what}: runs on after {seconds} s; {len(job.ranks())} ranks are left:\n{job.text()}")
        took = time.monotonic() - begin
        self.assertTrue(bed.wait_until(lambda: not job.left(), 5), f"{what}: processes are left: {job.left()}\n{job.text()}")
        return took

    def test_transfer(self):
        """Nothing is lost, wrong, doubled or out of order, whatever rails do."""
        job = self.start("both_ways", 2, ["--protect", OPTIONS.protect, *(word for key in OPTIONS.set for word in ("--set", key))], OPTIONS.seconds)
        trouble = Trouble(self.lab, self.luck)
        trouble.start()
        try:
            bed.wait_until(lambda: job.process.poll() is not None, OPTIONS.seconds)
        finally:
            trouble.stop()
        said = "\n".join(trouble.made)
        self.ended(job, 30, "transfer")
        self.assertIsNone(trouble.error, said)
        self.assertEqual(job.process.returncode, 0, f"{job.text()}\n{said}")
        ends = {found[0]: found for found in DONE.findall(job.text())}
        self.assertEqual(sorted(ends), ["0", "1"], f"{job.text()}\n{said}")
        for one, other in (ends["0"], ends["1"]), (ends["1"], ends["0"]):
            self.assertEqual((one[1:3], int(one[6])), (other[3:5], 0), f"{job.text()}\n{said}")
        print(f"{len(trouble.made)} events\n{job.text()}", end="", flush=True)

    def test_killed(self):
        """Survivors of a killed rank report, in whatever call they are."""
        hows = ("receive", "collective", "test")
        for turn in range(OPTIONS.rounds):
            for place, how in enumerate(hows):
                words = [how, "return"] if (turn + place) % 2 else [how]
                with self.subTest(" ".join(words), turn=turn):
                    job = self.start("waits", 4, [], *words)
                    time.sleep(self.luck.uniform(0, 0.7))
                    ranks = job.ranks()
                    self.assertEqual(len(ranks), 4, job.text())
                    os.kill(self.luck.choice(ranks), signal.SIGKILL)
                    self.check_report(job, words, 3, self.ended(job, 10, "killed"))

    def test_cut(self):
        """All rails of a host are cut: its ranks and the others are lost to each other."""
        for how in ("receive", "collective", "test"):
            job = self.start("waits", 4, ["--lost-after", "3s"], how)
            time.sleep(self.luck.uniform(0, 0.7))
            for rail in (0, 1):
                self.lab.netlab("cut", f"b:eth{rail}")
            took = self.ended(job, 13, f"cut, {how}")
            self.check_report(job, [how], 0, took)
            for rail in (0, 1):
                self.lab.netlab("heal", f"b:eth{rail}")

    def check_report(self, job, words, survivors, took):
        text = job.text()
        print(f"{' '.join(words)}: {took:.2f} s, code {job.process.returncode}: " + " | ".join(text.splitlines()[1:]), flush=True)
        self.assertNotEqual(job.process.returncode, 0, text)
        if "return" in words:
            reports = set(re.findall(r"^rank (\d):", text, re.M))
            self.assertEqual(len(reports), survivors, f"{words}: not every survivor reports:\n{text}")
        self.assertRegex(text, r"(?m)^weft", f"{words}: nobody says why")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="messages.KEY=VALUE")
    parser.add_argument("--protect", default="on")
    parser.add_argument("tests", nargs="*", metavar="transfer|killed|cut")
    OPTIONS = parser.parse_intermixed_args()
    OPTIONS.weft = os.path.abspath(OPTIONS.weft)
    skip.run_unittests(["check_rails", *(f"Rails.test_{name}" for name in OPTIONS.tests or ("transfer", "killed", "cut"))])


if __name__ == "__main__":
    sys.exit(main())
