#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft run over several hosts, which are namespaces of this machine (netlab); its rsh stands for ssh.

Usage: check_run_hosts.py WEFT PROBE LIBRARY_FOLDER
"""
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from check_run_support import bed, Job, NETLAB, PROBE, WEFT, main, probe, run, wait_until

LAB = f"weft-run-{os.getpid()}"


@unittest.skipIf(bed.missing(), bed.missing())
class Hosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        lab = pathlib.Path(cls.folder.name) / "lab"
        lab.write_text("switch s0\nhost h[0-2] on s0\n", encoding="utf-8")
        os.environ["NETLAB"] = LAB
        cls.addClassCleanup(cls.netlab, "down")
        cls.netlab("up", str(lab))

    @staticmethod
    def netlab(*words):
        return subprocess.run([NETLAB, "-l", LAB, *words], check=True, capture_output=True)

    @staticmethod
    def words(ranks, *words, hosts="h0,h1,h2"):
        return [WEFT, "run", "-n", str(ranks), "--grace", "1s", "--rsh", f"{NETLAB} rsh", "--hosts", hosts, *words]

    def test_ranks_find_each_other(self):
        done = run(self.words(7, "--label", "sh", "-c", 'hostname; exec "$@"', "sh", *probe("sit", "exchange=50000", "secret", "who", "leave")))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        hosts = ["h0"] * 3 + ["h1"] * 2 + ["h2"] * 2
        expected = [f"[{rank}] {hosts[rank]}" for rank in range(7)] + [f"[{rank}] rank {rank} of 7" for rank in range(7)]
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(expected))

    def test_from_one_of_the_hosts(self):
        done = run([NETLAB, "-l", LAB, "exec", "h1", *self.words(4, *probe("sit", "exchange", "who", "leave"), hosts="h0,h1")])
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 4), done.stderr)

    def test_inside_a_rank(self):
        done = run([WEFT, "run", "-n", "1", *self.words(2, *probe("sit", "exchange", "who", "leave"), hosts="h0,h1")])
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2), done.stderr)

    def test_hosts_that_do_not_answer(self):
        shell = pathlib.Path(self.folder.name) / "mute"
        shell.write_text("#!/bin/sh\nexec sleep 100\n", encoding="utf-8")
        shell.chmod(0o755)
        words = ["--hosts", "h0", "--rsh", str(shell), "true"]
        done = run([WEFT, "run", "--timeout", "300ms", *words])
        self.assertEqual(done.returncode, 124, done.stderr)
        with Job([WEFT, "run", *words]) as job:
            self.assertTrue(wait_until(lambda: len(job.left()) > 1))
            job.process.send_signal(signal.SIGINT)
            self.check(job, [130])

    def test_host_file_and_variables(self):
        path = pathlib.Path(self.folder.name) / "hosts"
        path.write_text("h2 slots=1  # first\nh0 slots=2\n", encoding="utf-8")
        done = run(self.words(3, "-x", "A=b c", "--label", "sh", "-c", "echo $(hostname) $A $OMP_X $PWD", hosts=str(path)), env={"OMP_X": "7"},
                   cwd=self.folder.name)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{rank}] {host} b c 7 {self.folder.name}" for rank, host in enumerate(("h2", "h0", "h0"))])

    def test_input_and_output(self):
        data = os.urandom(2_000_000)
        with Job(self.words(1, "cat", hosts="h1"), stdin=subprocess.PIPE) as job:
            self.assertEqual(job.process.communicate(data, timeout=60)[0], data)

    def test_show_topology(self):
        done = run(self.words(4, "--show-topology", hosts="h0,h1"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for host in ("h0", "h1"):
            self.assertIn(f"host {host}:\n", done.stdout)

    def test_weft_itself_as_agent(self):
        done = run(self.words(3, "--remote-weft", WEFT, "hostname"))
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3), done.stderr)

    def test_what_cannot_be_started(self):
        for words, said in (
                (self.words(3, "true", hosts="h0,nosuch"), "host nosuch: no agent there: "), (self.words(3, "./nosuch"), ": ./nosuch: no such program"),
                (self.words(3, "--remote-weft", "/no/weft", "true"), "no agent there: "), (self.words(3, "--remote-weft", "/bin/true", "true"), "no agent there: ")):
            done = run(words)
            self.assertEqual((len(done.stderr.splitlines()), done.stderr.startswith("weft: error: host ")), (1, True), done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn(done.returncode, (1, 3))

    def start(self):
        job = Job(self.words(4, "sh", "-c", '"$@"; exit $?', "sh", *probe("sit", "exchange", "spawn", "signals=1", "who", "hang"), hosts="h0,h1"))
        for _ in range(4):
            job.read_until("rank")
        return job

    def check(self, job, codes):
        done = job.end()
        self.assertIn(done.returncode, codes, done.stderr)
        self.assertTrue(wait_until(lambda: not job.left()), job.left())
        return done

    def agents(self, job):
        """By what they are: those that keep ranks, and those that keep agents."""
        remote = job.left(next(pathlib.Path(WEFT).resolve().parents[1].glob("lib*/**/weft-agent")))
        keepers = [pid for pid in remote if any(child in remote for child in job.children(pid))]
        return [pid for pid in remote if pid not in keepers], keepers

    def test_killed_rank(self):
        with self.start() as job:
            os.kill([pid for pid in job.left(PROBE) if job.children(pid)][-1], signal.SIGKILL)
            self.assertIn("weft run: rank ", self.check(job, [137]).stderr)

    def test_killed_agent(self):
        with self.start() as job:
            os.kill(self.agents(job)[0][0], signal.SIGKILL)
            self.assertIn("its agent is lost", self.check(job, [1]).stderr)

    def test_killed_keeper_of_an_agent(self):
        with self.start() as job:
            os.kill(self.agents(job)[1][1], signal.SIGKILL)
            self.check(job, [1])

    def test_killed_front(self):
        with self.start() as job:
            os.kill(job.process.pid, signal.SIGKILL)
            self.check(job, [-9])

    def test_interrupted(self):
        with self.start() as job:
            job.process.send_signal(signal.SIGINT)
            job.process.send_signal(signal.SIGTERM)
            self.check(job, [130])


if __name__ == "__main__":
    main("check_run_hosts")
