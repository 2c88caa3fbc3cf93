#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that relay for others while they compute, leave or die. Four processes of this host in two groups: 0-1 and 2-3 know each other, and 0-2, 1-3.

Usage: check_relays.py WEFT [TEST...]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT = pathlib.Path(sys.argv[1]).resolve()
SECONDS = 2
# With few connections the first and the last rank have none of their own.
RELAYED = ["--no-shared-memory", "--timeout", "60s"]
SPLITS = ("measured", "proportional", "equal")
PROTECTIONS = ("all", "off")


class Relays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-relays-")
        cls.folder = pathlib.Path(cls.held.name)
        subprocess.run([WEFT, "cc", "-O1", "-Wall", "-Wextra", "-Werror", HERE / "relays.c", "-o", cls.folder / "relays"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def exchange(self, what, *words, seconds=SECONDS, rounds=20, size=3000, ranks=4, most=2, code=0):
        """The time of the exchange, in seconds."""
        words = [WEFT, "run", "--quiet", "-n", ranks, *RELAYED, "--connections", f"managed,max={most}", *words, "./relays", what, seconds, rounds, size]
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        said = f"{' '.join(map(str, words))}: {done.returncode}: {done.stdout}{done.stderr}"
        if code is not None:
            self.assertEqual(done.returncode, code, said)
        found = re.match(r"(\d+) ms\nok\n", done.stdout)
        self.assertTrue(found, said)
        self.assertEqual(self.left(), [], "processes are left")
        return int(found.group(1)) / 1000

    def left(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/exe") == str(self.folder / "relays"):
                    found.append(pid)
            except OSError:
                pass
        return found

    def test_computing_ranks_relay(self):
        for split in SPLITS:
            for protect in PROTECTIONS:
                with self.subTest(split=split, protect=protect):
                    self.assertLess(self.exchange("compute", "--set", f"messages.split={split}", "--protect", protect), SECONDS / 2)

    def test_large_messages(self):
        self.assertLess(self.exchange("compute", rounds=3, size=1_000_000), SECONDS / 2)

    def test_recorded(self):
        self.assertLess(self.exchange("compute", "--record", "record", "--events"), SECONDS / 2)

    def test_ranks_that_call_now_and_then_relay(self):
        self.assertLess(self.exchange("call", rounds=50), SECONDS / 2)

    def test_ranks_that_leave_relay(self):
        self.assertLess(self.exchange("leave", rounds=50), SECONDS / 2)

    def test_a_relay_dies(self):
        """While it relays; all goes on over the other. The job ends with an error, of the rank that was killed."""
        for protect in PROTECTIONS:
            with self.subTest(protect=protect):
                self.assertLess(self.exchange("die", "--protect", protect, seconds=1, rounds=2000, size=3000, code=None), 20)

    def test_many_relays(self):
        """More than there are cores, all of which compute."""
        self.assertLess(self.exchange("compute", ranks=9, most=4, seconds=3 * SECONDS, rounds=10), 3 * SECONDS / 2)


if __name__ == "__main__":
    skip.run_unittests(["check_relays", *sys.argv[2:]])
