#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links between nodes and routers in everything that weft sim writes and weft report shows, for a hot spot on every kind of machine below.

Usage: check_node_links.py WEFT SOURCE [CLASS]
"""
import base64
import csv
import io
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()

# Spec -> routings: the general router (they look at outputs) and, where it can serve them, the plain one.
NETS = {
    "torus:4x4": ("dor", "min-adaptive"),
    "mesh:3x3,p=2": ("dor",),
    "fattree:k=4,levels=2": ("dest-down", "adaptive-up"),
    "dragonfly:a=2,h=1,p=2": ("minimal", "ugal-l"),
    "hyperx:3x3,p=2": ("minimal",),
    "random:n=8,d=3,p=2": ("shortest",),
}
MACHINES = {
    "usual": [],
    "fast cards": ["--set", "nic.rate=50 GB/s"],
    "output buffers": ["--set", "router.output_buffer=16 KiB"],
    "paper": ["--profile", "nsim"],
}


def pixels(svg):
    """Rows of (red, green, blue) of the picture inside."""
    png = base64.b64decode(re.search(r"base64,([^\"']+)", svg).group(1))
    width, height = (int.from_bytes(png[i:i + 4], "big") for i in (16, 20))
    data, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at:at + 4], "big")
        if png[at + 4:at + 8] == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    raw = zlib.decompress(data)
    step = 1 + 3 * width
    rows = [raw[y * step:(y + 1) * step] for y in range(height)]
    assert all(row[0] == 0 for row in rows), "lines are expected without a filter"
    return [[tuple(row[1 + 3 * x:4 + 3 * x]) for x in range(width)] for row in rows]


class NodeLinks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="weft-node-links-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.weft("cc", "-O1", ROOT / "tests/machine/hot_spot.c", "-o", "hot")

    @classmethod
    def weft(cls, *words):
        done = subprocess.run([WEFT, *words], cwd=cls.folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout, done.stderr

    def record(self, *words):
        told = self.weft("sim", *words, "./hot")[1]
        return told, json.loads((self.folder / "run/summary.json").read_text())

    def rows(self, table=None):
        text = self.weft("report", "run", "--table", table)[0] if table else (self.folder / "run/node_links.csv").read_text()
        return list(csv.DictReader(io.StringIO(text)))

    def check(self, told, summary, cards):
        rows = [{key: int(value) for key, value in row.items()} for row in self.rows()]
        self.assertEqual(len(rows), summary["nodes"] * cards)
        total = {key: sum(row[key] for row in rows) for key in rows[0]}
        # The network ejects all bytes and packets that nodes inject.
        self.assertEqual(total["injected_bytes"], total["ejected_bytes"])
        self.assertEqual(total["injected_packets"], total["ejected_packets"])
        self.assertEqual(total["injected_packets"], summary["packets"])
        links = summary["node_links"]
        for key, name in (("injection", "injected"), ("ejection", "ejected")):
            self.assertEqual(links[key]["bytes"], total[name + "_bytes"])
            self.assertEqual(links[key]["packets"], total[name + "_packets"])
        # All goes to node 0, and its link is the busiest of all, also of those between routers.
        hot = max(rows, key=lambda row: row["ejected_bytes"])
        self.assertEqual(hot["node"], 0)
        self.assertEqual(links["busiest_direction"], "ejection")
        self.assertEqual(links["busiest_bytes"], hot["ejected_bytes"])
        self.assertGreater(links["busiest_efficiency"], 0)
        self.assertLessEqual(links["busiest_efficiency"], 1)
        self.assertRegex(told, r"busiest node link +.* to n0.*: \d+ bytes, ")
        self.assertEqual(sum(row["ejected_bytes"] for row in rows if row["node"] == 0),
                         max(sum(row["ejected_bytes"] for row in rows if row["node"] == n) for n in range(summary["nodes"])))
        ejection = [kind for kind in summary["packet_waiting"]["kinds"] if kind["kind"] == "ejection"][0]
        self.assertEqual(ejection["queue_ps"] + ejection["turn_ps"] + ejection["room_ps"], total["ejected_waited_ps"])
        self.assertGreater(ejection["turn_ps"], 0)

    def test_every_machine(self):
        for (net, routings), (name, words) in itertools.product(NETS.items(), MACHINES.items()):
            for routing, cards in itertools.product(routings, (1, 2)):
                if cards == 2 and "p=2" not in net:
                    continue
                with self.subTest(net=net, routing=routing, machine=name, cards=cards):
                    options = ["--net", net, "--routing", routing, *words, "--set", f"node.cards={cards}", "--output", "run"]
                    alone = self.record(*options, "--threads", "1")
                    self.check(*alone, cards)
                    before = (self.folder / "run/node_links.csv").read_bytes()
                    self.assertEqual(self.record(*options, "--threads", "2"), alone)
                    self.assertEqual((self.folder / "run/node_links.csv").read_bytes(), before)


class Series(NodeLinks):
    """What is written over time."""

    @classmethod
    def setUpClass(cls):
        if reason := skip.without_parts(WEFT, "HDF5"):
            raise unittest.SkipTest(reason)
        super().setUpClass()

    def test_every_machine(self):
        for net, series in itertools.product(("torus:4x4", "fattree:k=4,levels=2"), ("50 ns", "1 us")):
            with self.subTest(net=net, series=series):
                self.record("--net", net, "--series", series, "--output", "run")
                for table in ("link-use", "node-link-use"):
                    shares = [float(row["y [share]"]) for row in self.rows(table)]
                    self.assertLessEqual(max(shares), 1)
                    self.assertGreater(max(shares), 0.3)
                curves = {}
                for row in self.rows("node-link-use"):
                    curves.setdefault(row["curve"], []).append(float(row["y [share]"]))
                self.assertGreater(max(curves["fullest ejection"]), 0.95)
                uses = [float(row["use of ejection [share]"]) for row in self.rows("node-links")]
                self.assertEqual(max(range(len(uses)), key=uses.__getitem__), 0)

    def test_a_hot_spot_is_the_hottest_tile(self):
        self.record("--net", "torus:4x4", "--record", "run")
        svg = self.weft("report", "run", "--picture", "link-heat")[0]
        dots = pixels(svg)
        side = len(dots) // 4
        tiles = [dots[side // 2 + y * side][side // 2 + x * side] for y in range(4) for x in range(4)]
        # The scale goes from light to dark.
        darkest = min(range(16), key=lambda i: sum(tiles[i]))
        self.assertEqual(darkest, 0, tiles)
        self.assertEqual(tiles.count(tiles[0]), 1, tiles)


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1] + sys.argv[3:])
