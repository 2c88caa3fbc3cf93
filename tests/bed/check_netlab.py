#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""netlab itself: it builds what a file says, shapes, delays, breaks and heals links, starts commands, and leaves nothing.

Usage: check_netlab.py [Shapes] [Links] [Commands] [Rates]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import bed

sys.path.insert(0, str(bed.NETLAB.parents[1]))
import skip  # noqa: E402 pylint: disable=wrong-import-position

LAB = f"weft-netlab-{os.getpid()}"
TEXT = """switch x
switch y on x rate 100mbit delay 200us
host a on x rate 1gbit
host b on y rate 1gbit
host c on x
switch z
host a on z rate 100mbit
host b on z rate 100mbit
link a c rate 50mbit delay 1ms
"""
# A server that counts what it gets for two seconds after the first byte, and a client that sends for three.
SERVER = """import socket, time
s = socket.create_server(("", 7000)); print("ready", flush=True); c = s.accept()[0]; c.recv(1 << 20); time.sleep(0.5)
n, begin = 0, time.monotonic()
while time.monotonic() < begin + 2: n += len(c.recv(1 << 20))
print(n * 8 / 1e6 / (time.monotonic() - begin))"""
CLIENT = """import socket, sys, time
s = socket.create_connection((sys.argv[1], 7000)); end = time.monotonic() + 3; data = bytes(1 << 16)
try:
    while time.monotonic() < end: s.sendall(data)
except OSError: pass"""


def devices():
    return [line["ifname"] for line in json.loads(subprocess.run(["ip", "-j", "link"], capture_output=True, check=True).stdout)]


class Case(unittest.TestCase):
    def setUp(self):
        if bed.missing(delays=True):
            self.skipTest(bed.missing(delays=True))
        scratch = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.file = self.folder / "d.lab"
        self.file.write_text(TEXT, encoding="utf-8")
        self.addCleanup(self.netlab, "down", code=None)

    def netlab(self, *words, code=0, given="", timeout=120):
        """What netlab prints; `code` is the exit code that is expected, None for any."""
        done = subprocess.run([str(word) for word in (bed.NETLAB, "-l", LAB, *words)], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env={**os.environ, "NETLAB": LAB}, input=given, timeout=timeout)
        if code is not None:
            self.assertEqual(done.returncode, code, f"netlab {' '.join(map(str, words))}: {done.stdout}")
        return done.stdout

    def processes(self, host):
        """Names of what runs on a host. A process may end while they are listed; the listing itself must be among them."""
        names = self.netlab("exec", host, "sh", "-c", "for name in /proc/[0-9]*/comm; do cat $name 2>&-; done; true").split()
        self.assertIn("sh", names)
        return names

    def up(self):
        self.netlab("up", self.file)

    def least_us(self, address):
        found = re.fullmatch(r"10 of 10 answered, least (\d+) us\n", self.netlab("ping", "a", address, 10))
        self.assertTrue(found, f"no answer from {address}")
        return int(found[1])

    def answers(self, address):
        return int(self.netlab("ping", "a", address, 2, code=None).split()[0])


