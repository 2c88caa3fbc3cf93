#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated ranks that are processes of their own (weft sim --separate processes): the same times as in one process, Python, and every way
in which they end.

Usage: check_separate.py WEFT LIBMPI_ABI INCLUDE CC [TEST...]
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HALO = HERE.parent.parent / "examples/projects/python/halo.py"
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, LIBRARY, INCLUDE, CC = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
SEPARATE = ("--separate", "processes")
PYTHON = sys.executable


def why_no_mpi4py():
    """Why mpi4py cannot be tested, or nothing. One that uses another MPI library than weft's may stop the process that asks."""
    asked = subprocess.run([PYTHON, "-c", "import mpi4py.MPI, numpy; print(mpi4py.MPI.Get_library_version())"], capture_output=True, text=True,
                           check=False, timeout=60)
    return "" if asked.stdout.startswith("weft") else "Python has no mpi4py that is built for weft's library (docs/howto/python-programs.md says how)"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-separate-")
        cls.folder = pathlib.Path(cls.held.name)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def start(self, *words, **environment):
        return subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL)

    def said(self, *words):
        done = self.start(WEFT, "sim", *words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def left(self, name):
        """Processes that run this program."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if name in entry.read_bytes().decode(errors="replace").split("\0"):
                    found.append(entry.parent.name)
            except OSError:
                pass
        return found

    def assert_nothing_left(self, name):
        until = time.monotonic() + 5
        while self.left(name) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertEqual(self.left(name), [])


class Same(Case):
    """What a program does and how long it takes does not depend on where its ranks live."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([WEFT, "cc", "-O2", "-Wall", "-Wextra", HERE / "work.c", "-o", cls.folder / "work"], check=True)

    def both(self, *options):
        together = self.said("--payload", "full", *options, "./work")
        self.assertEqual(self.said(*SEPARATE, *options, "./work"), together, options)
        return together

    def test_networks(self):
        for options in (["--net", "torus:4", "-n", 4], ["--net", "torus:4x2", "-n", 8], ["--net", "fattree:k=4,levels=2", "-n", 7],
                        ["--net", "torus:4", "-n", 8, "--ranks-per-node", 2]):
            text = self.both(*options)
            self.assertIn("own state", text)

    def test_machines(self):
        self.both("--net", "preset:nsim-torus", "-n", 6)
        self.both("--net", "torus:4x2", "-n", 4, "--set", "node.rails=2")
        self.both("--net", "torus:4x2", "-n", 8, "--connections", "managed,shortcuts=1")
        self.both("--net", "torus:4", "-n", 4, "--coll", "alltoall=bruck,allreduce=ring")

    def test_repeats_with_any_number_of_workers(self):
        one = self.said(*SEPARATE, "--net", "torus:4x2", "./work")
        for _ in range(2):
            self.assertEqual(self.said(*SEPARATE, "--net", "torus:4x2", "--threads", 2, "./work"), one)

    def test_records(self):
        self.said("--payload", "full", "--net", "torus:4", "--record", "together", "./work")
        self.said(*SEPARATE, "--net", "torus:4", "--record", "separate", "./work")
        for name in ("ranks.csv", "calls.csv", "traffic.txt", "node_links.csv", "summary.json"):
            self.assertEqual((self.folder / "separate" / name).read_text(), (self.folder / "together" / name).read_text(), name)

    def test_binary_of_another_compiler(self):
        """Linked to the library of the standard ABI, without weft cc."""
        subprocess.run([CC, "-O1", f"-I{INCLUDE}", HERE / "work.c", "-o", self.folder / "plain", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
        options = ("--net", "torus:4")
        self.assertEqual(self.said(*SEPARATE, *options, "./plain").replace("plain", "work"), self.said("--payload", "full", *options, "./work"))


class Python(Case):
    def test_halo(self):
        words = ("--quiet", "--net", "torus:4x4", "-n", 16, PYTHON, HALO, LIBRARY)
        text = self.said(*SEPARATE, *words)
        ranks = [re.fullmatch(r"rank (\d+) of 16: sum ([\d.]+) in ([\d.]+) ns, virtual clock True", line) for line in text.splitlines()]
        self.assertTrue(all(ranks), text)
        self.assertEqual(sorted(int(one[1]) for one in ranks), list(range(16)))
        self.assertEqual({one[2] for one in ranks}, {f"{3000 * 120:.6f}"})
        self.assertTrue(all(0 < float(one[3]) < 1e6 for one in ranks), text)
        self.assertEqual(self.said(*SEPARATE, *words), text)

    def test_time_of_computing(self):
        words = ("--quiet", "--net", "torus:2", PYTHON, HALO, LIBRARY)
        spent = [float(one) for one in re.findall(r"in ([\d.]+) ns", self.said(*SEPARATE, "--compute", "measured", *words))]
        self.assertTrue(all(one > 1e5 for one in spent), spent)

    def test_through_a_shell(self):
        text = self.said(*SEPARATE, "--quiet", "--net", "torus:2", "sh", "-c", f"{PYTHON} {HALO} {LIBRARY} && echo done")
        self.assertEqual(len(re.findall("^rank", text, re.MULTILINE)), 2, text)
        self.assertEqual(text.count("done"), 2)

    def test_through_a_program_that_closes_descriptors(self):
        start = f"import subprocess, sys; sys.exit(subprocess.run(['{PYTHON}', '{HALO}', '{LIBRARY}']CLOSES).returncode)"
        kept = self.said(*SEPARATE, "--quiet", "--net", "torus:2", PYTHON, "-c", start.replace("CLOSES", ", close_fds=False"))
        self.assertEqual(len(re.findall("^rank . of 2", kept, re.MULTILINE)), 2, kept)
        done = self.start(WEFT, "sim", *SEPARATE, "--quiet", "--net", "torus:2", PYTHON, "-c", start.replace("CLOSES", ""))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the way to the simulator is closed", done.stderr)

    def test_threads_and_processes_beside_the_rank(self):
        text = self.said(*SEPARATE, "--quiet", "--net", "torus:2", PYTHON, HERE / "beside.py", LIBRARY)
        self.assertEqual(text.splitlines(), ["20 True echo [1, 2] 0"] * 2 + ["slept 2.000"] * 2)

    def test_input_is_the_first_ranks(self):
        (self.folder / "input").write_text("a line")
        words = [WEFT, "sim", *SEPARATE, "--quiet", "--label", "--net", "torus:2", PYTHON, "-c", "import sys; print('got', sys.stdin.read())"]
        with open(self.folder / "input", encoding="utf-8") as given:
            done = subprocess.run([str(word) for word in words], stdin=given, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] got a line", "[1] got "])

    def test_fails_before_mpi(self):
        done = self.start(WEFT, "sim", *SEPARATE, "--quiet", "--net", "torus:4", PYTHON, "-c", "import no_such_module")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no_such_module", done.stderr)
        self.assertIn("it ended with code 1 before it called MPI", done.stderr)


class Endings(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([WEFT, "cc", HERE / "bad.c", "-o", cls.folder / "bad-separate"], check=True)

    def ends(self, how, *options):
        done = self.start(WEFT, "sim", *SEPARATE, "--quiet", "--net", "torus:4", *options, "./bad-separate", how)
        self.assert_nothing_left("./bad-separate")
        return done.returncode, done.stderr

    def test_in_order(self):
        self.assertEqual(self.ends("fine"), (0, ""))

    def test_without_finalize(self):
        for how, code in (("exit", 5), ("return", 0), ("_exit", 6)):
            returned, error = self.ends(how)
            self.assertEqual(returned, code or 1, how)
            self.assertRegex(error, rf"rank 1 ended the job with code {code or 1} .*it ended with code {code} and without MPI_Finalize")

    def test_signals(self):
        for how, number in (("crash", signal.SIGSEGV), ("killed", signal.SIGKILL)):
            returned, error = self.ends(how)
            self.assertEqual(returned, 128 + number)
            self.assertRegex(error, rf"rank 1 ended the job .*it was ended by signal {int(number)} ")

    def test_abort(self):
        returned, error = self.ends("abort")
        self.assertEqual(returned, 9)
        self.assertIn("MPI_Abort with error code 9", error)

    def test_deadlock(self):
        returned, error = self.ends("deadlock")
        self.assertEqual(returned, 1)
        self.assertIn("rank 1 in MPI_Recv waits for a message from rank 0 with tag 4", error)

    def test_code_after_finalize(self):
        self.assertEqual(self.ends("after")[0], 3)

    def test_before_init(self):
        returned, error = self.ends("before-init")
        self.assertEqual(returned, 7)
        self.assertIn("it ended with code 7 before it called MPI", error)

    def test_no_mpi(self):
        returned, error = self.ends("no-mpi")
        self.assertEqual(returned, 1)
        self.assertIn("no rank called weft's MPI library", error)

    def test_interrupt(self):
        for number, wait_s in ((signal.SIGINT, 20), (signal.SIGKILL, 5)):
            with subprocess.Popen([WEFT, "sim", *SEPARATE, "--quiet", "--net", "torus:4", "./bad-separate", "spin"], cwd=self.folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
                until = time.monotonic() + 20
                while len(self.left("./bad-separate")) < 5 and time.monotonic() < until:
                    time.sleep(0.02)
                run.send_signal(number)
                _, error = run.communicate(timeout=wait_s)
            if number == signal.SIGINT:
                self.assertIn("interrupted", error)
                self.assertEqual(run.returncode, 130)
            self.assert_nothing_left("./bad-separate")

    def test_wrong_use(self):
        for words, code, text in ((["-n", "100000", "--net", "torus:100x1000"], 2, "at most 4096"), (["--payload", "none", "--net", "torus:4"], 2, "carry"),
                                  (["--net", "torus:4", "./no-such-program"], 3, "no such program")):
            done = self.start(WEFT, "sim", *SEPARATE, *words, "./bad-separate")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)
        (self.folder / "nothing").write_text("no program\n")
        (self.folder / "nothing").chmod(0o755)
        done = self.start(WEFT, "sim", *SEPARATE, "--net", "torus:2", "./nothing")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nothing cannot be started", done.stderr)


class Libraries(Case):
    """Shared libraries with variables: ranks of one process share them, with a warning; those of processes do not."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([CC, "-O1", "-shared", "-fPIC", HERE / "counter.c", "-o", cls.folder / "libcounter.so"], check=True)
        (cls.folder / "stateless.c").write_text("int count_call(void);\nint count_call(void) { return 1; }\n")
        subprocess.run([CC, "-O1", "-shared", "-fPIC", cls.folder / "stateless.c", "-o", cls.folder / "libstateless.so"], check=True)
        for name in ("counter", "stateless"):
            subprocess.run([WEFT, "cc", HERE / "counts.c", "-o", cls.folder / name, f"-L{cls.folder}", f"-l{name}", f"-Wl,-rpath,{cls.folder}", "-lm"],
                           check=True)

    def ranks(self, *words):
        done = self.start(WEFT, "sim", "--net", "torus:3", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        return [line for line in done.stdout.splitlines() if line.startswith("rank")], warnings

    def test_shared(self):
        lines, warnings = self.ranks("./counter")
        self.assertEqual([line[-1] for line in lines], ["1", "2", "3"])
        self.assertEqual(len(warnings), 1, warnings)
        self.assertRegex(warnings[0], r"all ranks share the variables of .*/libcounter.so \(8 bytes\); link it static \(.a\), or use --separate processes")
        self.assertEqual(self.ranks("--separate", "none", "./counter")[1], [])
        self.assertRegex(self.ranks("--quiet", "./counter")[1][0], "all ranks share the variables")  # Results would be wrong.

    def test_own(self):
        lines, warnings = self.ranks(*SEPARATE, "./counter")
        self.assertEqual(lines, [f"rank {rank}: call 1" for rank in range(3)])
        self.assertEqual(warnings, [])

    def test_without_variables(self):
        self.assertEqual(self.ranks("./stateless"), ([f"rank {rank}: call 1" for rank in range(3)], []))


class Mpi4py(Case):
    def test_halo(self):
        if reason := why_no_mpi4py():
            self.skipTest(reason)
        words = (PYTHON, HERE / "mpi4py_halo.py")
        text = self.said(*SEPARATE, "--quiet", "-n", 16, "--net", "torus:4x4", *words)
        self.assertRegex(text, r"16 ranks, 10 steps, sum [\d.]+, [\d.]+ us")
        done = self.start(WEFT, "run", "--quiet", "-n", 4, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 ranks, 10 steps", done.stdout)


if __name__ == "__main__":
    skip.run_unittests(["check_separate", *sys.argv[5:]])
