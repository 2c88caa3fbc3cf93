#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The record of a real run (weft run --record, --events): the same files as weft sim's, whatever happens to the run.

Usage: check_profile.py WEFT PROBE LIBRARY_FOLDER [NAME=MPIRUN...] [CLASS...]
"""
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from check_run_support import bed, Job, LAUNCHERS, LIBRARIES, NETLAB, WEFT, main, run, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAB = f"weft-profile-{os.getpid()}"
RECORD = {"settings.json", "summary.json", "summary.txt", "ranks.csv", "calls.csv", "timeline.h5", "traffic.txt"}
ARCHIVE = {"trace", "trace.def", "trace.otf2"}
NO_OTF2_PRINT = "otf2-print is not installed (Debian: otf2-tools)"
PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static char large[300000], other[300000];
int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (int i = 0; i < 3; ++i) {
    for (int length = 100; length <= (int)sizeof large; length += 299900)
      MPI_Sendrecv(large, length, MPI_CHAR, (rank + 1) % size, 5, other, length, MPI_CHAR, (rank + size - 1) % size, 5,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    long sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, half);
    MPI_Bcast(large, 100000, MPI_CHAR, 1, MPI_COMM_WORLD);
    MPI_Alltoall(large, 1000, MPI_CHAR, other, 1000, MPI_CHAR, MPI_COMM_WORLD);
  }
  MPI_Request early;
  if (rank == 0) MPI_Isend(large, 50000, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &early);
  if (rank == 0) MPI_Recv(other, 50000, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Wait(&early, MPI_STATUS_IGNORE);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!strcmp(how, "clock")) printf("%ld\n", (long)now.tv_sec);
  if (!strcmp(how, "ready") && rank == 0) { puts("ready"); fflush(stdout); }
  int it = how[0] == 0 ? 0 : how[strlen(how) - 1] - '0';
  if (!strncmp(how, "abort", 5) && rank == it) MPI_Abort(MPI_COMM_WORLD, 7);
  if (!strncmp(how, "kill", 4) && rank == it) kill(getpid(), SIGKILL);
  if (!strncmp(how, "exit", 4) && rank == it) _exit(3);
  if (!strcmp(how, "ready")) MPI_Recv(other, 1, MPI_CHAR, rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return !strcmp(how, "code") ? 5 : 0;
}
"""
# What weft sim would choose otherwise, on a machine that is a grid.
COLLECTIVES = ("--coll", "allreduce=ring", "--coll", "bcast=scatter-allgather", "--coll", "alltoall=pairwise", "--coll",
               "barrier=tree")


def matrix(folder):
    lines = (folder / "traffic.txt").read_text(encoding="utf-8").splitlines()
    return {(int(a), int(b)): (int(size), int(count)) for a, b, size, count in (line.split() for line in lines[1:])}


def calls(folder):
    with open(folder / "calls.csv", encoding="utf-8") as file:
        return {row["call"]: (int(row["count"]), int(row["bytes"])) for row in csv.DictReader(file)}


def rows(folder):
    with open(folder / "ranks.csv", encoding="utf-8") as file:
        return [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]