class Shapes(Case):
    def test_of_a_file(self):
        self.assertRegex(self.netlab("up", self.file), r": 3 hosts, 3 switches, 7 links, 3 rail\(s\), delay lines in ")
        self.assertEqual(self.netlab("up", self.file), f"{LAB}: already up\n")
        self.assertEqual(self.netlab("check"), "ok\n")
        self.assertEqual(self.netlab("hosts"), "a 10.64.0.2 10.65.0.2 10.66.0.2\nb 10.64.0.3 10.65.0.3\nc 10.64.0.4 10.66.0.4\n")
        self.assertIn("switch y rail 0 parent x rate 100mbit delay_ns 200000\n", self.netlab("truth"))
        self.assertIn("cable a eth2 c eth1 rail 2 rate 50mbit delay_ns 1000000\n", self.netlab("truth"))
        self.assertEqual(self.netlab("exec", "c", "sh", "-c", "hostname; getent hosts b-eth1 | cut -d' ' -f1"), "c\n10.65.0.3\n")

    def test_of_the_examples(self):
        examples = sorted((bed.NETLAB.parent / "examples").glob("*.lab"))
        self.assertGreaterEqual(len(examples), 5)
        for path in examples:
            with self.subTest(path.name):
                hosts = self.netlab("run", path, bed.NETLAB, "hosts").splitlines()
                self.assertIn(len(hosts), (2, 16, 64))

    def test_that_are_wrong(self):
        for text, said in (("host a on nowhere", "1: no switch 'nowhere' yet"), ("switch s\nhost a on s rate fast", "2: bad rate 'fast'"),
                           ("link a a", "1: a link from a to itself"), ("switch s\nhost a on s delay 5", "2: delay '5' has no unit"),
                           ("cable a b", "1: unknown statement 'cable'"), ("switch s", " no hosts"), ("switch s\nhost s on s", "2: s is a switch"),
                           ("link a[0-1] b", "1: no range here: 'a[0-1]'"), ("link a b burst", "1: 'burst' needs a value")):
            self.file.write_text(text + "\n", encoding="utf-8")
            self.assertEqual(self.netlab("up", self.file, code=1), f"netlab: {self.file}:{said}\n")

    def test_nothing_is_left(self):
        before = devices()
        self.up()
        with subprocess.Popen([bed.NETLAB, "-l", LAB, "exec", "a", "sleep", "4343"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as inside:
            self.assertTrue(bed.wait_until(lambda: "sleep" in self.processes("a"), 10))
            self.netlab("down")
            self.assertNotEqual(inside.wait(10), 0)
        self.assertEqual(devices(), before)
        self.assertNotIn(LAB, self.netlab("labs").split())
        self.netlab("run", self.file, "sh", "-c", "exit 6", code=6)
        self.assertNotIn(LAB, self.netlab("labs").split())


class Links(Case):
    def test_delay(self):
        self.up()
        for address, least, most in (("10.64.0.3", 400, 5000), ("10.66.0.4", 2000, 8000)):
            self.assertTrue(least <= self.least_us(address) < most, f"{address}: {self.least_us(address)} us")

    def test_break_and_heal(self):
        self.up()
        for how in ("cut", "unplug", "ifdown"):
            with self.subTest(how):
                self.assertEqual(self.answers("10.65.0.3"), 2)
                self.netlab(how, "a:eth1")
                self.assertEqual(self.answers("10.65.0.3"), 0)
                self.netlab("heal", "a:eth1")
                self.assertTrue(bed.wait_until(lambda: self.answers("10.65.0.3") == 2, 10))
        self.netlab("cut", "y:up")
        self.assertEqual(self.answers("10.64.0.3"), 0)
        self.netlab("heal", "y:up")
        self.assertTrue(bed.wait_until(lambda: self.answers("10.64.0.3") == 2, 10))
        self.assertIn("no link a:eth9", self.netlab("cut", "a:eth9", code=1))


class Commands(Case):
    def test_are_started_as_by_a_remote_shell(self):
        self.up()
        self.netlab("exec", "a", "sh", "-c", "exit 9", code=9)
        self.assertEqual(self.netlab("exec", "b", "cat", given="hello"), "hello")
        self.assertEqual(self.netlab("exec", "a", bed.NETLAB, "rsh", "b", "hostname; exit 4", code=4), "b\n")
        self.assertEqual(self.netlab("each", "hostname"), "a: a\nb: b\nc: c\n")

    def test_have_a_machine_of_their_own(self):
        self.up()
        self.netlab("exec", "a", "sh", "-c", "echo x > /dev/shm/f")
        self.assertEqual(self.netlab("exec", "b", "ls", "/dev/shm"), "")
        self.assertEqual(self.netlab("exec", "a", "cat", "/proc/1/comm"), "netlab-host\n")

    def test_end_with_their_caller(self):
        self.up()
        with self.assertRaises(subprocess.TimeoutExpired):
            self.netlab("exec", "a", "sleep", "4242", timeout=1)
        self.assertTrue(bed.wait_until(lambda: "sleep" not in self.processes("a"), 10))


class Rates(Case):
    """TCP carries 95.6 % of the rate; queues shift a little of it between the seconds, and a busy machine gets less."""

    def mbit_per_s(self, address):
        words = [bed.NETLAB, "-l", LAB, "exec", "b", sys.executable, "-c", SERVER]
        with subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as server:
            self.assertEqual(server.stdout.readline(), "ready\n")
            self.netlab("exec", "a", sys.executable, "-c", CLIENT, address)
            return float(server.communicate(timeout=20)[0])

    def test_hold(self):
        self.up()
        for rate in (100, 40):
            self.netlab("rate", "a:eth1", f"{rate}mbit")
            got = self.mbit_per_s("10.65.0.3")
            print(f"{rate} Mbit/s: TCP gets {got:.1f}", flush=True)
            self.assertLessEqual(got, rate)
            self.assertGreaterEqual(got, 0.7 * rate)


if __name__ == "__main__":
    skip.run_unittests(["check_netlab", *sys.argv[1:]])
