#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that start later, and programs of a job that find each other. Usage: check_spawn.py WEFT [TEST...]"""
import itertools
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

WEFT = str(pathlib.Path(sys.argv[1]).resolve())
RAILS = {
    "shared memory": [],
    "no single copy": ["--no-single-copy"],
    "TCP": ["--no-shared-memory"],
    "TCP, protected": ["--no-shared-memory", "--protect", "all"],
    "managed": ["--no-shared-memory", "--connections", "managed,shortcuts=1"],
}
PROGRAMS = ("apart", "family", "ports", "refused", "repeat", "sockets", "universe", "waits")
UNSUPPORTED, SPAWN = 55, 53


class Spawn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-spawn-")
        cls.folder = pathlib.Path(cls.held.name)
        for name in PROGRAMS:
            subprocess.run([WEFT, "cc", "-O1", "-Wall", "-Wextra", "-Werror", str(HERE / f"{name}.c"), "-o", str(cls.folder / name)], check=True)
        # Remote shells for hosts that are all this one.
        shell = cls.folder / "shell"
        shell.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n', encoding="utf-8")
        shell.chmod(0o755)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def run_weft(self, *words, **environment):
        return subprocess.run([WEFT, *map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False, timeout=100,
                              env={**os.environ, **environment})

    def is_right(self, ranks, *words, rails=()):
        done = self.run_weft("run", "--quiet", "--timeout", "60s", *rails, "-n", ranks, *words)
        self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n"), f"{rails} {ranks} {words}: {done.stdout}{done.stderr}")

    def test_families(self):
        shapes = [(parents, children) for parents, children in itertools.product((1, 2, 4), (1, 3)) if (parents, children) != (4, 3)]
        for (name, rails), (parents, children) in itertools.product(RAILS.items(), shapes):
            with self.subTest(rails=name, parents=parents, children=children):
                self.is_right(parents, "./family", children, 1, rails=rails)

    def test_generations(self):
        for name, rails in RAILS.items():
            with self.subTest(rails=name):
                self.is_right(2, "./family", 2, 3, rails=rails)

    def test_several_programs(self):
        for name, rails in RAILS.items():
            with self.subTest(rails=name):
                self.is_right(3, "./family", 2, 1, "multiple", rails=rails)

    def test_hosts(self):
        hosts = ["--hosts", "h1:2,h2:2", "--rsh", self.folder / "shell"]
        for more in ([], ["--no-shared-memory"]):
            with self.subTest(more=more):
                self.is_right(4, "./family", 3, 2, rails=[*hosts, *more])
                self.is_right(4, "./ports", rails=[*hosts, *more])
                self.is_right(3, "./refused", rails=[*hosts, *more])

    def test_hosts_without_ranks(self):
        hosts = ["--hosts", "h1:1,h2:2,h3:1", "--rsh", self.folder / "shell"]
        for more in ([], ["--no-shared-memory"]):
            with self.subTest(more=more):
                self.is_right(1, "./family", 3, 2, rails=[*hosts, *more])
        shell = self.folder / "no-shell"
        shell.write_text('#!/bin/sh\n[ "$1" = h1 ] || { echo "no way to $1" >&2; exit 1; }\nshift\nexec sh -c "$*"\n', encoding="utf-8")
        shell.chmod(0o755)
        done = self.run_weft("run", "--hosts", "h1,h2", "--rsh", shell, "-n", 1, "./family", 1, 1)
        self.assertEqual(done.returncode, SPAWN, done.stderr)
        self.assertIn("MPI_Comm_spawn: processes cannot be started: host h2: no agent there: no way to h2", done.stderr)

    def test_universe(self):
        for hosts, said in (([], "universe unknown\n"), (["--hosts", "localhost:7"], "universe 7\n"), (["--hosts", "localhost:1"], "universe 2\n")):
            done = self.run_weft("run", *hosts, "-n", 2, "./universe")
            self.assertEqual((done.returncode, done.stdout), (0, said), done.stderr)

    def test_aborts(self):
        for name, rails in RAILS.items():
            with self.subTest(rails=name):
                done = self.run_weft("run", "--timeout", "60s", *rails, "-n", 2, "./apart", "abort")
                self.assertEqual((done.returncode, done.stdout), (9, ""), done.stderr)
                self.assertIn("rank 2: MPI_Abort with error code 9", done.stderr)
                done = self.run_weft("run", "--timeout", "60s", *rails, "-n", 2, "./apart", "exit")
                self.assertEqual((done.returncode, done.stdout), (6, ""), done.stderr)
                self.assertIn("rank 2 on host", done.stderr)

    def test_ports_and_names(self):
        for name, rails in RAILS.items():
            for ranks in (2, 3, 5):
                with self.subTest(rails=name, ranks=ranks):
                    self.is_right(ranks, "./ports", 5, rails=rails)

    def test_sockets(self):
        for name, rails in RAILS.items():
            with self.subTest(rails=name):
                self.is_right(2, "./sockets", rails=rails)

    def test_nothing_is_left_behind(self):
        for name, rails in RAILS.items():
            with self.subTest(rails=name):
                self.is_right(2, "./repeat", 20, rails=rails)

    def test_what_cannot_be_started(self):
        self.is_right(1, "./refused")
        self.is_right(3, "./refused")

    def test_the_end_waits_for_those_that_are_connected(self):
        for name, rails in RAILS.items():
            with self.subTest(rails=name):
                done = self.run_weft("run", "--quiet", "--timeout", "60s", *rails, "-n", 2, "./waits")
                self.assertEqual((done.returncode, done.stdout), (0, "the child has ended\nthe parents have ended\n"), done.stderr)

    def dies(self, how, *rails):
        done = self.run_weft("run", "--timeout", "60s", *rails, "-n", 2, "./apart", how)
        self.assertEqual(done.returncode, 137, f"{rails} {how}: {done.stdout}{done.stderr}")
        return done

    def test_death_of_children_and_parents(self):
        for name, rails in RAILS.items():
            with self.subTest(rails=name):
                for how in ("disconnected", "handled"):
                    done = self.dies(how, *rails)
                    self.assertEqual(done.stdout, "0 wrong\n", done.stderr)
                    self.assertIn("rank 2 on host", done.stderr)
                done = self.dies("connected", *rails)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"rank [01]: rank 2 is lost")
                self.assertEqual(self.dies("parent", *rails).stdout, "the child is there\n")

    def test_records_cover_the_first_ranks(self):
        done = self.run_weft("run", "--record", "record", "--events", "-n", 2, "./family", 2, 1)
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "0 wrong"), done.stderr)
        self.assertRegex(done.stderr + done.stdout, r"machine +1 hosts, 2 ranks\n")

    def test_labels_name_ranks_of_the_job(self):
        done = self.run_weft("run", "--label", "-n", 2, "./apart", "parent")
        self.assertIn("[2] the child is there\n", done.stdout)

    def test_elsewhere(self):
        done = subprocess.run(["./refused", str(SPAWN)], cwd=self.folder, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n"), done.stderr)
        done = self.run_weft("sim", "--quiet", "--payload", "full", "--net", "torus:4", "./refused", UNSUPPORTED)
        self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n"), done.stderr)
        done = self.run_weft("sim", "--quiet", "--net", "torus:4", "./family", 1, 1)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("MPI_Comm_spawn: unsupported operation: all ranks of a simulation start together", done.stderr)
        done = subprocess.run(["./repeat", "1"], cwd=self.folder, capture_output=True, text=True, check=False, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("only weft run can start further processes", done.stderr)

    def test_signals_reach_all(self):
        started = subprocess.Popen([WEFT, "run", "-n", "2", "./waits", "long"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = started.stdout.readline()
        self.assertRegex(line, r"process \d+\n")
        child = int(re.search(r"\d+", line).group(0))
        started.terminate()
        self.assertEqual(started.wait(20), 143)
        started.communicate()
        self.assertFalse(pathlib.Path(f"/proc/{child}").exists())


if __name__ == "__main__":
    skip.run_unittests([sys.argv[0], *sys.argv[2:]])