def summary(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def names(folder):
    return {path.name for path in folder.iterdir()}


MESSAGE = re.compile(r"^MPI_(SEND|RECV|IRECV)\s+(\d+)\s+(\d+)\s+(?:Receiver|Sender): (\d+).*Communicator: \"(.*)\" <.*"
                     r"Tag: (\d+), Length: (\d+)")


class Trace:
    """An archive as OTF2's own program prints it."""

    def __init__(self, folder):
        done = subprocess.run(["otf2-print", str(folder / "trace.otf2")], capture_output=True, text=True, check=True)
        self.lines = done.stdout.splitlines()
        self.events = [match.groups() for match in map(MESSAGE.match, self.lines) if match]

    def matrix(self):
        sums = collections.defaultdict(lambda: (0, 0))
        for kind, rank, _, peer, _, _, size in self.events:
            if kind == "SEND":
                bytes_, count = sums[int(rank), int(peer)]
                sums[int(rank), int(peer)] = (bytes_ + int(size), count + 1)
        return dict(sums)

    def pairs(self):
        """For each sender, receiver, communicator and tag: sizes and times of what was sent and what was received."""
        sent, received = collections.defaultdict(list), collections.defaultdict(list)
        for kind, rank, at, peer, comm, tag, size in self.events:
            if kind == "SEND":
                sent[rank, peer, comm, tag].append((int(size), int(at)))
            else:
                received[peer, rank, comm, tag].append((int(size), int(at)))
        return sent, received

    def counts(self):
        return collections.Counter(line.split()[0] for line in self.lines if line and line[0].isupper())


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if reason := skip.without_parts(WEFT, "HDF5", "OTF2"):
            raise unittest.SkipTest(reason)
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.program = cls.scratch / "program"
        (cls.scratch / "program.c").write_text(PROGRAM, encoding="utf-8")
        for source, program in ((cls.scratch / "program.c", cls.program), (ROOT / "examples/halo3d/halo3d.c", cls.scratch / "halo3d")):
            subprocess.run([WEFT, "cc", "-O2", str(source), "-o", str(program), "-lm"], check=True)

    def setUp(self):
        self.folder = self.scratch / self.id().rsplit(".", 1)[-1]

    def weft(self, *words, ranks=4, **options):
        return run([WEFT, "run", "-n", str(ranks), "--grace", "2s", "--record", str(self.folder), *words], **options)

    def check_sums(self, ranks):
        """The files of a whole record agree with each other."""
        traffic, by_rank, told = matrix(self.folder), rows(self.folder), summary(self.folder)
        self.assertEqual([row["rank"] for row in by_rank], list(range(ranks)))
        for row in by_rank:
            own = [pair for (sender, _), pair in traffic.items() if sender == row["rank"]]
            self.assertEqual((row["bytes"], row["messages"]), (sum(size for size, _ in own), sum(count for _, count in own)))
            self.assertGreater(row["end_ps"], row["waited_ps"])
        self.assertEqual((told["bytes"], told["messages"]), tuple(sum(row[key] for row in by_rank) for key in ("bytes", "messages")))
        self.assertEqual({name: (call["count"], call["bytes"]) for name, call in told["calls"].items()}, calls(self.folder))
        self.assertEqual((told["weft"], told["ranks"], told["complete"], told["ending"]), ("run", ranks, True, "complete"))
        self.assertEqual(told["program_time_ps"], max(row["end_ps"] for row in by_rank))

    def check_trace(self):
        """The archive tells weft map the same as the matrix."""
        maps = [subprocess.run([WEFT, "map", "--net", "torus:8", "--traffic", str(self.folder / name), "-o", "-", "--evaluations", "50"],
                               capture_output=True, text=True, check=True).stdout for name in ("traffic.txt", "trace.otf2")]
        self.assertEqual(maps[0].replace("/traffic.txt", "/trace.otf2"), maps[1])

    def check_events(self):
        """The archive tells of the same messages as the matrix, and each was received as it was sent."""
        trace = Trace(self.folder)
        self.assertEqual(trace.matrix(), matrix(self.folder))
        sent, received = trace.pairs()
        self.assertEqual({key: sorted(size for size, _ in list_) for key, list_ in sent.items()},
                         {key: sorted(size for size, _ in list_) for key, list_ in received.items()})
        counts = trace.counts()
        self.assertEqual((counts["ENTER"], counts["MPI_IRECV"]), (counts["LEAVE"], counts["MPI_IRECV_REQUEST"]))
        self.assertEqual(counts["ENTER"], sum(count for count, _ in calls(self.folder).values()))
        return trace


class Record(Case):
    def test_is_that_of_the_simulator(self):
        for program, words in ((self.scratch / "halo3d", ()), (self.program, COLLECTIVES)):
            for ranks in (4, 5):
                with self.subTest(program=program.name, ranks=ranks):
                    done = self.weft(*words, str(program), ranks=ranks)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(names(self.folder), RECORD)
                    self.check_sums(ranks)
                    simulated = self.scratch / "simulated"
                    subprocess.run([WEFT, "sim", "-q", "--net", f"torus:{ranks}", "--payload", "full", "--matrix", "--output", str(simulated),
                                    *words, str(program)], check=True, capture_output=True)
                    self.assertEqual(matrix(self.folder), matrix(simulated))
                    self.assertEqual(calls(self.folder), calls(simulated))
                    self.assertEqual(*((path / "traffic.txt").read_bytes() for path in (self.folder, simulated)))
                    heads = [(path / name).read_text(encoding="utf-8").splitlines()[0]
                             for path in (self.folder, simulated) for name in ("ranks.csv", "calls.csv")]
                    self.assertEqual(heads[:2], heads[2:])

    def test_of_one_rank(self):
        self.assertEqual(self.weft(str(self.scratch / "halo3d"), ranks=1).returncode, 0)
        self.check_sums(1)

    def test_table(self):
        done = self.weft(str(self.program))
        self.assertIn("program time", done.stderr)
        self.assertEqual(done.stderr, (self.folder / "summary.txt").read_text(encoding="utf-8"))
        self.assertLess(len(done.stderr.splitlines()), 24)
        self.assertEqual(self.weft("-q", str(self.program)).stderr, "")
        self.assertEqual(names(self.folder), RECORD)

    def test_code_stays(self):
        done = self.weft(str(self.program), "code")
        self.assertEqual(done.returncode, 5)
        self.check_sums(4)

    def test_over_the_network(self):
        done = self.weft("--no-shared-memory", "--rails", "lo", "--events", str(self.program))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_sums(4)
        told = summary(self.folder)
        self.assertGreater(told["connections"]["all"], 0)
        self.assertGreaterEqual(sum(rail["bytes"] for rail in told["rails"]), told["bytes"])
        self.check_trace()

    def test_without_mpi(self):
        done = self.weft("true")
        self.assertEqual((done.returncode, names(self.folder)), (0, {"settings.json"}))
        self.assertIn("has no record", done.stderr)

    def test_replaces_a_former_one(self):
        self.weft("--events", str(self.program))
        (self.folder / "mine.txt").write_text("kept", encoding="utf-8")
        self.weft("true")
        self.assertEqual(names(self.folder), {"mine.txt", "settings.json"})


class Endings(Case):
    def test_before_the_time(self):
        for how, code in (("abort0", 7), ("abort2", 7), ("kill2", None), ("exit2", None)):
            with self.subTest(how=how):
                done = self.weft("--events", str(self.program), how)
                if code is not None:
                    self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(names(self.folder), RECORD | ARCHIVE, done.stderr)
                told = summary(self.folder)
                self.assertEqual((told["complete"], told["ending"], told["ranks"]), (False, "aborted", 4))
                self.assertEqual([(row["rank"], row["end_ps"]) for row in rows(self.folder)], [(0, -1)])
                self.assertGreater(told["messages"], 0)

    def test_without_rank_0(self):
        done = self.weft(str(self.program), "kill0")
        self.assertLess(names(self.folder), RECORD, done.stderr)

    def test_interrupted(self):
        words = [WEFT, "run", "-n", "4", "--record", str(self.folder), str(self.program), "ready"]
        with Job(words) as job:
            job.read_until("ready")
            job.process.send_signal(signal.SIGTERM)
            done = job.end()
            self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stderr)
        self.assertEqual(summary(self.folder)["ending"], "aborted")


