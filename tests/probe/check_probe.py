#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft probe on hosts of the test bed, whose wiring is known.

Usage: check_probe.py WEFT [--runs N] [--noise] [--share 1.0] [--hosts 64,256] [shapes] [many] [again] [interrupted]

shapes: several trees of up to 4 switches and 16 hosts, each probed --runs times, with --noise beside other traffic. many: the same on a tree
of each number of --hosts. again: a host that comes and one that leaves. Of these at least --share of the runs of each tree must be right.
interrupted: what is found until then is written.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "bed")]
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

OPTIONS = None
# Uplinks have a delay, or flows must tell; host links are cables of the bed.
SHAPES = {
    "star of 4, 1 Gbit/s": """switch root
switch s[0-3] on root rate 1gbit delay 50us
host h[0-3] on s0 rate 1gbit delay 10us
host h[4-7] on s1 rate 1gbit delay 10us
host h[8-11] on s2 rate 1gbit delay 10us
host h[12-15] on s3 rate 1gbit delay 10us
""",
    "chain of 4, 100 Mbit/s": """switch s0
switch s1 on s0 rate 100mbit delay 40us
switch s2 on s1 rate 100mbit delay 40us
switch s3 on s2 rate 100mbit delay 40us
host h[0-3] on s0 rate 100mbit
host h[4-7] on s1 rate 100mbit
host h[8-11] on s2 rate 100mbit
host h[12-15] on s3 rate 100mbit
""",
    "two and two, slow middle": """switch top
switch m0 on top rate 100mbit delay 60us
switch m1 on top rate 100mbit delay 60us
switch s0 on m0 rate 200mbit delay 30us
switch s1 on m0 rate 200mbit delay 30us
switch s2 on m1 rate 200mbit delay 30us
switch s3 on m1 rate 200mbit delay 30us
host h[0-3] on s0 rate 100mbit
host h[4-7] on s1 rate 100mbit
host h[8-11] on s2 rate 100mbit
host h[12-15] on s3 rate 100mbit
""",
    "unequal": """switch s0
switch s1 on s0 rate 200mbit delay 30us
switch s2 on s0 rate 200mbit delay 80us
host h[0-8] on s0 rate 200mbit delay 10us
host h[9-13] on s1 rate 200mbit delay 10us
host h[14-15] on s2 rate 200mbit delay 10us
""",
}
TREE = re.compile(r"switch (\S+)(?: on (\S+))?")
HOST = re.compile(r"host h(?:\[(\d+)-(\d+)\]|(\d+)) on (\S+)")


def tree_of_many(hosts, per_switch):
    text = "switch root\n"
    for first in range(0, hosts, per_switch):
        text += f"switch s{first // per_switch} on root rate 100mbit delay 50us\n"
        text += f"host h[{first}-{first + per_switch - 1}] on s{first // per_switch} rate 100mbit delay 10us\n"
    return text


def truth_of(text):
    """The bed's file as (switch of each host, pairs of joined switches)."""
    joined, on = [], {}
    for line in text.splitlines():
        if found := TREE.match(line):
            names = [found[1]]
            if span := re.fullmatch(r"(\w+)\[(\d+)-(\d+)\]", found[1]):
                names = [f"{span[1]}{i}" for i in range(int(span[2]), int(span[3]) + 1)]
            joined += [(name, found[2]) for name in names if found[2]]
        elif found := HOST.match(line):
            first, last = (found[1], found[2]) if found[1] else (found[3], found[3])
            on.update({f"h{i}": found[4] for i in range(int(first), int(last) + 1)})
    return on, joined


def sides(on, joined):
    """The ways in which links part the hosts: names of switches do not matter."""
    near = {}
    for a, b in joined:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    everybody, found = frozenset(on), set()
    for a, b in joined:
        reached, open_ = {a}, [a]
        while open_:
            for other in near[open_.pop()]:
                if other not in reached and other != b:
                    reached.add(other)
                    open_.append(other)
        side = frozenset(host for host, sw in on.items() if sw in reached)
        if side and side != everybody:
            found.add(min((side, everybody - side), key=sorted))
    return found


def found_tree(json_text):
    finding = json.loads(json_text)
    names = [sw["name"] for sw in finding["switches"]]
    on = {host["name"]: names[host["on"]] for host in finding["hosts"] if host["on"] is not None}
    return on, [(names[link["a"]], names[link["b"]]) for link in finding["links"]], finding


def groups(on):
    return {frozenset(host for host, sw in on.items() if sw == one) for one in on.values()}


