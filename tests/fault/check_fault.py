#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user, the system or a full disk can do to `weft sim` in the middle of a run. Usage: check_fault.py WEFT [Faults] [Memory] [Workers]"""
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = sys.argv[1]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position


def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.folder.name)
        cls.program = str(cls.place / "endless")
        cls.hoarder = str(cls.place / "hoard")
        for source, program in (("endless.c", cls.program), ("hoard.c", cls.hoarder)):
            subprocess.run([WEFT, "cc", "-O1", str(HERE / source), "-o", program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class Faults(Case):
    def start(self, *arguments, options=()):
        self.out = self.place / self.id().rsplit(".", 1)[-1]
        run = subprocess.Popen(
            [WEFT, "sim", "--net", "torus:4x4", "--output", str(self.out), *options, self.program, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.clean_up, run)
        return run

    def clean_up(self, run):
        run.kill()
        run.communicate()

    def child_of(self, run):
        path = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
        for _ in range(200):
            for child in path.read_text(encoding="ascii").split():
                with contextlib.suppress(FileNotFoundError):  # It has ended: weft tries out in one what the machine lets a program do.
                    if os.readlink(f"/proc/{child}/exe") == self.program:
                        return int(child)
            time.sleep(0.05)
        return self.fail("the program was not started")

    def interrupt(self, run):
        self.child_of(run)
        time.sleep(1.0)
        os.killpg(run.pid, signal.SIGINT)  # As a terminal does.

    def test_interrupt_leaves_results_so_far(self):
        run = self.start()
        self.interrupt(run)
        _, told = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130, told)
        self.assertIn(b"interrupted, results cover the simulated part only", told)
        summary = json.loads((self.out / "summary.json").read_text(encoding="utf-8"))
        self.assertFalse(summary["complete"])
        self.assertEqual(summary["ending"], "interrupted")
        self.assertGreater(summary["program_time_ps"], 0)
        self.assertLess(summary["links"]["efficiency"], 1)
        self.assertGreater(summary["calls"]["MPI_Barrier"]["count"], 0)

    def test_request_to_end_is_an_interrupt(self):
        for request in (signal.SIGTERM, signal.SIGINT):  # To weft alone, as a batch system does.
            with self.subTest(request=request):
                run = self.start()
                self.child_of(run)
                time.sleep(1.0)
                run.send_signal(request)
                _, told = run.communicate(timeout=30)
                self.assertEqual(run.returncode, 130, told)
                self.assertTrue((self.out / "summary.json").exists())

    def test_crash_keeps_its_exit_code_beside_a_record(self):
        out = self.place / "crashed"
        run = subprocess.run([WEFT, "sim", "-q", "--net", "torus:4x4", "--record", str(out), self.program, "crash", "now"],
                             capture_output=True, check=False, timeout=60)
        self.assertEqual(run.returncode, 139, run.stderr)
        self.assertIn(b"rank 1 crashed", run.stderr)

    def test_only_records_are_cleared(self):
        def simulate(out):
            subprocess.run([WEFT, "sim", "-q", "--net", "torus:4x4", "--until", "5us", "--output", str(out), self.program],
                           capture_output=True, check=True, timeout=60)

        own = self.place / "own"
        (own / "trace").mkdir(parents=True)
        (own / "traffic.txt").write_text("mine", encoding="utf-8")
        (own / "trace" / "source.c").write_text("mine", encoding="utf-8")
        simulate(own)
        self.assertEqual((own / "traffic.txt").read_text(encoding="utf-8"), "mine")
        (own / "series.h5").write_text("of an earlier run", encoding="utf-8")
        simulate(own)
        self.assertFalse((own / "series.h5").exists())
        self.assertTrue((own / "trace" / "source.c").exists())

    def test_rank_without_calls_cannot_hold_us(self):
        run = self.start("compute")
        self.interrupt(run)
        time.sleep(0.5)
        os.killpg(run.pid, signal.SIGINT)
        _, told = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130, told)
        self.assertIn(b"interrupted inside a rank", told)

    def test_program_does_not_outlive_us(self):
        run = self.start()
        child = self.child_of(run)
        run.kill()
        run.communicate(timeout=30)
        for _ in range(100):
            if not os.path.exists(f"/proc/{child}"):
                return
            time.sleep(0.05)
        self.fail("the program runs on")

    def test_full_disk_is_told_and_leaves_no_part(self):
        out = self.place / "full"
        run = subprocess.run(
            [WEFT, "sim", "-q", "--net", "torus:4x4", "--until", "50us", "--output", str(out), self.program],
            capture_output=True, check=False, timeout=60, preexec_fn=limit_files)
        self.assertNotEqual(run.returncode, 0)
        self.assertRegex(run.stderr, rb"weft: error: cannot write .*(machine-used\.toml|summary\.json).: File too large")
        self.assertEqual(list(out.iterdir()), [])

    def test_killed_program_is_told(self):
        run = self.start()
        os.kill(self.child_of(run), signal.SIGKILL)
        _, told = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 1, told)
        self.assertRegex(told, rb"weft: error: .*endless was killed after it had used [\d.]+ MB: the machine "
                               rb"probably ran out of memory; use fewer ranks, ")


