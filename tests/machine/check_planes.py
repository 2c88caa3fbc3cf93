#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes with cards at several routers, in every command: networks x planes and rails x routings x threads.

What must hold:

| network | plan | net | sim | traffic | map |
| --- | --- | --- | --- | --- | --- |
| any family | planes=N | N times routers, cables, bisection and capacity; same distances | a large message N times as fast | as one plane, per card | as one plane, with 1/N of the bytes |
| any family | rails=K | cards of a node at K routers | as fast as K cards | card i to card i | refused |
| graph file | node.cards=K | cards of a node are ends that follow each other | as fast as K cards | card i to card i | refused |
| planes, a cable down | | says how many | goes round in that plane | goes round | as the plane with the cable, with 1/N of the bytes |

Results do not depend on threads and processes.

Usage: check_planes.py WEFT SOURCE_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()

# A network, a routing for it other than its own, two neighbours, rails that fit it, and what these bring at least: parts of a message may meet on
# a cable, as on the only one between two groups of a dragonfly.
FAMILIES = (
    ("torus:4x4", "min-adaptive", "(0,0)-(1,0)", 2, 1.8),
    ("mesh:3x4", "xy-yx", "(0,0)-(1,0)", 3, 2.5),
    ("fattree:k=4,levels=2", "adaptive-up", "L1.0-L2.0", 4, 3.5),
    ("dragonfly:a=4,h=2,p=2", "ugal-l", "g0.r0-g0.r1", 2, 1),
    ("hyperx:3x3,p=2", "valiant", "(0,0)-(1,0)", 3, 1),
    ("random:n=12,d=3,p=2", "up-down", None, 2, 1),
    ("slimfly:q=3,p=2", "min-adaptive", None, 2, 1),
)


