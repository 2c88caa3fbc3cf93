#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals and time limits end a job although nobody reads its output: every stream that can stall with every way to end.

Usage: check_stops.py WEFT PROBE LIBRARY_FOLDER [CLASS...]
"""
import fcntl
import os
import pathlib
import re
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from check_run_support import bed, Job, NETLAB, WEFT, main, wait_until

HERE = pathlib.Path(__file__).resolve().parent
# The promise is 2 s, which the target `stops` checks on an idle machine; a loaded one may take longer for reasons of its own.
END_S_MAX = float(os.environ.get("WEFT_TEST_END_S", "20"))
DROPPED = re.compile(r"nobody read the output: [0-9.]+ [kMG]?i?B dropped")


class Readers:
    """The other ends of a job's output: each is read, stalled (full and never read) or closed."""

    def __init__(self, out, err):
        self.ends, self.given = {}, {}
        same = None
        for name, how in (("stdout", out), ("stderr", err)):
            if how == "same":  # 2>&1
                self.given[name], self.ends[name] = same
                continue
            if how == "terminal":
                read, write = pty.openpty()
            else:
                read, write = os.pipe()
            if how == "closed":
                os.close(read)
                read = -1
            self.given[name], self.ends[name] = write, (how, read)
            same = (write, self.ends[name])

    def handed_over(self):
        for descriptor in set(self.given.values()):
            os.close(descriptor)

    def text(self, name):
        """What stands in the pipe, after the job has ended."""
        how, read = self.ends[name]
        if how == "closed":
            return ""
        os.set_blocking(read, False)
        text = b""
        try:
            while part := os.read(read, 1 << 16):
                text += part
        except (BlockingIOError, OSError):
            pass
        return text.decode(errors="replace")

    def close(self):
        for descriptor in {read for _, read in self.ends.values() if read >= 0}:
            os.close(descriptor)

    def stalled(self, name):
        """Whether the pipe is as full as it gets."""
        how, read = self.ends[name]
        if how in ("read", "closed"):
            return True
        before = waiting_bytes(read)
        time.sleep(0.3)
        return 0 < before == waiting_bytes(read)


def waiting_bytes(descriptor):
    buffer = bytearray(4)
    fcntl.ioctl(descriptor, 0x541B, buffer)  # FIONREAD
    return int.from_bytes(buffer, sys.byteorder)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = pathlib.Path(cls.folder.name)
        cls.chatty = str(cls.place / "chatty")
        subprocess.run([WEFT, "cc", "-O1", str(HERE / "chatty.c"), "-o", cls.chatty], check=True)

    def start(self, readers, words):
        job = Job(words, stdout=readers.given["stdout"], stderr=readers.given["stderr"])
        self.addCleanup(job.__exit__)
        self.addCleanup(readers.close)
        readers.handed_over()
        return job

    def end_by(self, job, readers, number):
        """Sends the signal once the output stalls; the job has to end in time."""
        for name in ("stdout", "stderr"):
            self.assertTrue(wait_until(lambda: readers.stalled(name) or job.process.poll() is not None, 30), name)
        begun = time.monotonic()
        if number:
            job.process.send_signal(number)
        try:
            job.process.wait(60)
        except subprocess.TimeoutExpired:
            self.fail("does not end")
        took = time.monotonic() - begun
        self.assertTrue(wait_until(lambda: not job.left(), 5), job.left())
        return took


STREAMS = {  # What the program prints to, and the readers of both streams.
    "stdout stalled": ("out", "stalled", "read"),
    "stderr stalled": ("err", "read", "stalled"),
    "both stalled": ("both", "stalled", "stalled"),
    "both in one pipe": ("both", "stalled", "same"),
    "a stopped terminal": ("both", "terminal", "same"),
    "stdout closed": ("err", "closed", "stalled"),
    "stderr closed": ("out", "stalled", "closed"),
}