@unittest.skipUnless(shutil.which("otf2-print"), NO_OTF2_PRINT)
class Archives(Case):
    """Archives as OTF2's own program reads them."""

    def test_of_programs(self):
        for words in ((str(self.scratch / "halo3d"),), (*COLLECTIVES, str(self.program)), ("--no-shared-memory", "--rails", "lo", str(self.program))):
            with self.subTest(words=words):
                self.assertEqual(self.weft("--events", *words).returncode, 0)
                self.check_events()

    def test_before_the_time(self):
        for how in ("abort0", "abort2", "kill2", "exit2"):
            with self.subTest(how=how):
                self.weft("--events", str(self.program), how)
                counts = Trace(self.folder).counts()
                self.assertGreater(counts["ENTER"], 0)
                self.assertEqual(counts["ENTER"], counts["LEAVE"])


class Folders(Case):
    def test_that_cannot_be_written(self):
        (self.scratch / "file").write_text("", encoding="utf-8")
        self.folder = self.scratch / "file/below"
        done = self.weft("sh", "-c", "echo started")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertEqual(done.stderr, f"weft: error: --record: {self.folder} cannot be written (Not a directory); name another folder\n")

    def test_that_are_lost_in_the_run(self):
        script = f'rm -rf "{self.folder}"; echo > "{self.folder}"; exec "$@"'
        done = self.weft("sh", "-c", script, "sh", str(self.program), ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("weft: warning: no record of the run: ", done.stderr)


@unittest.skipIf(skip.without_root("a small disk"), skip.without_root("a small disk"))
class FullDisk(Case):
    def test_is_told(self):
        self.folder.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(self.folder)], check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            (self.folder / "filler").write_bytes(b"x" * 100_000)
            done = self.weft("--events", str(self.scratch / "halo3d"), "3000", "100")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("are not complete", done.stderr)
            self.assertIn("No space left on device", done.stderr)
            (self.folder / "filler").unlink()
            done = self.weft("sh", "-c", f'head -c 400000 /dev/zero > "{self.folder}/filler"; exec "$@"', "sh", str(self.program))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("weft: warning: no record of the run: ", done.stderr)
            self.assertFalse((self.folder / "summary.json").exists())
        finally:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)


