#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Strangers hold connections to every rank of a job while its ranks connect late. The job ends with right answers.

Usage: check_strangers.py WEFT [idle] [half] [garbage] [elsewhere] [descriptors] [live] [--cost [--rounds N]]
--cost compares the time of a running job with and without a stranger that holds 10,000 connections. The job has all processors but one,
which is the stranger's: elsewhere it would have its own, too.
"""
import argparse
import contextlib
import multiprocessing
import os
import pathlib
import re
import resource
import select
import socket
import statistics
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "bed")]
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

RANKS = 4
MANY = 10_000
DONE = re.compile(r"rounds took ([\d.]+) s, processor time ([\d.]+) s, wrong (\d+)")
PAGE = re.compile(r"http://127\.0\.0\.1:\d+/")
OPTIONS = None
PROCESSORS = sorted(os.sched_getaffinity(0))


def doors(ranks):
    """Addresses where processes listen."""
    found = []
    for pid in ranks:
        links = []
        with contextlib.suppress(OSError):
            links = [os.readlink(entry) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
        for line in pathlib.Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in links:
                address, port = words[1].split(":")
                found.append((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


class Stranger:
    """Holds `count` connections, and opens one again when it is closed, `again` of them a second at most."""

    def __init__(self, places, count, manner, again):
        self.places, self.count, self.manner, self.again = places, count, manner, again
        self.calls, self.held, self.poll = 0, {}, select.epoll()

    def call(self):
        self.calls += 1
        one = socket.socket()
        one.setblocking(False)
        try:
            if self.manner == "elsewhere":
                one.bind((f"127.77.{self.calls // 250 % 250}.{self.calls % 250 + 1}", 0))
            one.connect(self.places[self.calls % len(self.places)])
        except BlockingIOError:
            pass
        except OSError:
            one.close()
            return
        self.held[one.fileno()] = one
        self.poll.register(one.fileno(), select.EPOLLIN | (select.EPOLLOUT if self.manner in ("half", "garbage") else 0))

    def hear(self, number, events):
        one = self.held[number]
        try:
            if events & select.EPOLLOUT:
                one.send(os.urandom(40 if self.manner == "half" else 4096))
                self.poll.modify(number, select.EPOLLIN)
            if not events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR) or one.recv(4096):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.poll.unregister(number)
        self.held.pop(number).close()

    def run(self, ready):
        if OPTIONS.cost:
            os.sched_setaffinity(0, PROCESSORS[-1:])
        else:
            os.nice(19)  # Elsewhere it would have a processor of its own.
        begin, first = time.monotonic(), self.count
        while True:
            allowed = first + int(self.again * (time.monotonic() - begin))
            for _ in range(min(self.count - len(self.held), allowed - self.calls, 200)):
                self.call()
            for number, events in self.poll.poll(0.01):
                if number in self.held:
                    self.hear(number, events)
            ready.value = self.calls


@contextlib.contextmanager
def stranger(pids, count, manner, again=100_000):
    limit = count + 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, HARD), HARD))
    places = doors(pids)
    calls = multiprocessing.Value("q", 0)
    process = multiprocessing.Process(target=Stranger(places, count, manner, again).run, args=(calls,), daemon=True)
    process.start()
    try:
        bed.wait_until(lambda: calls.value >= count, 60)
        yield places, calls
    finally:
        process.kill()
        process.join()


HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]


class Strangers(unittest.TestCase):
    def setUp(self):
        if HARD < MANY + 200:
            self.skipTest(f"{MANY} connections need a limit of {MANY + 200} descriptors (ulimit -Hn), here it is {HARD}")
        self.folder = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(self.folder.cleanup)
        self.program = bed.build(OPTIONS.weft, HERE / "late.c", self.folder.name)

    def start(self, *words, limit=1024):
        own = ["taskset", "-c", ",".join(map(str, PROCESSORS[:-1]))] if OPTIONS.cost else []
        command = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *own, OPTIONS.weft, "run", "-n", str(RANKS), "--no-shared-memory", "--rails", "127.0.0.1",
                   "--lost-after", "3s", self.program, *words]
        job = bed.Job(command, self.program)
        job.__enter__()
        self.addCleanup(job.__exit__, None, None, None)
        self.assertTrue(bed.wait_until(lambda: "begun" in job.text() or job.process.poll() is not None, 30), "does not begin: " + job.text())
        return job

    def result(self, job, what):
        self.assertTrue(bed.wait_until(lambda: job.process.poll() is not None, 120), f"{what}: runs on\n{job.text()}")
        found = DONE.search(job.text())
        self.assertEqual(job.process.returncode, 0, f"{what}\n{job.text()}")
        self.assertIsNotNone(found, f"{what}\n{job.text()}")
        self.assertEqual(found[3], "0", f"{what}: wrong bytes")
        return float(found[1]), float(found[2])

    def late(self, manner, count, limit=1024):
        job = self.start("5", "20", "30000", limit=limit)
        with stranger(job.ranks(), count, manner) as (places, calls):
            self.assertEqual(len(places), RANKS, "ranks that listen")
            took, _ = self.result(job, f"{count} {manner}")
            print(f"{count} connections, {manner}: {calls.value} calls, rounds took {took:.2f} s", flush=True)

    def test_idle(self):
        """Ranks compute for longer than --lost-after while strangers fill places and queues."""
        for count in (300 * RANKS, MANY):
            self.late("idle", count)

    def test_half(self):
        """Strangers begin an answer and never end it."""
        self.late("half", MANY)

    def test_garbage(self):
        """Strangers answer nonsense, are sent away, and call again."""
        self.late("garbage", MANY)

    def test_elsewhere(self):
        """Strangers call from thousands of addresses at which no rank is."""
        self.late("elsewhere", MANY)

    def test_descriptors(self):
        """Ranks with few descriptors."""
        self.late("idle", MANY, limit=40)

    def test_live(self):
        """Strangers at the page server of a simulation with few descriptors, which still can write its record."""
        if reason := skip.without_parts(OPTIONS.weft, "cpp-httplib", "page template"):
            self.skipTest(reason)
        record = pathlib.Path(self.folder.name) / "record"
        command = ["sh", "-c", 'ulimit -n 128; exec "$@"', "sh", OPTIONS.weft, "sim", "--net", "torus:2x2", "-n", str(RANKS), "--payload", "full", "--live",
                   "--record", record, self.program, "2", "5", "1000"]
        job = bed.Job(command, self.program)
        self.addCleanup(job.__exit__, None, None, None)
        self.assertTrue(bed.wait_until(lambda: PAGE.search(job.text()) or job.process.poll() is not None, 30), job.text())
        with stranger([job.process.pid], MANY // 10, "idle"):
            self.assertTrue(bed.wait_until(lambda: job.process.poll() is not None, 60), f"runs on\n{job.text()}")
        self.assertEqual(job.process.returncode, 0, job.text())
        self.assertEqual(DONE.search(job.text())[3], "0", job.text())
        self.assertTrue(any(record.iterdir()), "no record")

    def doors_share(self, job):
        """Of a processor, for all threads that answer callers, until the job ends."""
        samples = []
        tasks = [path for pid in job.ranks() for path in pathlib.Path(f"/proc/{pid}/task").glob("*")
                 if (path / "comm").read_text(encoding="ascii").strip() == "weft-callers"]
        while job.process.poll() is None:
            used = 0
            for task in tasks:
                with contextlib.suppress(OSError):
                    used += int((task / "schedstat").read_text(encoding="ascii").split()[0])
            samples.append((time.monotonic(), used))
            time.sleep(0.5)
        samples = [sample for sample in samples if sample[1] > 0]
        return (samples[-3][1] - samples[0][1]) / 1e9 / (samples[-3][0] - samples[0][0])

    def cost(self):
        """Alternating runs with and without 10,000 idle connections, which are opened again as fast as 100 a second."""
        if len(PROCESSORS) < 2:
            self.skipTest("needs a processor for the job and one for the stranger")
        times, shares = {"alone": [], "stranger": []}, []
        for _ in range(OPTIONS.rounds):
            for which in times:
                job = self.start("3", "8000", "30000")
                with stranger(job.ranks(), MANY, "idle", 100) if which == "stranger" else contextlib.nullcontext():
                    if which == "stranger":
                        shares.append(self.doors_share(job))
                    times[which].append(self.result(job, which))
        wall, busy = ({which: statistics.median(run[i] for run in runs) for which, runs in times.items()} for i in (0, 1))
        for name, value in (("time", wall), ("processor time", busy)):
            print(f"{name}: alone {value['alone']:.3f} s, with {MANY} connections {value['stranger']:.3f} s "
                  f"({100 * (value['stranger'] / value['alone'] - 1):+.1f} %)", flush=True)
        print(f"threads that answer callers: {100 * statistics.median(shares):.2f} % of a processor for all {RANKS} ranks", flush=True)


def main():
    global OPTIONS  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("what", nargs="*")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    OPTIONS = parser.parse_intermixed_args()
    OPTIONS.weft = os.path.abspath(OPTIONS.weft)
    names = ["cost"] if OPTIONS.cost else [f"test_{what}" for what in OPTIONS.what or ("idle", "half", "garbage", "elsewhere", "descriptors", "live")]
    skip.run_unittests(["check_strangers", *(f"Strangers.{name}" for name in names)])


if __name__ == "__main__":
    sys.exit(main())