class Planes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        done = cls.weft("cc", "-O2", ROOT / "tests/machine/transfer.c", "-o", "transfer")
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def weft(cls, *words):
        return subprocess.run([str(WEFT), *map(str, words)], cwd=cls.folder, capture_output=True, text=True, check=False, timeout=300)

    def done(self, *words):
        done = self.weft(*words)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def refused(self, *words):
        done = self.weft(*words)
        self.assertIn(done.returncode, (2, 3), f"{words}\n{done.stdout}{done.stderr}")
        return done.stderr

    def sim(self, net, *more):
        return self.done("sim", "-q", "--payload", "full", "--net", net, *more, "./transfer")

    def rate(self, net, *more):
        out = self.sim(net, *more)
        self.assertIn("wrong 0\n", out, net)
        return float(re.search(r"rate ([\d.]+)", out).group(1))

    def net(self, *words):
        return json.loads(self.done("net", "--format", "json", *words))

    def test_net_counts_all_planes(self):
        for spec, *_ in FAMILIES:
            one, two = self.net(spec), self.net(f"{spec},planes=2")
            self.assertEqual((two["nodes"], two["cards_per_node"], two["diameter_hops"]), (one["nodes"], 2, one["diameter_hops"]), spec)
            self.assertAlmostEqual(two["distance_average_hops"], one["distance_average_hops"])
            for key in ("routers", "cables", "bisection_cables"):
                self.assertEqual(two[key], 2 * one[key], (spec, key))
            self.assertEqual(self.net(spec, "--set", "network.planes=2"), two)

    def test_comparison_has_twice_the_capacity_and_parts(self):
        specs = ["torus:4x4", "torus:4x4,planes=2", "fattree:k=4,levels=2", "fattree:k=4,levels=2,rails=4"]
        found = json.loads(self.done("net", *specs, "--format", "json"))["networks"]
        one, two, tree, rails = found
        for key in ("capacity_uniform_bytes_per_s", "capacity_worst_bytes_per_s", "bisection_per_node_bytes_per_s"):
            self.assertAlmostEqual(two[key] / one[key], 2, 6, key)
        for key in ("latency_mean_ns", "latency_max_ns"):
            self.assertAlmostEqual(two[key], one[key], 6, key)
        self.assertEqual(two["cost"]["cards"], 2 * one["cost"]["cards"])
        self.assertEqual(two["cost"]["switches"], 2 * one["cost"]["switches"])
        # Four nodes with four cards, each at a leaf of its own: nobody needs the spines.
        self.assertEqual((rails["nodes"], tree["nodes"]), (4, 16))
        self.assertAlmostEqual(rails["capacity_uniform_bytes_per_s"], 100e9)
        self.assertIn("cards per node", self.done("net", *specs))

    def test_a_large_message_uses_all_cards(self):
        for spec, routing, _, rails, least in FAMILIES:
            one = self.rate(spec)
            two = self.rate(f"{spec},planes=2")
            self.assertGreater(two / one, 1.8, spec)
            self.assertLess(two / one, 2.05, spec)
            self.assertGreater(self.rate(f"{spec},planes=2", "--routing", routing) / one, 1.7, spec)
            self.assertGreater(self.rate(f"{spec},rails={rails}") / one, least, spec)

    def test_nothing_depends_on_threads(self):
        for spec, routing, _, rails, _ in FAMILIES:
            for plan in (f"{spec},planes=2", f"{spec},rails={rails}", f"{spec},planes=2,rails={rails}"):
                words = ["--ranks-per-node", "2", "--set", "node.sockets=2", "--set", "node.far_latency=120 ns", "--routing", routing]
                first = self.sim(plan, *words)
                self.assertEqual(self.sim(plan, *words, "--threads", "2"), first, plan)
            self.assertEqual(self.sim(f"{spec},planes=2", "--threads", "3"), self.sim(f"{spec},planes=2"), spec)

    def test_a_broken_cable_is_gone_round_in_its_plane(self):
        for spec, _, cable, _, _ in FAMILIES:
            plan = f"{spec},planes=2"
            fail = "random:1" if cable is None else "-".join("p1:" + router for router in cable.split("-"))
            both = self.rate(plan)
            self.assertGreater(self.rate(plan, "--fail", fail), 0.45 * both, spec)
            self.assertEqual(self.net(plan, "--fail", fail)["cables_down"], 1)
            self.done("traffic", "--net", plan, "--load", "0.05", "--fail", fail)
        self.assertIn("they are called 'p0:(0,0)' to 'p1:(3,3)'", self.refused("net", "torus:4x4,planes=2", "--fail", "(0,0)-(1,0)"))

    def test_traffic_goes_from_card_to_card(self):
        def latency(spec, *more):
            self.done("traffic", "-q", "--net", spec, "--load", "0.1", "--json", "traffic.json", *more)
            return json.loads((self.folder / "traffic.json").read_text(encoding="utf-8"))["curves"][0]["points"][0]
        for spec, routing, _, rails, _ in FAMILIES:
            one, two = latency(spec), latency(f"{spec},planes=2")
            self.assertLess(abs(two["latency_cycles"] / one["latency_cycles"] - 1), 0.05, spec)
            for plan in (f"{spec},planes=2", f"{spec},rails={rails}"):
                self.assertEqual(latency(plan, "--routing", routing), latency(plan, "--routing", routing, "--threads", "2"), plan)
        latency("torus:4x4,planes=2", "--pattern", "tornado")
        latency("torus:4x4,p=2", "--set", "node.cards=2")

    def test_dual_homed_nodes_of_a_graph_file(self):
        lines = ["weft-graph 1", "router a", "router b", "router s", "link a s", "link b s"]
        for node in range(3):
            lines += [f"node x{node}.0 a", f"node x{node}.1 b"]
        (self.folder / "dual.graph").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self.folder / "dual.toml").write_text('[network]\ntopology = "graph:dual.graph"\n[node]\ncards = 2\n', encoding="utf-8")
        self.assertEqual(self.net("dual.toml")["nodes"], 3)
        self.assertGreater(self.rate("dual.toml"), 45)
        self.assertEqual(self.sim("dual.toml", "--threads", "2"), self.sim("dual.toml"))
        # One network file of two planes that do not meet.
        (self.folder / "apart.graph").write_text("\n".join(lines[:4] + lines[6:]).replace("router s\n", "") + "\n", encoding="utf-8")
        (self.folder / "apart.toml").write_text('[network]\ntopology = "graph:apart.graph"\n[node]\ncards = 2\n', encoding="utf-8")
        self.assertGreater(self.rate("apart.toml"), 45)

    def test_maps_are_judged_in_one_plane(self):
        (self.folder / "ring.txt").write_text("".join(f"{r} {(r + 5) % 16} 1000000\n" for r in range(16)), encoding="utf-8")
        (self.folder / "order.map").write_text("".join(f"{r} {r}\n" for r in range(16)), encoding="utf-8")

        def judged(spec, *more):
            self.done("map", "--net", spec, "--traffic", "ring.txt", "--evaluate", "order.map", "--json", "judged.json", *more)
            return json.loads((self.folder / "judged.json").read_text(encoding="utf-8"))
        one, two = judged("torus:4x4"), judged("torus:4x4,planes=2")

        def find(tree, key):
            if isinstance(tree, dict):
                for name, value in tree.items():
                    if name == key:
                        yield value
                    else:
                        yield from find(value, key)
            elif isinstance(tree, list):
                for value in tree:
                    yield from find(value, key)
        half = [value / 2 for value in find(one, "link_max") if isinstance(value, (int, float))]
        self.assertTrue(half)
        self.assertEqual([value for value in find(two, "link_max") if isinstance(value, (int, float))], half)
        self.done("map", "--net", "torus:4x4,planes=2", "--traffic", "ring.txt", "--evaluate", "order.map", "--simulate")
        self.done("map", "--net", "torus:4x4,planes=2", "--traffic", "ring.txt", "--evaluations", "2000", "-o", "best.map")
        self.assertIn("wrong 0\n", self.sim("torus:4x4,planes=2", "--map", "best.map"))
        # Where planes differ the one with the cable that is down is judged.
        alone = judged("torus:4x4", "--fail", "(0,0)-(1,0)")
        for plane in ("p0", "p1"):
            broken = judged("torus:4x4,planes=2", "--fail", f"{plane}:(0,0)-{plane}:(1,0)")
            self.assertIn(plane, broken["facts"]["plane"])
            self.assertEqual(broken["after"]["hops"], alone["after"]["hops"])
            self.assertEqual(broken["after"]["link_max"], alone["after"]["link_max"] / 2)
        self.assertGreater(alone["after"]["link_max"], one["after"]["link_max"])
        # A computer is drawn once: two grids of 4x4 tiles, before and after.
        picture = self.done("report", "judged.json", "--picture", "placement")
        self.assertEqual(picture.count("<image"), 2)
        for words in (["torus:4x4,rails=2"], ["torus:4x4,p=2", "--set", "node.cards=2"]):
            told = self.refused("map", "--net", *words, "--traffic", "ring.txt", "--evaluate", "order.map")
            self.assertIn("give the network of one card", told)

    def test_records_and_reports(self):
        for plan in ("torus:4x4,planes=2", "fattree:k=4,levels=2,rails=4"):
            self.done("sim", "-q", "--net", plan, "--record", "record", "./transfer", "100000")
            page = self.weft("report", "record", "-o", "page.html")
            self.assertTrue(page.returncode == 0 or "built without pages" in page.stderr, page.stderr)
            for word in ("svg", "png"):
                self.done("report", "record", "--picture", "link-heat", "-o", f"heat.{word}")
                self.assertGreater((self.folder / f"heat.{word}").stat().st_size, 1000)
            self.assertIn("node", self.done("report", "record", "--table", "ranks"))
        self.done("net", "torus:4x4,planes=2", "--export", "graph", "-o", "copy.graph")
        (self.folder / "copy.toml").write_text('[network]\ntopology = "graph:copy.graph"\n[node]\ncards = 2\n', encoding="utf-8")
        self.assertEqual(self.net("copy.toml")["nodes"], 16)

    def test_the_description_shows_cards_and_reads_again(self):
        text = self.done("net", "torus:4x4,planes=2", "--show-machine")
        self.assertRegex(text, r"(?m)^cards = 2 +# default$")
        (self.folder / "shown.toml").write_text(text, encoding="utf-8")
        self.assertEqual(re.sub(" *# default", "", self.done("net", "shown.toml", "--show-machine")), re.sub(" *# default", "", text))

    def test_what_cannot_be_is_refused(self):
        (self.folder / "wrong.toml").write_text('[network]\ntopology = "torus:3x3"\nrails = 2\n', encoding="utf-8")
        self.assertIn("wrong.toml:3: rails = 2: the 9 routers with nodes do not form groups of 2", self.refused("net", "wrong.toml"))
        (self.folder / "wrong.toml").write_text('[network]\ntopology = "torus:4x4"\nplanes = 2\n[node]\ncards = 3\n', encoding="utf-8")
        self.assertIn("wrong.toml:5: a node has 3 cards, but torus:4x4,planes=2 has 2 for each", self.refused("sim", "--net", "wrong.toml", "./transfer"))
        (self.folder / "wrong.toml").write_text('[network]\ntopology = "torus:4x4"\nplanes = 2\n[node]\nlayout = "2 sockets x 2 cards"\n',
                                                encoding="utf-8")
        self.assertIn("wrong.toml:5: a node has 4 cards", self.refused("traffic", "--net", "wrong.toml", "--load", "0.1"))
        self.assertIn("at most 16 are possible", self.refused("net", "torus:4x4,planes=8,rails=4"))
        self.assertIn("does not fit torus:4x4,planes=2", self.refused("sim", "--net", "torus:4x4,planes=2", "--routing", "dest-down", "./transfer"))


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1])
