#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Corners of MPI behave alike in the simulator, with real processes, and in a program that runs alone.

Usage: check_worlds.py WEFT [TEST...]
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
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT = pathlib.Path(sys.argv[1]).resolve()
SIM = ["sim", "--quiet", "--payload", "full", "--net", "torus:4"]
# Name, words before the program. A record makes calls take the general path.
WORLDS = {"sim": SIM, "sim, two threads": [*SIM, "--threads", "2"], "run": ["run", "--quiet"], "run, recorded": ["run", "--quiet", "--record", "record"]}


class Worlds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-worlds-")
        cls.folder = pathlib.Path(cls.held.name)
        for source in HERE.glob("*.c"):
            subprocess.run([WEFT, "cc", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(cls.folder / source.stem), "-pthread"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def start(self, words, **environment):
        return subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, **environment})

    def said(self, world, ranks, *program):
        subprocess.run(["rm", "-rf", "record"], cwd=self.folder, check=True)
        done = self.start([WEFT, *WORLDS[world], "-n", ranks, *program])
        self.assertEqual(done.returncode, 0, f"{world}: {done.stdout}{done.stderr}")
        return done.stdout

    def test_receives_say_the_same(self):
        expected = (HERE / "edges.txt").read_text(encoding="utf-8")
        for world in WORLDS:
            self.assertEqual(self.said(world, 2, "./edges"), expected, world)

    def test_counts_that_overflow_are_refused(self):
        for world in WORLDS:
            lines = sorted(self.said(world, 4, "./counts").splitlines())
            self.assertEqual(lines, [f"rank {rank}: 0 wrong" for rank in range(4)], world)

    def test_failures_where_nobody_fails(self):
        for world in WORLDS:
            lines = sorted(self.said(world, 4, "./failures").splitlines())
            self.assertEqual(lines, [f"rank {rank}: 0 wrong" for rank in range(4)], world)

    def test_objects_from_before_the_start_stay(self):
        for world in WORLDS:
            lines = sorted(self.said(world, 3, "./early").splitlines())
            self.assertEqual(lines, [f"rank {rank}: 0 wrong" for rank in range(3)], world)
        self.assertEqual(self.start(["./early"]).stdout, "rank 0: 0 wrong\n")

    def nodes(self, *words):
        """Where the ranks of a simulation were."""
        subprocess.run(["rm", "-rf", "maps"], cwd=self.folder, check=True)
        done = self.start([WEFT, "sim", "--quiet", "--payload", "full", "--net", "torus:4x4", "--record", "maps", *words, "./early"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(line.split(",")[1]) for line in (self.folder / "maps/ranks.csv").read_text(encoding="utf-8").splitlines()[1:]]

    def hosts(self, *words):
        """By rank, its host, with an agent for each name on this one."""
        shell = self.folder / "shell"
        shell.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n', encoding="utf-8")
        shell.chmod(0o755)
        done = self.start([WEFT, "run", "--verbose", "--hosts", "h0:2,h1:2,h2:2", "--rsh", shell, *words, "./early"])
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.findall(r"host (h\d) has ranks? ([\d ]+)", done.stderr)
        return [name for _, name in sorted((int(rank), name) for name, ranks in found for rank in ranks.split())]

    def test_random_maps(self):
        for where, places in ((self.nodes, list(range(16))), (self.hosts, ["h0", "h0", "h1", "h1", "h2", "h2"])):
            self.assertEqual(where(), places)
            drawn = {seed: where("--map", f"random:{seed}") for seed in (1, 2, 3)}
            self.assertEqual([sorted(map_) for map_ in drawn.values()], [places] * 3)
            self.assertGreater(len({str(map_) for map_ in (places, *drawn.values())}), 2)
            self.assertEqual(where("--map", "random"), drawn[1])
        shared = self.nodes("--map", "random:2", "--ranks-per-node", "3", "-n", "40")
        self.assertEqual((len(shared), max(shared.count(node) for node in shared)), (40, 3))
        for words in (["sim", "--net", "torus:4x4"], ["run", "-n", "2"]):
            done = self.start([WEFT, *words, "--map", "random:x", "./early"])
            self.assertIn("map 'random:x' must look like random or random:7", done.stderr)
        # A search that starts at this map, and the same one by its name, are of one value.
        self.nodes("--map", "random:5")
        done = self.start([WEFT, "map", "maps", "--evaluate", "random:5"])
        self.assertRegex(done.stdout, r"(?m)^hop-bytes .* 0 % ")

    def all_right(self, ranks, *program):
        """In every world, and alone."""
        for world in WORLDS:
            lines = sorted(self.said(world, ranks, *program).splitlines())
            self.assertEqual(lines, [f"rank {rank}: 0 wrong" for rank in range(ranks)], f"{world}: {program}")
        done = self.start(program)
        self.assertEqual((done.returncode, done.stdout), (0, "rank 0: 0 wrong\n"), f"alone: {program} {done.stderr}")

    def test_sessions(self):
        for when in ("never", "before", "between"):
            self.all_right(4, "./sessions", when)

    def test_sessions_over_managed_connections(self):
        """A rank that has ended its sessions still passes on what others send over it."""
        for when in ("never", "between"):
            for words in ([*SIM, "-n", "4", "--connections", "managed,max=2"],
                          ["run", "--quiet", "-n", "4", "--no-shared-memory", "--connections", "managed,max=2"]):
                done = self.start([WEFT, *words, "./sessions", when])
                self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, [f"rank {rank}: 0 wrong" for rank in range(4)]), done.stderr)

    def test_a_session_without_an_end_is_told(self):
        for words in (SIM, ["run", "--quiet"]):
            done = self.start([WEFT, *words, "-n", "2", "./open_session"])
            self.assertNotEqual(done.returncode, 0, words)
            self.assertRegex(done.stderr, "MPI_Session_finalize|without leaving the job|is lost", words)

    def test_a_session_that_handles_errors_outlives_a_rank(self):
        done = self.start([WEFT, "run", "--quiet", "-n", "3", "./lost_session", "return"])
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (137, ["rank 0 is told", "rank 2 is told"]), done.stderr)
        done = self.start([WEFT, "run", "--quiet", "-n", "3", "./lost_session", "fatal"])
        self.assertEqual((done.returncode, done.stdout), (137, ""), done.stderr)
        self.assertRegex(done.stderr, "^weft run: rank 1 on host .* was ended by signal 9")

    def test_partitioned_messages(self):
        for ranks in (1, 2, 4):
            self.all_right(ranks, "./partitioned")

    def test_threads_hand_over_partitions(self):
        for way in ([], ["--no-shared-memory"]):
            for ranks in (1, 3):
                done = self.start([WEFT, "run", "--quiet", "--timeout", "60s", "-n", ranks, *way, "./ready_threads"])
                self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, [f"rank {rank}: 0 wrong" for rank in range(ranks)]), done.stderr)

    def test_buffers_and_splits(self):
        self.all_right(4, "./buffers")

    def test_tool_interface(self):
        self.all_right(3, "./tool")

    def test_what_is_absent_says_so(self):
        for world in ("sim", "sim, two threads"):
            self.assertEqual(sorted(self.said(world, 2, "./absent").splitlines()), ["rank 0: 0 wrong", "rank 1: 0 wrong"])
        done = self.start([WEFT, *SIM, "-n", "1", "./absent_fatal"])
        self.assertIn("MPI_Comm_spawn: unsupported operation: all ranks of a simulation start together; weft run can start more", done.stderr)

    def test_files(self):
        """The same program writes the same file in every world, whoever aggregates."""
        for ranks in (1, 3, 4):
            for hints in ("automatic", "enable", "disable"):
                self.all_right(ranks, "./files", hints)
        written = set()
        for world in WORLDS:
            self.said(world, 4, "./files", "automatic", "kept")
            written.add((self.folder / "kept").read_bytes())
        self.assertEqual([len(bytes_) for bytes_ in written], [4 * 4 * 6 * 10 * 4])

    def test_files_of_several_hosts(self):
        """Ranks that share no memory share the file system."""
        for words in (["--no-shared-memory"], ["--hosts", "h0:2,h1:2", "--rsh", self.folder / "shell"]):
            shell = self.folder / "shell"
            shell.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n', encoding="utf-8")
            shell.chmod(0o755)
            done = self.start([WEFT, "run", "--quiet", "-n", "4", *words, "./files", "enable"])
            self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, [f"rank {rank}: 0 wrong" for rank in range(4)]), done.stderr)

    def test_servers_of_files(self):
        """They are part of the machine: what they take and what a file holds does not depend on who simulates it."""
        said = set()
        servers = ["--set", "storage.servers=2", "--set", "storage.stripe=512 B", "--set", "storage.latency=3 us"]
        for threads in (1, 2, 4):
            done = self.start([WEFT, "sim", "--payload", "full", "--net", "torus:4x4", *servers, "--threads", threads, "-n", "5", "./files", "automatic", "kept"])
            self.assertEqual((done.returncode, done.stderr.count("not so")), (0, 0), done.stderr)
            facts = re.findall(r"(?m)^(files|program time|packets|message latency|waiting per rank) +(.*)$", done.stdout + done.stderr)
            said.add((tuple(facts), (self.folder / "kept").read_bytes()))
        self.assertEqual(len(said), 1, said)
        facts = dict(next(iter(said))[0])
        self.assertEqual(facts["files"], "2 servers, stripes of 512 B, disks of 2 GB/s and 3 us per stripe")
        done = self.start([WEFT, "sim", "--net", "torus:4x4", "-n", "5", "./files"])
        self.assertIn("no servers ([storage]): their bytes cost a copy in memory", done.stdout + done.stderr)
        done = self.start([WEFT, "sim", "--net", "torus:4x4", "--set", "storage.nodes=[16]", "-n", "5", "./files"])
        self.assertIn("nodes of servers must lie in 0 to 15", done.stderr)

    def test_a_file_that_cannot_be_is_told(self):
        for words in (SIM, ["run", "--quiet"]):
            done = self.start([WEFT, *words, "-n", "2", "./files_fatal", "no/such/folder/file"])
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn("MPI_File_open: no such file: 'no/such/folder/file': No such file or directory", done.stderr)

    def test_thread_levels_hold(self):
        names = ("single", "funneled", "serialized", "multiple")
        for world in (*WORLDS, "alone"):
            most, clock = (3, "one clock 1, tick ps") if "sim" in world else (2 if world == "alone" else 3, f"one clock {int(world == 'alone')}, tick ns")
            for wanted in range(4):
                text = self.start(["./threads", wanted]).stdout if world == "alone" else self.said(world, 2, "./threads", wanted)
                self.assertEqual(text, f"level {names[min(wanted, most)]}, {clock}\n", f"{world}, {names[wanted]}")

    def test_many_threads_at_once(self):
        """In every way that messages take, with more threads than cores."""
        ways = ([], ["--no-single-copy"], ["--no-shared-memory"], ["--no-shared-memory", "--protect", "off", "--set", "messages.split=equal"],
                ["--no-shared-memory", "--connections", "managed,shortcuts=1"], ["--record", "record", "--events"])
        for way in ways:
            for threads, ranks in ((1, 3), (2, 2), (4, 3), (8, 2)):
                subprocess.run(["rm", "-rf", "record"], cwd=self.folder, check=True)
                done = self.start([WEFT, "run", "--quiet", "--timeout", "60s", "-n", ranks, *way, "./many_threads", threads, 16, threads])
                self.assertEqual((done.returncode, done.stdout), (0, f"{threads} threads right\n"), f"{way}: {done.stdout}{done.stderr}")

    def test_a_rank_with_threads_ends(self):
        """However it does, all others end with a word about it."""
        for way in ([], ["--no-shared-memory"], ["--no-shared-memory", "--connections", "managed,max=2"]):
            for how, said in (("kill", "rank 1 is lost|ended by signal 9"), ("abort", "MPI_Abort with error code 7"), ("exit", "rank 1 is lost|without leaving")):
                done = self.start([WEFT, "run", "--quiet", "--timeout", "60s", "-n", 4, *way, "./threads_end", how])
                self.assertNotEqual(done.returncode, 0, f"{way} {how}")
                self.assertRegex(done.stderr, said, f"{way} {how}")
                self.assertNotIn("--timeout", done.stderr, f"{way} {how}")

    def test_threads_of_a_relay(self):
        """Two groups of two: the first rank reaches the last over others, and all of them have threads."""
        done = self.start([WEFT, "run", "--quiet", "--timeout", "60s", "-n", 4, "--no-shared-memory", "--connections", "managed,max=2",
                           "./many_threads", 3, 12])
        self.assertEqual((done.returncode, done.stdout), (0, "3 threads right\n"), done.stderr)

    def test_who_waits_for_a_time_is_told(self):
        """Computing takes no time in a simulation unless asked to, and a program that runs for a minute would run for hours."""
        for words, hints in ((["--payload", "full"], 1), (["--payload", "full", "--compute", "measured"], 0)):
            with subprocess.Popen([WEFT, "sim", "--net", "torus:4", *words, "./until"], cwd=self.folder, stderr=subprocess.PIPE, text=True) as run:
                time.sleep(4)
                run.send_signal(signal.SIGTERM)
                said = run.communicate(timeout=60)[1]
            self.assertEqual(said.count("let its computing take time (--compute measured)"), hints, said)

    def test_a_foreign_thread_is_told(self):
        """Where threads of ranks are not simulated, as under valgrind, which is known by a library that it loads."""
        for words in (["--threads", "1"], ["--threads", "2"]):
            done = self.start([WEFT, *SIM, *words, "-n", "2", "./threads", "3", "forced"], LD_PRELOAD="vgpreload")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("a thread that runs no rank called MPI", done.stderr)
            self.assertNotIn("crashed", done.stderr)


if __name__ == "__main__":
    skip.run_unittests(["check_worlds", *sys.argv[2:]])
