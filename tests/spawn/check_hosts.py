#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that start later on several hosts of the test bed. Usage: check_hosts.py WEFT [TEST...]"""
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "bed"))
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT = pathlib.Path(sys.argv[1]).resolve()
HOSTS = ["h0", "h1", "h2"]
LAB = "switch s\nhost h[0-2] on s\n"
LIMIT = 60
WAYS = {"all rails": [], "TCP": ["--no-shared-memory"], "open": ["--protect", "off"], "managed": ["--no-shared-memory", "--connections", "managed,shortcuts=1"]}


class Hosts(unittest.TestCase):
    def setUp(self):
        if bed.missing():
            self.skipTest(bed.missing())
        folder = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.made = {name: bed.build(WEFT, HERE / f"{name}.c", self.folder) for name in ("apart", "family", "ports", "repeat")}

    def run_job(self, lab, ranks, options, name, *words):
        program = self.made[name]
        job = lab.words(WEFT, ranks, "--timeout", f"{LIMIT}s", *options, program, *words)
        with bed.Job(job, program) as started:
            started.process.wait(timeout=LIMIT + 30)
            text = started.text()
            self.assertTrue(bed.wait_until(lambda: not started.left(), 5), f"processes are left: {text}")
            return started.process.returncode, text

    def test_families(self):
        """Parents on some of the hosts or all, children on all."""
        with bed.Lab(LAB, HOSTS) as lab:
            for way, options in WAYS.items():
                for ranks, children, generations in ((1, 4, 2), (3, 3, 1), (5, 2, 2)):
                    with self.subTest(way=way, ranks=ranks, children=children):
                        self.assertEqual(self.run_job(lab, ranks, options, "family", children, generations), (0, "0 wrong\n"))

    def test_ports_and_ends(self):
        with bed.Lab(LAB, HOSTS) as lab:
            for way, options in WAYS.items():
                with self.subTest(way=way):
                    self.assertEqual(self.run_job(lab, 5, options, "ports", 4), (0, "0 wrong\n"))
                    self.assertEqual(self.run_job(lab, 2, options, "repeat", 10), (0, "0 wrong\n"))
                    code, text = self.run_job(lab, 2, options, "apart", "disconnected")
                    self.assertEqual((code, "0 wrong\n" in text), (137, True), text)
                    code, text = self.run_job(lab, 2, options, "apart", "connected")
                    self.assertEqual((code, "wrong" in text), (137, False), text)


if __name__ == "__main__":
    skip.run_unittests([sys.argv[0], *sys.argv[2:]])