class Events(Case):
    def test_are_all_there(self):
        for words in ((str(self.scratch / "halo3d"),), (*COLLECTIVES, str(self.program))):
            done = self.weft("--events", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(names(self.folder), RECORD | ARCHIVE)
            self.check_sums(4)
            self.check_trace()

    def test_need_a_folder(self):
        done = run([WEFT, "run", "--events", "true"])
        self.assertEqual((done.returncode, done.stderr), (2, "weft: error: --events writes files: say where with --record DIR\n"))

    def test_that_are_missing_or_damaged(self):
        script = f'"$@"; code=$?; [ -e "{self.folder}/events.3.bin" ] && mv "{self.folder}/events.3.bin" "{self.scratch}/"; exit $code'
        done = self.weft("--events", "sh", "-c", script, "sh", str(self.program))
        self.assertIn(f"has no log of rank 3; if they ran on other hosts, copy events.*.bin from there; then: weft run --merge-events "
                      f"{self.folder}", done.stderr)
        logs = {f"events.{rank}.bin" for rank in range(3)}
        self.assertEqual(names(self.folder), RECORD | logs)
        path = self.folder / "events.1.bin"
        whole = path.read_bytes()
        path.write_bytes(whole[:500] + b"x" + whole[501:])
        merged = run([WEFT, "run", "--merge-events", str(self.folder)])
        self.assertEqual(merged.returncode, 3)
        self.assertIn(f"{path}: the log is damaged", merged.stderr)
        self.assertEqual(names(self.folder), RECORD | logs)
        path.write_bytes(whole)
        merged = run([WEFT, "run", "--merge-events", str(self.folder)])
        self.assertEqual((merged.returncode, merged.stderr), (0, f"weft run: warning: {self.folder} has no log of rank 3\n"))
        self.assertEqual(names(self.folder), RECORD | ARCHIVE)
        empty = run([WEFT, "run", "--merge-events", str(self.folder)])
        self.assertEqual((empty.returncode, empty.stderr), (3, f"weft: error: {self.folder} has no logs of events (events.0.bin)\n"))


class OtherLauncher:
    """Events under mpirun, which a class below names: weft merges them afterwards."""

    def test_events_are_merged(self):
        variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                     "WEFT_RECORD": str(self.folder), "WEFT_EVENTS": "yes"}
        done = run([LAUNCHERS[self.launcher], "-n", "4", str(self.program)], env=variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        raw = RECORD - {"timeline.h5"} | {"timeline.raw"} | {f"events.{rank}.bin" for rank in range(4)}
        self.assertEqual(names(self.folder), raw)
        self.check_sums(4)
        merged = run([WEFT, "run", "--merge-events", str(self.folder)])
        self.assertEqual((merged.returncode, merged.stderr), (0, ""))
        self.assertEqual(names(self.folder), RECORD | ARCHIVE)
        self.check_trace()


@unittest.skipUnless("mpich" in LAUNCHERS, "MPICH's mpirun is not installed")
class Mpich(OtherLauncher, Case):
    launcher = "mpich"


@unittest.skipUnless("openmpi" in LAUNCHERS, "Open MPI's mpirun is not installed")
@unittest.skipUnless(os.path.exists(os.path.join(LIBRARIES, "weft-launch-pmix.so")), "weft was built without libpmix")
class OpenMpi(OtherLauncher, Case):
    launcher = "openmpi"


@unittest.skipIf(bed.missing(), bed.missing())
class Hosts(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lab = cls.scratch / "lab"
        lab.write_text("switch s0\nswitch s1\nhost h[0-2] on s0\nhost h[0-2] on s1\n", encoding="utf-8")
        os.environ["NETLAB"] = LAB
        cls.addClassCleanup(cls.netlab, "down")
        cls.netlab("up", str(lab))
        # The clock of one host is a day ahead.
        cls.shell = cls.scratch / "shell"
        cls.shell.write_text(f'#!/bin/sh\nhost=$1\nshift\n[ $host = h1 ] || exec {NETLAB} rsh $host "$@"\n'
                             f'exec {NETLAB} rsh h1 unshare --time --monotonic 86400 -- sh -c "\'exec $*\'"\n', encoding="utf-8")
        cls.shell.chmod(0o755)

    @staticmethod
    def netlab(*words):
        return subprocess.run([NETLAB, "-l", LAB, *words], check=True, capture_output=True)

    def test_have_one_clock(self):
        done = self.weft("--hosts", "h0,h1,h2", "--rsh", str(self.shell), "--events", str(self.program), "clock", ranks=6)
        if "unshare" in done.stderr:
            self.skipTest("clocks of hosts cannot be set here")
        self.assertEqual(done.returncode, 0, done.stderr)
        clocks = [int(line) for line in done.stdout.split()]
        self.assertGreater(max(clocks) - min(clocks), 80_000)
        self.check_sums(6)
        told = summary(self.folder)
        self.assertEqual([host["name"] for host in told["hosts"]], ["h0", "h1", "h2"])
        self.check_trace()
        if not shutil.which("otf2-print"):
            self.skipTest("times of messages were not compared: " + NO_OTF2_PRINT)
        trace = self.check_events()
        # Far less than the clocks differ, and far more than they can be told wrongly.
        second = 1_000_000_000
        sent, received = trace.pairs()
        for key, messages in sent.items():
            for (_, at), (_, seen) in zip(messages, received[key]):
                self.assertLess(at, seen + second)
                self.assertLess(seen, at + 60 * second)


if __name__ == "__main__":
    main("check_profile")
