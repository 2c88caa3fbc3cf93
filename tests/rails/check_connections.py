#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that hold few connections: sixteen hosts of the test bed on four switches, everybody talks to everybody.

Usage: check_connections.py WEFT [few] [modes] [lost]
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "bed")]
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT = None
HOSTS = [f"h{number}" for number in range(16)]
LAB = "switch root\nswitch s[0-3] on root\n" + "".join(f"host h[{4 * k}-{4 * k + 3}] on s{k}\n" for k in range(4))
GROUPS = "".join(f"h{number} s{number // 4}\n" for number in range(16))
LIMIT = 90


class Connections(unittest.TestCase):
    def setUp(self):
        if bed.missing():
            self.skipTest(bed.missing())
        folder = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = bed.build(WEFT, HERE / "everybody.c", self.folder)
        (self.folder / "groups").write_text(GROUPS, encoding="utf-8")

    def run_job(self, lab, ranks, options, words):
        job = lab.words(WEFT, ranks, "--timeout", f"{LIMIT}s", *options, *words)
        with bed.Job(job, self.program) as started:
            started.process.wait(timeout=LIMIT + 30)
            return started.process.returncode, started.text()

    def connections(self, profile):
        return json.loads((profile / "summary.json").read_text(encoding="utf-8"))["connections"]

    def test_few(self):
        """64 processes with 32 descriptors each. No libraries but this do it."""
        with bed.Lab(LAB, HOSTS) as lab:
            words = ["sh", "-c", f"ulimit -n 32; exec {self.program} 4 3000"]
            for _ in range(2):
                code, text = self.run_job(lab, 64, [], words)
                self.assertEqual((code, text.strip()), (0, "ok"))

    def test_modes(self):
        """The same bytes, whoever carries them; and as many connections as the mode says."""
        profile = self.folder / "record"
        managed = f"managed,groups={self.folder}/groups"
        expected = {"on-demand": (15, 15), "full": (15, 15), f"{managed},shortcuts=0": (6, 6), f"{managed},shortcuts=2": (6, 8),
                    f"{managed},shortcuts=2,patience=1,replace=random": (6, 8)}
        with bed.Lab(LAB, HOSTS) as lab:
            for mode, (least, most) in expected.items():
                for size in (100, 100_000):
                    with self.subTest(mode=mode, size=size):
                        words = ["--connections", mode, "--record", profile]
                        code, text = self.run_job(lab, 16, words, [self.program, 6, size])
                        self.assertEqual((code, text.splitlines()[0]), (0, "ok"), text)
                        held = self.connections(profile)
                        self.assertGreaterEqual(held["most"], least)
                        self.assertLessEqual(held["most"], most)
                        self.assertEqual(held.get("managed", {}).get("relayed", 0) > 0, mode.startswith("managed"))

    def test_lost(self):
        """A relay dies while it carries others' messages: they find another way."""
        mode = f"managed,shortcuts=0,groups={self.folder}/groups"
        with bed.Lab(LAB, HOSTS) as lab:
            for victim in (5, 10):
                code, text = self.run_job(lab, 16, ["--connections", mode], [self.program, 12, 20_000, "die", victim])
                self.assertIn("ok", text.splitlines(), text)
                self.assertNotEqual(code, 0)  # Of the rank that was killed.


def main():
    global WEFT
    WEFT, *names = sys.argv[1:]
    WEFT = os.path.abspath(WEFT)
    skip.run_unittests(["check_connections", *(f"Connections.test_{name}" for name in names or ("few", "modes", "lost"))])


if __name__ == "__main__":
    main()
