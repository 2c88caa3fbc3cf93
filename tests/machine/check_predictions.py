#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predictions that a buyer would compare: none below its bound, none misled by what nobody set.

Usage: check_predictions.py WEFT SOURCE_FOLDER
"""
import csv
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
BUY = ROOT / "examples/buy"
# As the buyer's tree, 2:1 with eight spines, but a quarter of the leaves: what routing does to it is the same, in a tenth of the time.
SMALL_TREE = ("--set", "network.topology=xgft:m=16x8,w=1x8")


def run(words, folder):
    return subprocess.run([str(WEFT), *map(str, words)], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


class Predictions(unittest.TestCase):
    printed = {}  # By the words of a run, for tests that need the same.

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        done = run(["cc", "-O2", BUY / "patterns.c", "-o", "patterns"], cls.folder)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def time(self, net, pattern, *more, found=r": ([\d.]+) us"):
        """Microseconds of one iteration."""
        words = (net, pattern, *more)
        if words not in self.printed:
            net = BUY / f"{net}.toml" if (BUY / f"{net}.toml").exists() else net
            done = run(["sim", "-q", "--net", net, *more, "./patterns", *pattern.split()], self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.printed[words] = done.stdout
        return float(re.search(found, self.printed[words]).group(1))

    def test_halo_is_near_its_bound(self):
        # A node sends six faces over one card; on the torus ranks are where their neighbours are.
        card = 6 * 2**20 / 25e9 * 1e6
        for net, most in (("torus", 1.1), ("hyperx", 1.5), ("fattree", 1.1)):
            took = self.time(net, "halo 1048576 1")
            self.assertGreaterEqual(took, card, net)
            self.assertLessEqual(took, most * card, net)

    def test_a_cable_down_costs_a_fat_tree_little(self):
        # The slowest rank counts: a cable next to the broken one carries the traffic of both, on its way up and down.
        for pattern, most in (("halo 1048576 1", 3), ("alltoall 4096", 2)):
            for more in ([], ["--routing", "source-up"], ["--routing", "adaptive-up"]):
                whole = self.time("fattree", pattern, *SMALL_TREE, *more)
                self.assertLessEqual(self.time("fattree", pattern, *SMALL_TREE, "--fail", "random:1", *more), most * whole, (pattern, more))

    def test_cables_down_are_named(self):
        (self.folder / "pair.txt").write_text("0 1 100\n1 0 100\n")
        cable = ["--fail", "(0,0)-(1,0)"]
        commands = {"net": ["net", "torus:4x4"], "compare": ["net", "torus:4x4", "hyperx:4x4"],
                    "sim": ["sim", "--net", "torus:4x4", "--record", "down"],
                    "map": ["map", "--net", "torus:4x4", "--traffic", "pair.txt", "--evaluate", "identity"],
                    "traffic": ["traffic", "--net", "torus:4x4", "--load", "0.01"]}
        for name, words in commands.items():
            done = run(words + cable + (["./patterns", "halo", "8"] if name == "sim" else []), self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            # The program's own output has standard output in `weft sim`.
            self.assertIn("(0,0)-(1,0)", done.stderr if name == "sim" else done.stdout, name)
            self.assertEqual(done.stderr.count("routing is dor-around"), 1, f"{name}: {done.stderr}")
        record = json.loads((self.folder / "down/summary.json").read_text())
        self.assertEqual(record["cables_down_names"], ["(0,0)-(1,0)"])
        self.assertIn("because cables are down", record["warnings"][0])

    def test_the_buyer_gets_an_answer(self):
        done = subprocess.run([sys.executable, "-B", str(BUY / "buy.py"), str(WEFT), "--quick", "--csv", "buy.csv"], cwd=self.folder,
                              capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cost", done.stdout)
        with open(self.folder / "buy.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 16 + 3 + 4)
        for row in rows:
            card = 6 * int(row["bytes"]) / 25e9 * 1e6
            for mode in ("in_step", "free"):
                self.assertTrue(row[f"us_{mode}"] and (row[f"us_{mode}_three_cables_down"] or row["ranks"] != "in order"), row)
                if row["code"] == "halo":
                    self.assertGreaterEqual(float(row[f"us_{mode}"]), card, row)
        # Ranks that were placed are no worse off; in larger networks they gain much.
        halo = {row["ranks"]: row for row in rows if (row["code"], row["network"]) == ("halo", "dragonfly")}
        self.assertLess(float(halo["placed"]["us_in_step"]), 1.02 * float(halo["in order"]["us_in_step"]))

    def test_cards_serve_destinations_in_turn(self):
        in_turn = self.time("hyperx", "halo 1048576 1")
        queued = self.time("hyperx", "halo 1048576 1", "--set", "nic.order=queue")
        self.assertLess(in_turn, 0.5 * queued)

    def test_maps_are_judged_as_programs_run(self):
        self.time("hyperx", "halo 1048576 1", "--record", "halo")
        # The program runs one iteration, then two, then one in step; a map's step is to have the traffic of one.
        rows = [row.split() for row in (self.folder / "halo/traffic.txt").read_text().splitlines() if not row.startswith("#")]
        (self.folder / "one.txt").write_text("".join(f"{start} {end} {int(size) // 4} 1\n" for start, end, size, _ in rows))
        for order in ("round-robin", "queue"):
            in_program = self.time("hyperx", "halo 1048576 1", "--set", f"nic.order={order}", found=r"in step ([\d.]+) us")
            done = run(["map", "--net", BUY / "hyperx.toml", "--routing", "minimal", "--traffic", "one.txt", "--evaluate", "identity",
                        "--simulate", "--set", f"nic.order={order}", "--json", "map.json"], self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            alone = json.loads((self.folder / "map.json").read_text())["before"]["seconds"] * 1e6
            self.assertAlmostEqual(alone / in_program, 1, delta=0.15, msg=order)

    def test_adaptive_is_not_worse_than_static(self):
        switch = [*SMALL_TREE, "--set", "router.buffer=64 KiB", "--set", "packet.mtu=2 KiB", "--set", "node.memory_rate=20 GB/s"]
        # A single iteration moves by 4 %; four are steady.
        adaptive = self.time("fattree", "alltoall 4096 4", "--routing", "adaptive-up", *switch)
        for static in ("dest-down", "source-up"):
            self.assertLessEqual(adaptive, 1.02 * self.time("fattree", "alltoall 4096 4", "--routing", static, *switch), static)
        # Where packets wait at inputs, the choice has to be late.
        switch += ["--set", "router.output_buffer=0 B", "--set", "router.switch_rate=0 b/s"]
        late = self.time("fattree", "alltoall 4096", "--routing", "adaptive-up", *switch)
        early = self.time("fattree", "alltoall 4096", "--routing", "adaptive-up", "--set", "router.commit=true", *switch)
        self.assertLess(late, 0.8 * early)

    def test_switches_do_not_block_at_the_head_of_inputs(self):
        halo = self.time("fattree", "halo 1048576 1")
        blocked = self.time("fattree", "halo 1048576 1", "--set", "router.output_buffer=0 B", "--set", "router.switch_rate=0 b/s")
        self.assertLess(halo, 0.8 * blocked)

    def test_detours_need_a_reason(self):
        for net, small in (("dragonfly", "dragonfly:a=6,h=3,p=3,g=10"), ("hyperx", "hyperx:6x6,p=6")):
            straight = self.time(net, "allreduce 8", "--routing", "minimal")
            self.assertLessEqual(self.time(net, "allreduce 8", "--routing", "ugal-l"), 1.05 * straight, net)
            # And there is one where every rank of a group wants the same other group.
            crowd = ["--set", f"network.topology={small}"]
            straight = self.time(net, "alltoall 4096", *crowd, "--routing", "minimal")
            self.assertLess(self.time(net, "alltoall 4096", *crowd, "--routing", "ugal-l"), straight, net)

    def test_far_memory_costs_little(self):
        sockets = ["--set", "node.sockets=2", "--set", "node.rails=2"]
        far = [*sockets, "--set", "node.far_latency=120 ns"]
        for faces in ("halo 65536", "halo 1048576 1"):
            self.assertLessEqual(self.time("fattree", faces, *far), 1.1 * self.time("fattree", faces, *sockets), faces)
        one = self.time("fattree", "halo 65536", *far, "--set", "node.far_transactions=1")
        self.assertGreater(one, 3 * self.time("fattree", "halo 65536", *sockets))

    def test_a_card_may_be_faster_than_the_links(self):
        # Six faces for three neighbours: two over each link, six over the card.
        usual = self.time("complete:8,p=1", "halo 1048576 1", "--set", "link.rate=5 GB/s")
        for faster in ("nic.rate=25 GB/s", "nic.inject_rate=25 GB/s"):
            more = ["--set", faster] + (["--set", "nic.eject_rate=25 GB/s"] if "inject" in faster else [])
            self.assertLess(self.time("complete:8,p=1", "halo 1048576 1", "--set", "link.rate=5 GB/s", *more), 0.5 * usual, faster)

    def test_what_holds_back_is_told_once(self):
        (self.folder / "ring.txt").write_text("0 1 100\n1 0 100\n")
        slow = ["--profile", "nsim", "--set", "link.rate=25 GB/s"]
        commands = {"net": ["net", "torus:4x4", "--json"],
                    "sim": ["sim", "-q", "--net", "torus:4x4", "--record", "slow"],
                    "map": ["map", "--net", "torus:4x4", "--traffic", "ring.txt", "--evaluate", "identity", "--json", "m.json"],
                    "traffic": ["traffic", "--net", "torus:4x4", "--load", "0.01", "--json", "t.json"]}
        written = {"sim": self.folder / "slow/summary.json", "map": self.folder / "m.json", "traffic": self.folder / "t.json"}
        recorded = {}
        for name, words in commands.items():
            more = ["./patterns", "halo", "8"] if name == "sim" else []
            done = run(words + slow + more, self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("router.buffer of 4 KiB lets one virtual channel use 45 %"), 1, f"{name}: {done.stderr}")
            self.assertIn("9 KiB would do", done.stderr)
            # Without nodes there is no DMA that could hold anything back.
            self.assertEqual(done.stderr.count("node.dma_rate"), 1 if name in ("net", "sim") else 0, name)
            told = done.stdout if name == "net" else written[name].read_text() if name in written else ""
            again = run(words + more, self.folder)
            self.assertNotIn("warning", again.stderr, name)
            silent = again.stdout if name == "net" else written[name].read_text() if name in written else ""
            if told:
                recorded[name] = (told, silent)
        self.assertEqual(set(recorded), {"net", "sim", "map", "traffic"})
        for name, (told, silent) in recorded.items():
            self.assertIn("router.buffer of 4 KiB", told, name)
            self.assertIn('"warnings": []', silent, name)


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1])