class Run(Case):
    before = ()

    def walk(self, words, number, code, then=""):
        for name, (where, out, err) in STREAMS.items():
            with self.subTest(name):
                readers = Readers(out, err)
                job = self.start(readers, [WEFT, "run", "-n", "2", *self.before, *words, self.chatty, where, then])
                took = self.end_by(job, readers, number)
                self.assertEqual(job.process.returncode, code)
                if number:
                    self.assertLess(took, END_S_MAX)
                if err == "read":
                    self.assertEqual(len(DROPPED.findall(readers.text("stderr"))), 1)

    def test_interrupt(self):
        self.walk([], signal.SIGINT, 130)

    def test_terminate(self):
        self.walk([], signal.SIGTERM, 143)

    def test_hang_up(self):
        self.walk([], signal.SIGHUP, 129)

    def test_programs_that_ignore_signals(self):
        self.walk([], signal.SIGTERM, 143, "ignore")

    def test_time_limit(self):
        for name, (where, out, err) in STREAMS.items():
            with self.subTest(name):
                readers = Readers(out, err)
                begun = time.monotonic()
                job = self.start(readers, [WEFT, "run", "-n", "2", *self.before, "--timeout", "1500ms", self.chatty, where])
                try:
                    job.process.wait(60)
                except subprocess.TimeoutExpired:
                    self.fail("does not end")
                self.assertEqual(job.process.returncode, 124)
                self.assertLess(time.monotonic() - begun, 1.5 + END_S_MAX)
                if err == "read":
                    text = readers.text("stderr")
                    self.assertIn("its limit (--timeout): ended", text)
                    self.assertEqual(len(DROPPED.findall(text)), 1)
                self.assertTrue(wait_until(lambda: not job.left(), 5), job.left())

    def failed(self, then, number_of_programs_left=0):
        """A failed job ends its ranks; what they printed waits for its reader, as a program's would, until a signal says otherwise."""
        for name, (where, out, err) in STREAMS.items():
            with self.subTest(name):
                readers = Readers(out, err)
                job = self.start(readers, [WEFT, "run", "-n", "3", *self.before, "--grace", "300ms", self.chatty, where, then])
                self.assertTrue(wait_until(lambda: len(job.left(self.chatty)) == 3, 30))
                self.assertTrue(wait_until(lambda: len(job.left(self.chatty)) == number_of_programs_left, 30))
                if err == "read":
                    time.sleep(0.5)
                    self.assertRegex(readers.text("stderr"), "rank 0 on host .* (was ended by signal 9|.*MPI_Abort)")
                took = self.end_by(job, readers, signal.SIGTERM)
                self.assertLess(took, END_S_MAX)
                self.assertIn(job.process.returncode, (143, 137, 7))

    def test_rank_that_dies(self):
        self.failed("die")

    def test_abort(self):
        self.failed("abort")

    def test_reader_that_wakes_up_gets_all(self):
        readers = Readers("stalled", "read")
        job = self.start(readers, [WEFT, "run", "-n", "2", *self.before, self.chatty, "out", "end"])
        self.assertTrue(wait_until(lambda: readers.stalled("stdout"), 30))
        time.sleep(1)
        lines = 0
        with os.fdopen(os.dup(readers.ends["stdout"][1]), "rb") as text:
            lines = sum(line.startswith(b"rank ") for line in text)
        self.assertEqual((job.process.wait(60), lines), (0, 40000))


class Recorded(Case):
    """What nobody read is in the record."""

    def test_record_has_what_was_dropped(self):
        out = self.place / "record"
        readers = Readers("stalled", "read")
        job = self.start(readers, [WEFT, "run", "-n", "2", "--record", str(out), "--record-output", self.chatty, "out"])
        self.assertLess(self.end_by(job, readers, signal.SIGTERM), END_S_MAX)
        self.assertEqual(job.process.returncode, 143)
        log = (out / "program-output.txt").read_text(encoding="utf-8")
        shown = readers.text("stdout")
        self.assertGreater(len(log), len(shown))
        self.assertTrue(all(line in log for line in shown.splitlines()[:100]))

    def test_stalled_summary(self):
        out = self.place / "record-of-both"
        readers = Readers("stalled", "stalled")
        job = self.start(readers, [WEFT, "run", "-n", "2", "--record", str(out), "--record-output", self.chatty, "both"])
        self.assertLess(self.end_by(job, readers, signal.SIGINT), END_S_MAX)
        self.assertEqual(job.process.returncode, 130)


@unittest.skipIf(bed.missing(), bed.missing())
class Hosts(Run):
    """The same with agents behind a remote shell."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lab = f"weft-stops-{os.getpid()}"
        (cls.place / "lab").write_text("switch s0\nhost h[0-1] on s0\n", encoding="utf-8")
        os.environ["NETLAB"] = lab
        cls.addClassCleanup(subprocess.run, [NETLAB, "-l", lab, "down"], check=True, capture_output=True)
        subprocess.run([NETLAB, "-l", lab, "up", str(cls.place / "lab")], check=True, capture_output=True)
        cls.before = ("--rsh", f"{NETLAB} rsh", "--hosts", "h0,h1")

    def test_host_that_stopped_answering(self):
        readers = Readers("stalled", "read")
        job = self.start(readers, [WEFT, "run", "-n", "2", *self.before, self.chatty, "out"])
        self.assertTrue(wait_until(lambda: len(job.left(self.chatty)) == 2, 30))
        shells = job.children(job.process.pid)
        for shell in shells:
            os.kill(shell, signal.SIGSTOP)
        self.assertLess(self.end_by(job, readers, signal.SIGTERM), END_S_MAX)
        self.assertEqual(job.process.returncode, 143)


class Sim(Case):
    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for name, (where, out, err) in STREAMS.items():
                for threads in ("1", "2"):
                    with self.subTest(name, number=number, threads=threads):
                        readers = Readers(out, err)
                        job = self.start(readers, [WEFT, "sim", "--net", "torus:2x2", "--threads", threads, self.chatty, where])
                        took = self.end_by(job, readers, number)
                        self.assertLess(took, END_S_MAX)
                        self.assertIn(job.process.returncode, (130, 143))
                        if err == "read":
                            self.assertEqual(len(DROPPED.findall(readers.text("stderr"))), 1)


if __name__ == "__main__":
    main("check_stops")