class Workers(Case):
    """Each command that has threads of its own, in less and less address space."""

    def commands(self):
        pairs = self.place / "pairs.txt"
        pairs.write_text("".join(f"{i} {(i * 7 + k) % 512} {1000 + k}\n" for i in range(512) for k in range(1, 9)), encoding="ascii")
        search = ["--traffic", str(pairs), "--threads", "3", "--evaluations", "60", "--tries", "3000"]
        points = ["--warmup", "500", "--measure", "500"]
        return {
            "map": ["map", "--net", "torus:8x8x8", *search],
            "map, simulated": ["map", "--net", "torus:8x8x8", *search, "--simulate", "--objective", "time"],
            "traffic, points": ["traffic", "--net", "torus:16x16", "--load", "0.05,0.1,0.15", "--jobs", "3", *points],
            "traffic, threads": ["traffic", "--net", "torus:32x32", "--load", "0.1", "--threads", "3", "--jobs", "1", *points],
        }

    def test_lack_of_memory_is_told(self):
        for name, words in self.commands().items():
            codes = []
            for megabytes in (*range(40, 240, 10), 4096):
                if codes[-2:] == [0, 0] and megabytes < 4096:
                    continue  # It has enough from here on.
                def limit(size=megabytes << 20):
                    resource.setrlimit(resource.RLIMIT_AS, (size, size))
                    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

                run = subprocess.run([WEFT, *words], capture_output=True, check=False, timeout=60, preexec_fn=limit)
                if b"error while loading shared libraries" in run.stderr or b"cannot allocate memory in static TLS" in run.stderr:
                    continue  # The system could not even begin.
                with self.subTest(name, megabytes=megabytes):
                    self.assertIn(run.returncode, (0, 1), run.stderr)
                    if run.returncode == 1:
                        self.assertRegex(run.stderr, rb"^weft: error: (out of memory|no further thread can be started): use fewer ")
                codes.append(run.returncode)
            self.assertEqual(set(codes), {0, 1}, name)


class Memory(Case):
    """A sanitizer needs more address space than this, and has its own way to refuse."""

    def run_with_little_memory(self, *arguments):
        run = subprocess.run([WEFT, "sim", "-q", "--net", "torus:4x4", *arguments],
                             capture_output=True, check=False, timeout=60, preexec_fn=limit_memory)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)
        return run.stderr

    def test_lack_of_memory_is_told(self):
        for threads in ("1", "2"):
            told = self.run_with_little_memory("--stack", "64KiB", "--threads", threads, self.hoarder)
            self.assertRegex(
                told, rb"^weft: error: out of memory for \d+ bytes more after [\d.]+ MB; use fewer ranks, ")

    def test_lack_of_address_space_is_told(self):
        told = self.run_with_little_memory("--stack", "1GiB", self.program)
        self.assertRegex(told, rb"^weft: error: no address space for 16 stacks of \d+ bytes: .*--stack")


if __name__ == "__main__":
    skip.run_unittests(["check_fault", *(sys.argv[2:] or ("Faults", "Memory", "Workers"))])
