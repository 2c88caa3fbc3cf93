#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank that breaks is named, whatever it broke: its heap, its stack, or only itself.

Usage: check_crash.py WEFT [NAME=MPIRUN...] [CLASS...]
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WEFT = sys.argv[1]
LAUNCHERS = dict(word.split("=", 1) for word in sys.argv[2:] if "=" in word)
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

SIGNALS = {"segv": (11, "Segmentation fault"), "fpe": (8, "Floating point exception"), "bus": (7, "Bus error"), "abort": (6, "Aborted"),
           "stack": (11, "Segmentation fault"), "free": (6, "Aborted"), "heap": (0, "(Aborted|Segmentation fault)"), "call": (11, "Segmentation fault")}
RANKS = 4


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = pathlib.Path(cls.folder.name)
        cls.program = str(cls.place / "crash")
        subprocess.run([WEFT, "cc", "-O1", "-w", str(HERE / "crash.c"), "-o", cls.program], check=True)

    def end(self, *words):
        try:
            return subprocess.run(words, capture_output=True, check=False, timeout=60, text=True, errors="replace")
        except subprocess.TimeoutExpired as late:
            return self.fail(f"does not end: {late.stderr}")


class Sim(Case):
    """The report names rank, simulated time and signal, and what ranks printed before is shown."""

    before, options = (), ()

    def check(self, done, how):
        number, name = SIGNALS[how]
        if how == "stack":
            expected = rf"^weft: error: rank {RANKS - 1} overflowed its stack of \d+ KiB at \d+\.\d{{3}} us; give more with --stack$"
        else:
            call = " in MPI_Send" if how == "call" else ""
            expected = rf"^weft: error: rank {RANKS - 1} crashed at \d+\.\d{{3}} us{call}: {name}$"
        self.assertRegex(done.stderr, re.compile(expected, re.MULTILINE))
        self.assertIn(done.returncode, [128 + number] if number else [134, 139], done.stderr)

    def walk(self, *options):
        for how in SIGNALS:
            with self.subTest(how):
                done = self.end(*self.before, WEFT, "sim", "--net", "ring:4", "-n", str(RANKS), "--payload", "full", *options, self.program, how)
                self.check(done, how)
                self.assertEqual(sorted(done.stdout.splitlines()), [f"rank {rank} is there" for rank in range(RANKS)])

    def test_one_thread(self):
        self.walk()

    def test_two_threads(self):
        for _ in range(3):
            self.walk("--threads", "2")

    def test_labels_and_record(self):
        out = self.place / "record"
        for how in ("segv", "heap"):
            done = self.end(WEFT, "sim", "--net", "ring:4", "--label", "--record", str(out), "--record-output", self.program, how)
            self.check(done, how)
            self.assertEqual(sorted(done.stdout.splitlines()), [f"[{rank}] rank {rank} is there" for rank in range(RANKS)])
            lines = (out / "program-output.txt").read_text(encoding="utf-8").splitlines()
            self.assertEqual(sorted(line.split(" ", 3)[3] for line in lines[1:]), [f"rank {rank} is there" for rank in range(RANKS)])


class Processes(Sim):
    """Several processes simulate together."""

    def test_one_thread(self):
        if not LAUNCHERS:
            self.skipTest("no mpirun was found when weft was configured")
        for how in SIGNALS:
            for name, mpirun in LAUNCHERS.items():
                with self.subTest(how, launcher=name):
                    words = [mpirun, *(["--oversubscribe", "--allow-run-as-root"] if name == "openmpi" else []), "-np", "2"]
                    done = self.end(*words, WEFT, "sim", "--net", "ring:4", "--payload", "full", self.program, how)
                    self.assertRegex(done.stderr, rf"weft: error: rank {RANKS - 1} (crashed|overflowed its stack of \d+ KiB) at \d+\.\d{{3}} us")
                    self.assertNotEqual(done.returncode, 0)

    test_two_threads = test_labels_and_record = None


class Run(Case):
    """The launcher names rank and signal; the process itself may be beyond words."""

    def test_each(self):
        for how, (number, name) in SIGNALS.items():
            with self.subTest(how):
                done = self.end(WEFT, "run", "-n", str(RANKS), "--grace", "1s", self.program, how)
                # The cause stands first, and makes the code, whoever missed the rank before its end was known.
                self.assertRegex(done.stderr[done.stderr.find("weft run: "):], rf"^weft run: rank {RANKS - 1} on host .* was ended by signal {number or '[0-9]+'} \({name}\)")
                self.assertIn(done.returncode, [128 + number] if number else [134, 139], done.stderr)


if __name__ == "__main__":
    skip.run_unittests(["check_crash", *(word for word in sys.argv[2:] if "=" not in word)])
