#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft probe --local on this machine.

Usage: check_local.py WEFT [whole] [failed] [interrupted]

whole: the files have all keys, with values that make sense, and weft sim takes them. failed: what cannot be measured is an error, not a file.
interrupted: Ctrl-C leaves nothing behind. No time is compared with another machine's: bench/local/compare.py shows how good predictions are.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import skip  # noqa: E402 pylint: disable=wrong-import-position

OPTIONS = None
NS = {"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# Nanoseconds: far beyond what a machine of today or one that is busy shows.
TIMES = {"call_overhead": 1e4, "request_overhead": 1e5, "collective_overhead": 1e6, "local_send_overhead": 1e5, "local_receive_overhead": 1e5,
         "local_latency": 1e6, "local_write_overhead": 1e6, "wake_time": 1e8, "switch_time": 1e7}


def in_ns(text):
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", text).groups()
    return float(number) * NS[unit]


def in_bytes(text):
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", text).groups()
    return float(number) * {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}[unit]


class Local(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-local-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def weft(self, *words, program=None):
        return subprocess.run([str(word) for word in (program or OPTIONS.weft, *words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)

    def points(self, texts):
        points = [tuple(text.split(": ")) for text in texts]
        points = [(in_bytes(size), in_ns(duration)) for size, duration in points]
        self.assertEqual(points, sorted(points), "sizes and times grow")
        return points

    def test_whole(self):
        begin = time.monotonic()
        done = self.weft("probe", "--local", "-o", self.folder / "here.toml", "--json", self.folder / "here.json")
        took = time.monotonic() - begin
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertLess(took, 60, "far more than it promises")
        file = tomllib.loads((self.folder / "here.toml").read_text(encoding="utf-8"))
        node = file["node"]
        self.assertEqual(node["cores"], len(os.sched_getaffinity(0)))
        self.assertGreaterEqual(node["sockets"], 1)
        for key, most in TIMES.items():
            self.assertGreaterEqual(in_ns(node[key]), 0, key)
            self.assertLess(in_ns(node[key]), most, key)
        for key in ("call_overhead", "local_latency"):
            self.assertGreater(in_ns(node[key]), 0, key)
        for key in ("copy_times", "local_latency_times"):
            self.points(node[key])
        copies, writes = self.points(node["local_copy_times"]), self.points(node["local_write_times"])
        self.assertEqual([size for size, _ in copies], [64, 256, 1024, 4096, 16384])
        self.assertGreater(float(node["reduce_rate"].split()[0]), 0.01)
        self.assertGreaterEqual(len(writes), 1)
        self.assertGreater(float(node["memory_rate"].split()[0]), 0.1)
        self.assertEqual("cache" in node, "uncached_rate" in node)
        self.assertEqual(file["messages"], {"split": "measured", "head_start": "64 KiB"})
        found = json.loads((self.folder / "here.json").read_text(encoding="utf-8"))
        self.assertEqual(found["node"], node)
        for row in found["measured"]["one_way"]:
            self.assertGreater(row["low_ns"], 0)
            self.assertGreaterEqual(row["median_ns"], row["low_ns"])
        self.predict()

    def predict(self):
        """What was written is a machine of weft sim, with as many ranks as one likes."""
        done = self.weft("net", self.folder / "here.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        program = self.folder / "codes"
        done = self.weft("cc", "-O2", TESTS.parent / "bench/local/codes.c", "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        for ranks in (2, 5):
            done = self.weft("sim", "-q", "--net", self.folder / "here.toml", "-n", ranks, program, "exchange", "0,1024,100000", 3)
            self.assertEqual(done.returncode, 0, done.stderr)
            times = [float(line.split()[1]) for line in done.stdout.splitlines()]
            # Times of small messages were measured and differ by less than the noise.
            self.assertGreater(min(times[:2]), 0)
            self.assertGreater(times[2], max(times[:2]))

    def test_failed(self):
        """Without the program that measures."""
        alone = self.folder / "bin/weft"
        alone.parent.mkdir()
        shutil.copy(OPTIONS.weft, alone)
        done = self.weft("probe", "--local", "-o", self.folder / "here.toml", "--json", self.folder / "here.json", program=alone)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("this machine was not measured, nothing is written", done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["bin"])

    def test_interrupted(self):
        words = [OPTIONS.weft, "probe", "--local", "-o", str(self.folder / "here.toml"), "--json", str(self.folder / "here.json")]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as process:
            time.sleep(3)
            os.killpg(process.pid, signal.SIGINT)
            said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("interrupted", said)
        self.assertEqual(list(self.folder.iterdir()), [])


def main():
    global OPTIONS  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("tests", nargs="*", metavar="whole|failed|interrupted")
    OPTIONS = parser.parse_args()
    OPTIONS.weft = os.path.abspath(OPTIONS.weft)
    names = OPTIONS.tests or ("whole", "failed", "interrupted")
    skip.run_unittests(["check_local", *(f"Local.test_{name}" for name in names)])


if __name__ == "__main__":
    sys.exit(main())
