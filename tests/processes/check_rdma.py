#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RDMA rails over libfabric's software providers, on the loopback: every byte is where it belongs, whatever fails.

Usage: check_rdma.py WEFT [Tcp] [Net] [Sockets]
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

WEFT = os.path.abspath(sys.argv[1])
LINE = re.compile(r"weft: rank (\d+): rail (ofi:\S+): (\d+) writes, (\d+) bytes, (\d+) given up, (\d+) renewals; "
                  r"registered: (\d+) hits, (\d+) misses, (\d+) evictions, (\d+) kept")
FIELDS = ("writes", "bytes", "given_up", "renewals", "hits", "misses", "evictions", "kept")


class Rdma(unittest.TestCase):
    """Each class below tests providers, and is skipped where libfabric has none of that name: it asks as a user would."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.program = pathlib.Path(cls.scratch.name) / "rdma"
        subprocess.run([WEFT, "cc", "-O2", str(HERE / "rdma.c"), "-o", str(cls.program)], check=True)
        done = cls.run_rails(f"ofi:{cls.provider}:lo", "loaded")
        if done.returncode != 0 and "libfabric knows here: " in done.stderr:
            raise unittest.SkipTest(f"libfabric has no provider '{cls.provider}' here")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_rails(cls, rails, what, **variables):
        environment = {**os.environ, "WEFT_RDMA_REPORT": "1", **variables}
        return subprocess.run([WEFT, "run", "-n", "2", "--no-shared-memory", "--rails", rails, str(cls.program), what],
                              env=environment, capture_output=True, text=True, timeout=150, check=False)

    def exchange(self, rails, what="all", **variables):
        """By (rank, rail) what its card did; there is a line of each."""
        done = self.run_rails(rails, what, **variables)
        self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n"), done.stderr)
        cards = {(int(m[1]), m[2]): dict(zip(FIELDS, map(int, m.groups()[2:]))) for m in LINE.finditer(done.stderr)}
        self.assertEqual(set(cards), {(rank, rail) for rank in (0, 1) for rail in rails.split(",") if rail.startswith("ofi:")}, done.stderr)
        return cards


class Tcp(Rdma):
    provider = "tcp"

    def test_beside_a_plain_rail(self):
        cards = self.exchange("lo,ofi:tcp:lo")
        self.assertEqual(set(cards), {(0, "ofi:tcp:lo"), (1, "ofi:tcp:lo")})
        for card in cards.values():
            self.assertGreater(card["writes"], 0)
            self.assertEqual(card["given_up"], 0)

    def test_alone_it_carries_all_data(self):
        # Three times each size by rendezvous, what is scattered, the flood, the remapped.
        sizes = 3 * (16385 + 65536 + 100003 + (1 << 20) + (1 << 20) + 13 + (4 << 20) + (16 << 20))
        least = sizes + 60000 * 20 + 40 * 300001 + 24 * (1 << 20) + 200 * 200000
        for card in self.exchange("ofi:tcp:lo").values():
            # The first messages may be quicker than the rail comes up.
            self.assertGreater(card["bytes"], least * 0.9)

    def test_read_back_where_a_completion_says_less(self):
        for card in self.exchange("ofi:tcp:lo", WEFT_RDMA_TRIAL="flush").values():
            self.assertGreater(card["writes"], 0)

    def test_a_write_that_gets_lost(self):
        for rails in ("lo,ofi:tcp:lo", "ofi:tcp:lo"):
            cards = self.exchange(rails, WEFT_RDMA_TRIAL="lose=15")
            self.assertGreaterEqual(sum(card["given_up"] for card in cards.values()), 1)
            for card in cards.values():
                self.assertGreaterEqual(card["renewals"], 1)

    def test_a_write_that_is_refused(self):
        for rails in ("lo,ofi:tcp:lo", "ofi:tcp:lo"):
            cards = self.exchange(rails, WEFT_RDMA_TRIAL="refuse=15")
            self.assertGreaterEqual(sum(card["given_up"] for card in cards.values()), 1)

    def test_sources_that_have_to_be_registered(self):
        for card in self.exchange("ofi:tcp:lo", WEFT_RDMA_TRIAL="sources").values():
            self.assertGreater(card["hits"], 350)  # Receivers alone have about 240.
        for card in self.exchange("ofi:tcp:lo", WEFT_RDMA_TRIAL="sources", WEFT_REGISTERED_COUNT="0").values():
            self.assertEqual(card["kept"], 0)
        self.exchange("lo,ofi:tcp:lo", WEFT_RDMA_TRIAL="sources,lose=25")

    def test_registrations_are_found_again(self):
        for card in self.exchange("ofi:tcp:lo", "steady").values():
            self.assertGreater(card["hits"], 190)
            self.assertLess(card["misses"], 10)

    def test_memory_that_was_given_back_is_registered_anew(self):
        for card in self.exchange("ofi:tcp:lo", "remapped").values():
            self.assertGreaterEqual(card["misses"], 12)
            self.assertGreaterEqual(card["hits"], 10)

    def test_limits_of_the_cache(self):
        for card in self.exchange("ofi:tcp:lo", "flood", WEFT_REGISTERED_COUNT="0").values():
            self.assertEqual((card["hits"], card["kept"]), (0, 0))
        for card in self.exchange("ofi:tcp:lo", "flood", WEFT_REGISTERED_COUNT="3").values():
            self.assertLessEqual(card["kept"], 3)
        for name, text in (("WEFT_REGISTERED_BYTES", "much"), ("WEFT_REGISTERED_COUNT", "-1")):
            done = self.run_rails("ofi:tcp:lo", "steady", **{name: text})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(name, done.stderr)

    def test_mistakes_are_explained(self):
        for rails, text in (("ofi:nonsense", "libfabric knows here: "), ("ofi:", "names no card"), ("ofi:tcp:eth99", "ofi:tcp:lo")):
            done = self.run_rails(rails, "steady")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)

    def test_libfabric_is_loaded_only_for_its_rails(self):
        self.assertIn("libfabric not loaded", self.run_rails("lo", "loaded").stdout)
        self.assertIn("libfabric loaded", self.run_rails("ofi:tcp:lo", "loaded").stdout)

    def test_a_rank_that_dies_ends_the_job(self):
        done = self.run_rails("ofi:tcp:lo", "endless")
        self.assertNotEqual(done.returncode, 0)


class Net(Rdma):
    provider = "net"

    def test_beside_tcp(self):
        cards = self.exchange("ofi:tcp:lo,ofi:net:lo", "sizes")
        self.assertEqual(len(cards), 4)
        for card in cards.values():
            self.assertGreater(card["writes"], 0)


class Sockets(Rdma):
    provider = "sockets"

    def test_what_is_scattered_and_many(self):
        for what in ("scattered", "flood"):
            cards = self.exchange("lo,ofi:sockets:lo", what)
            self.assertEqual(len(cards), 2)
            for card in cards.values():
                self.assertEqual(card["given_up"], 0)


if __name__ == "__main__":
    skip.run_unittests(["check_rdma", *(sys.argv[2:] or ("Tcp", "Net", "Sockets"))])