class Probe(unittest.TestCase):
    def setUp(self):
        if bed.missing(delays=True):
            self.skipTest(bed.missing(delays=True))

    def words(self, lab, hosts, *options):
        out = pathlib.Path(lab.folder.name) / "found.json"
        out.unlink(missing_ok=True)
        return out, [str(word) for word in (bed.NETLAB, "-l", lab.name, "exec", hosts[0], OPTIONS.weft, "probe", "--hosts", ",".join(hosts),
                                            "--rsh", lab.rsh, "--json", out, *options)]

    def probe(self, lab, hosts, *options):
        out, words = self.words(lab, hosts, *options)
        begin = time.monotonic()
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return found_tree(out.read_text(encoding="utf-8")), time.monotonic() - begin, done.stdout

    def judge(self, text, found):
        on, joined = truth_of(text)
        return groups(found[0]) == groups(on) and sides(found[0], found[1]) == sides(on, joined)

    def test_shapes(self):
        for name, text in SHAPES.items():
            hosts = [f"h{i}" for i in range(16)]
            with self.subTest(name), bed.Lab(text, hosts) as lab:
                self.probe_often(name, text, lab, hosts)

    def probe_often(self, name, text, lab, hosts):
        right, times, last = 0, [], ""
        for _ in range(OPTIONS.runs):
            noise = self.disturb(lab) if OPTIONS.noise else []
            try:
                found, took, said = self.probe(lab, hosts)
                self.assertEqual([process.poll() for process in noise], [None] * len(noise), "the noise has ended early")
            finally:
                for process in noise:
                    process.kill()
                    process.wait()
            times.append(took)
            if self.judge(text, found):
                right += 1
            else:
                last = said
        counts = found[2]["counts"]
        print(f"{name}: {right} of {OPTIONS.runs} right, {min(times):.2f} to {max(times):.2f} s; the last: {counts['seconds']:.2f} s of measuring, "
              f"{counts['round_trips']} round trips, {counts['trials']} sets of flows", flush=True)
        self.assertGreaterEqual(right, OPTIONS.share * OPTIONS.runs, last)

    def disturb(self, lab):
        """Small packets and bursts between some hosts, all the time."""
        words = [(("h1", "h6"), 5, 1000), (("h9", "h2"), 10, 8000), (("h13", "h10"), 20, 16000)]
        hosts = {name: address for name, address in (line.split() for line in lab.netlab("hosts").stdout.decode().splitlines())}
        return [subprocess.Popen([str(word) for word in (bed.NETLAB, "-l", lab.name, "ping", pair[0], hosts[pair[1]], 1_000_000, every, size)],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for pair, every, size in words]

    def test_many(self):
        for count in OPTIONS.hosts:
            text, hosts = tree_of_many(count, 8 if count < 128 else 16), [f"h{i}" for i in range(count)]
            with self.subTest(hosts=count), bed.Lab(text, hosts) as lab:
                self.probe_often(f"{count} hosts", text, lab, hosts)

    def test_again(self):
        text, hosts = SHAPES["star of 4, 1 Gbit/s"], [f"h{i}" for i in range(16)]
        on, joined = truth_of(text)
        del on["h5"]
        right, last = 0, ""
        for _ in range(OPTIONS.runs):
            with bed.Lab(text, hosts) as lab:
                found, _, _ = self.probe(lab, hosts[:9] + hosts[10:])
                before = pathlib.Path(lab.folder.name) / "before.json"
                (pathlib.Path(lab.folder.name) / "found.json").rename(before)
                again, _, said = self.probe(lab, hosts[:5] + hosts[6:], "--from", before)
            self.assertIn("14 of 15 hosts were known", said)
            self.assertLess(again[2]["counts"]["round_trips"], found[2]["counts"]["round_trips"] / 2, said)
            if groups(again[0]) == groups(on) and sides(again[0], again[1]) == sides(on, joined):
                right += 1
            else:
                last = said
        self.assertGreaterEqual(right, OPTIONS.share * OPTIONS.runs, last)

    def test_interrupted(self):
        text, hosts = SHAPES["star of 4, 1 Gbit/s"], [f"h{i}" for i in range(16)]
        with bed.Lab(text, hosts) as lab:
            for seconds in (3, 6, 12, 24):  # In the middle of round trips, on machines of any speed; if it has ended, nothing is lost.
                code, said, wrote = self.interrupt(lab, hosts, seconds)
                if "before anything was found" not in said:
                    break
            self.assertTrue(wrote, said)
            self.assertIn("interrupted" if code == 1 else "16 hosts on", said)

    def interrupt(self, lab, hosts, seconds):
        out, words = self.words(lab, hosts, "--pings", 1000)
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as process:
            time.sleep(seconds)
            # What a terminal does, but for the bed's own shell around it.
            for pid in bed.everybody():
                if bed.is_program(pid, OPTIONS.weft) and os.getpgid(pid) == process.pid:
                    os.kill(pid, signal.SIGINT)
            said = process.communicate(timeout=60)[0]
        return process.returncode, said, out.exists()


def main():
    global OPTIONS  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--hosts", type=lambda text: [int(word) for word in text.split(",")], default=[64])
    parser.add_argument("tests", nargs="*", metavar="shapes|many|again|interrupted")
    OPTIONS = parser.parse_intermixed_args()
    OPTIONS.weft = os.path.abspath(OPTIONS.weft)
    names = OPTIONS.tests or ("shapes", "many", "again", "interrupted")
    skip.run_unittests(["check_probe", *(f"Probe.test_{name}" for name in names)])


if __name__ == "__main__":
    sys.exit(main())
