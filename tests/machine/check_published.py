#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Presets of today's machines against published figures: measures each row of docs/validation/machines.md again.

Usage: check_published.py WEFT SOURCE_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGE = ROOT / "docs/validation/machines.md"
SCALE = {"us": 1e-6, "ns": 1e-9, "GB/s": 1e9, "TB/s": 1e12, "PB/s": 1e15, "%": 0.01, "": 1.0}
NS_PER_METRE = 5


def value(text):
    """'0.73 us' in seconds, '24.8 GB/s' in bytes per second, '5 %' as a share."""
    number, _, unit = text.partition(" ")
    return float(number) * SCALE[unit]


def last_digit(text):
    """What one in the last digit of a figure is worth."""
    number, _, unit = text.partition(" ")
    return 10.0 ** -len(number.partition(".")[2]) * SCALE[unit]


def rows():
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0].startswith("`"):
            yield cells[0].strip("`"), *cells[1:]


class Machine:
    """A preset, and what can be measured on it."""

    def __init__(self, preset, folder):
        self.net = ROOT / f"presets/{preset}.toml"
        self.folder = folder
        with open(self.net, "rb") as file:
            self.keys = tomllib.load(file)

    def weft(self, *words):
        done = subprocess.run([str(WEFT), *map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        if "warning" in done.stderr:  # A preset whose own parts hold each other back is wrong.
            raise AssertionError(done.stderr)
        return done.stdout

    def messages(self, nodes, benchmark, size, *more):
        """Two ranks of the microbenchmark on two nodes."""
        (self.folder / "map").write_text(f"0 {nodes[0]}\n1 {nodes[1]}\n", encoding="utf-8")
        printed = self.weft("sim", "-q", "--net", self.net, "--payload", "full", "-n", 2, "--map", "map", *more, "./messages", benchmark,
                            f"--min={size}", f"--max={size}", "--csv")
        _, _, number, unit = printed.splitlines()[-1].split(",")
        return float(number) * SCALE[unit]

    def facts(self, spec=None):
        return json.loads(self.weft("net", spec or self.net, "--format", "json"))

    def put(self, nodes):
        return self.messages(nodes, "latency", 8, "--set", "node.call_overhead=0 ns")

    def stream(self):
        return self.messages(self.near(), "bandwidth", 4 << 20)

    def near(self):
        """Two nodes at one switch; of networks without switches two neighbours."""
        topology = self.keys["network"]["topology"]
        zeros = ",0" * (5 if topology.startswith("tofu") else 2)
        return (f"0{zeros}", f"1{zeros}") if topology.startswith(("tofu", "torus")) else (0, 1)

    def switch(self):
        """What each further switch of a way takes, less its cable."""
        if "dragonfly" in self.keys["network"]["topology"]:  # Nodes 0 and 16 are at neighbouring switches of a group.
            far, more, cable = (0, 16), 1, self.keys["link"]["local"]["length"]
        else:
            far, more, cable = (0, self.facts()["nodes"] - 1), 2, self.keys["link"]["length"]
        metres = float(cable.split()[0])
        return (self.put(far) - self.put(self.near())) / more - metres * NS_PER_METRE * 1e-9

    def fan(self):
        here, _ = self.near()
        size = 16 if "16x16x16" in self.keys["network"]["topology"] else 4
        ends = [here]
        for axis in range(3):
            for step in (1, size - 1):
                place = here.split(",")
                place[axis] = str(step)
                ends.append(",".join(place))
        (self.folder / "map").write_text("".join(f"{rank} {end}\n" for rank, end in enumerate(ends)), encoding="utf-8")
        printed = self.weft("sim", "-q", "--net", self.net, "-n", len(ends), "--map", "map", "./fan")
        return float(re.match(r"([\d.]+) GB/s", printed).group(1)) * 1e9

    def measure(self, what):
        if what == "nodes of the largest network":
            return self.facts("dragonfly:a=32,h=17,p=16")["nodes"]
        if what.startswith("nodes"):
            return self.facts()["nodes"]
        return {
            "put of 8 B through one switch": lambda: self.put(self.near()),
            "put of 8 B to a neighbour": lambda: self.put(self.near()),
            "switch, port to port": self.switch,
            "one stream": self.stream,
            "streams to six neighbours": self.fan,
            "streams of all nodes to six neighbours": lambda: self.fan() * self.facts()["nodes"],
            "bisection": lambda: self.stream() * self.facts()["bisection_cables"],
        }[what]()


class Published(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        for source in ("examples/microbench/messages.c", "tests/machine/fan.c"):
            subprocess.run([str(WEFT), "cc", "-O2", str(ROOT / source), "-o", pathlib.Path(source).stem], cwd=self.folder, check=True)

    def test_each_row(self):
        seen = set()
        for preset, what, published, stated, within in rows():
            with self.subTest(preset=preset, what=what):
                seen.add(preset)
                measured = Machine(preset, self.folder).measure(what)
                self.assertLessEqual(abs(measured - value(stated)), 0.51 * last_digit(stated), f"the page is out of date: {measured:g}")
                self.assertLessEqual(abs(measured / value(published) - 1), value(within) + 1e-9, f"{measured:g}")
        marked = {file.stem for file in (ROOT / "presets").glob("*.toml") if "# Published" in file.read_text(encoding="utf-8")}
        self.assertEqual(seen, marked, "presets that name published figures have rows, and no others")

    def test_presets_have_names(self):
        def show(net):
            return subprocess.run([str(WEFT), "net", net, "--show-machine"], capture_output=True, text=True, check=False)

        for file in sorted((ROOT / "presets").glob("*.toml")):
            by_name, by_path = show(f"preset:{file.stem}"), show(str(file))
            self.assertEqual(by_name.returncode, 0, by_name.stderr)
            self.assertEqual(by_name.stdout, by_path.stdout, file.stem)
        unknown = show("preset:nothing")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("preset 'nothing' is unknown; there are: ", unknown.stderr)
        self.assertIn("infiniband-hdr", unknown.stderr)


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1])
