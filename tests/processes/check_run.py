#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft run on this machine: ranks, output, signals, failures, and that nothing is left behind.

Usage: check_run.py WEFT PROBE LIBRARY_FOLDER
"""
import os
import pathlib
import pty
import signal
import subprocess
import tempfile
import unittest

from check_run_support import Job, PROBE, WEFT, main, probe, run, wait_until


def weft(ranks, *words, **options):
    return run([WEFT, "run", "-n", str(ranks), *words], **options)


class Ranks(unittest.TestCase):
    def test_find_each_other(self):
        for ranks in range(1, 9):
            done = weft(ranks, *probe("sit", "exchange=100", "exchange=70000", "secret", "who", "leave"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(sorted(done.stdout.splitlines()), [f"rank {rank} of {ranks}" for rank in range(ranks)])

    def test_are_told_settings(self):
        done = weft(2, "--rails", "lo", "--no-shared-memory", "--coll", "alltoall=bruck", "--lost-after", "3s", "--protect", "all",
                    *probe("sit", "settings@1", "leave"), env={"WEFT_MESSAGES": "eager_limit=1 KiB"})
        for line in ("rails=lo", "shared_memory=no", "collectives=alltoall=bruck", "lost_after=3 s", "single_copy=yes", "protect=all",
                     "messages=eager_limit=1 KiB"):
            self.assertIn(line, done.stdout.splitlines())

    def test_sit_through_scripts(self):
        for script in ('exec "$@"', '"$@"; exit $?', '"$@" & wait', '( ( "$@" ) )'):
            done = weft(3, "sh", "-c", script, "sh", *probe("sit", "exchange", "who", "leave"))
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3), done.stderr)

    def test_sit_one_after_the_other(self):
        # Often, so that an end and the next beginning are seen at once now and then.
        done = weft(3, "sh", "-c", 'for i in $(seq 20); do "$@" || exit; done', "sh", *probe("sit", "exchange=7", "exchange", "who", "leave"))
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 60), done.stderr)

    def test_do_not_sit_twice(self):
        done = weft(1, "--grace", "1s", "sh", "-c", '"$@" hang & sleep 0.5; "$@"; kill $!', "sh", *probe("sit"))
        self.assertIn("rank 0 is taken by another process", done.stderr)

    def test_keep_the_seat_from_children(self):
        done = weft(1, *probe("sit", "environment", "leave"))
        self.assertNotIn("WEFT_SEAT", done.stdout)

    def test_need_no_mpi(self):
        done = weft(3, "--label", "sh", "-c", "echo x; exit 0")
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["[0] x", "[1] x", "[2] x"]))

    def test_get_variables_and_limits(self):
        limit = run(["sh", "-c", "ulimit -n 64; exec \"$0\" run -n 8 sh -c 'echo $A $B; ulimit -n'", WEFT], env={"A": "1", "B": "2"})
        self.assertEqual(sorted(limit.stdout.split()), sorted(["1", "2", "64"] * 8), limit.stderr)
        done = weft(1, "-x", "A=x y", "-x", "B", "sh", "-c", "echo $A $B", env={"B": "b"})
        self.assertEqual(done.stdout, "x y b\n")

    def test_run_inside_a_rank(self):
        done = weft(2, WEFT, "run", "-n", "2", *probe("sit", "exchange", "who", "leave"))
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["rank 0 of 2"] * 2 + ["rank 1 of 2"] * 2), done.stderr)

    def test_run_where_the_map_says(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "map"
            path.write_text("0 1\n1 0\n2 1\n", encoding="utf-8")
            done = weft(3, "-v", "--hosts", "localhost,127.0.0.1", "--map", str(path), *probe("sit", "exchange", "leave"))
            self.assertEqual(done.stderr.splitlines()[:2], ["weft run: host 127.0.0.1 has ranks 0 2", "weft run: host localhost has rank 1"])
            path.write_text("0 1\n1 7\n2 1\n", encoding="utf-8")
            wrong = weft(3, "--hosts", "localhost,127.0.0.1", "--map", str(path), "true")
            self.assertEqual((wrong.returncode, wrong.stderr), (3, f"weft: error: {path}:2: node 7 is outside of 0 to 1\n"))


class Output(unittest.TestCase):
    def test_lines_stay_whole(self):
        for label in ([], ["--label"]):
            done = weft(4, *label, *probe("lines=3000"))
            lines = [line.partition("] ")[2] if label else line for line in done.stdout.splitlines()]
            self.assertEqual(sorted(lines), sorted(f"line {i} of a rank, whole" for i in range(3000) for _ in range(4)))

    def test_bytes_are_the_same(self):
        data = os.urandom(3_000_000)
        with Job([WEFT, "run", "-n", "1", "cat"], stdin=subprocess.PIPE) as job:
            self.assertEqual(job.process.communicate(data, timeout=60)[0], data)

    def test_errors_go_to_stderr(self):
        done = weft(2, "--label", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(sorted(done.stderr.splitlines()), ["[0] err", "[1] err"])

    def test_a_line_without_end_comes_out(self):
        self.assertEqual(weft(1, *probe("part")).stdout, "no end of line")
        self.assertEqual(weft(1, "--label", *probe("part")).stdout, "[0] no end of line\n")

    def test_reader_that_goes_ends_the_job(self):
        done = run(["sh", "-c", '"$0" run -n 2 yes | head -1', WEFT])
        self.assertEqual(done.stdout, "y\n")

    def test_input_is_rank_0s(self):
        done = weft(3, "--label", *probe("sit", "stdin", "leave"), given=b"one\ntwo")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] read all", "[0] read one", "[0] read two", "[1] read all", "[2] read all"])

    def test_input_that_nobody_reads(self):
        self.assertEqual(weft(2, "true", given=b"x" * 3_000_000).returncode, 0)


class Ends(unittest.TestCase):
    def ends(self, ranks, words, code, said):
        done = weft(ranks, "--grace", "2s", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(said, done.stderr)
        return done

    def test_code_of_the_worst(self):
        self.ends(3, probe("sit", "exchange", "exit=7@1", "notice", "leave"), 7, "weft run: rank 1 on host")
        self.ends(3, ["sh", "-c", "exit 4"], 4, "ended with code 4")
        done = self.ends(3, probe("sit", "exchange", "exit=3@2", "notice", "exit=9@0", "leave"), 9, "rank 2 on host")
        self.assertEqual(done.stderr.count("weft run:"), 1)

    def test_signal(self):
        done = self.ends(3, probe("sit", "exchange", "die=11@1", "notice", "leave"), 139, "was ended by signal 11 (Segmentation fault)")
        self.assertEqual(done.stdout, "lost 1\n" * 2)

    def test_without_leaving(self):
        done = self.ends(3, probe("sit", "exchange", "exit=0@1", "notice", "leave"), 1, "without leaving the job (MPI_Finalize)")
        self.assertEqual(done.stdout, "lost 1\n" * 2)

    def test_without_meeting(self):
        self.ends(3, ["sh", "-c", '[ -e "$0.$$" ] || mkdir "$0" 2>/dev/null && exit 0; exec "$@"', tempfile.mktemp(), *probe("sit", "exchange")],
                  99, "ended before it met the others in MPI_Init")

    def test_survivors_that_hang_are_ended(self):
        done = weft(3, "--grace", "300ms", *probe("sit", "signals=1", "exchange", "exit=5@0", "notice", "hang"))
        self.assertEqual((done.returncode, done.stdout), (5, "lost 0\n" * 2))

    def test_abort(self):
        done = self.ends(4, probe("sit", "exchange", "abort=42@2", "hang"), 42, ": told to abort\n")
        self.assertEqual(done.stderr.count("told to abort"), 1)

    def test_timeout(self):
        done = self.ends(2, ["--timeout", "300ms", *probe("hang")], 124, "its limit (--timeout): ended")

    def test_wrong_calls(self):
        for words, code, said in (
                ([], 2, "which program?"), (["./nosuch"], 3, ": ./nosuch: no such program"), (["/etc/passwd"], 3, "/etc/passwd: Permission denied"),
                (["-n", "0", "true"], 2, "--ranks"), (["-n", "-3", "true"], 2, "--ranks"), (["--timeout", "3", "true"], 2, "--timeout"),
                (["--rails", "nosuch0", "true"], 2, "nosuch0"), (["--bind", "x", "true"], 2, "--bind"), (["--events", "true"], 2, "--record"),
                (["--coll", "x=y", "true"], 2, "--coll"), (["-x", "NO_SUCH_VARIABLE", "true"], 2, "-x"), (["--hosts", "/no/file", "true"], 3, "/no/file"),
                (["--hosts", "nosuch.invalid", "--rsh", "false", "true"], 1, "host nosuch.invalid: no agent there"),
                (["--hosts", "h", "--rsh", "/no/rsh", "true"], 1, "host h: no agent there: /no/rsh"), (["--nosuch", "true"], 2, "--nosuch")):
            done = run([WEFT, "run", *words])
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (code, 1), f"{words} {done.stderr}")
            self.assertIn(said, done.stderr)


class Signals(unittest.TestCase):
    def start(self, *words, ranks=2):
        return Job([WEFT, "run", "-n", str(ranks), *words])

    def test_are_passed_on(self):
        for number, code in ((signal.SIGUSR1, 0), (signal.SIGUSR2, 0), (signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.start(*probe("sit", "signals", "exchange", "who", "signals=2", "leave")) as job:
                job.read_until("rank"), job.read_until("rank")
                job.process.send_signal(number)
                done = job.end()
                self.assertEqual((done.returncode, done.stdout), (code, f"caught {number.value}\n" * 2), done.stderr)
                self.assertTrue(wait_until(lambda: not job.left()))

    def test_second_one_kills(self):
        with self.start(*probe("sit", "signals=1", "exchange", "who", "hang")) as job:
            job.read_until("rank"), job.read_until("rank")
            job.process.send_signal(signal.SIGINT)
            self.assertFalse(wait_until(lambda: len(job.left(PROBE)) < 2, 0.3))
            job.process.send_signal(signal.SIGINT)
            self.assertEqual(job.end().returncode, 130)
            self.assertTrue(wait_until(lambda: not job.left()))

    def test_stop_and_go_on(self):
        def state(pid):
            return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]

        with self.start(*probe("sit", "exchange", "who", "hang")) as job:
            job.read_until("rank"), job.read_until("rank")
            watched = [*job.left(PROBE), job.process.pid]
            self.assertEqual(len(watched), 3)
            job.process.send_signal(signal.SIGTSTP)
            self.assertTrue(wait_until(lambda: all(state(pid) == "T" for pid in watched)))
            job.process.send_signal(signal.SIGCONT)
            self.assertTrue(wait_until(lambda: all(state(pid) != "T" for pid in watched)))
            job.process.send_signal(signal.SIGTERM)
            self.assertEqual(job.end().returncode, 143)


class Terminal(unittest.TestCase):
    """With a terminal of its own, as a user has it."""

    def start(self, *words):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(WEFT, [WEFT, "run", *words])
        self.addCleanup(os.close, terminal)
        return pid, terminal

    def read_until(self, terminal, text, times=1):
        seen = b""
        while seen.count(text) < times:
            seen += os.read(terminal, 1000)
        return seen

    def test_prompt_and_answer(self):
        pid, terminal = self.start("-n", "2", "sh", "-c", '[ -t 0 ] && exit 9; printf "name? "; read x; echo "hello $x"; exec sleep 0.1')
        self.read_until(terminal, b"name? ")
        os.write(terminal, b"weft\n")
        self.read_until(terminal, b"hello weft")
        os.write(terminal, b"\x04")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_interrupt_key(self):
        pid, terminal = self.start("-n", "2", *probe("sit", "signals", "exchange", "who", "signals=2", "leave"))
        self.read_until(terminal, b"of 2", 2)
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"caught 2")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)


class Killed(unittest.TestCase):
    """With a script around the program and a child in a session of its own: the hardest to find."""

    def start(self):
        job = Job([WEFT, "run", "-n", "3", "--grace", "1s", "sh", "-c", '"$@"; exit $?', "sh",
                   *probe("sit", "exchange", "spawn", "signals=1", "who", "hang")])
        for _ in range(3):
            job.read_until("rank")
        return job

    def check(self, job, victim, code):
        os.kill(victim, signal.SIGKILL)
        done = job.end()
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(wait_until(lambda: not job.left()), job.left())
        return done

    def test_rank(self):
        with self.start() as job:
            seated = [pid for pid in job.left(PROBE) if job.children(pid)]
            done = self.check(job, seated[1], 137)
            self.assertIn("ended with code 137", done.stderr)

    def test_script(self):
        with self.start() as job:
            scripts = [pid for pid in job.left() if any(child in job.left(PROBE) for child in job.children(pid)) and pid not in job.left(PROBE)]
            done = self.check(job, scripts[0], 137)
            self.assertIn("was ended by signal 9 (Killed)", done.stderr)

    def test_agent(self):
        with self.start() as job:
            done = self.check(job, job.children(job.process.pid)[0], 1)
            self.assertIn("its agent is lost", done.stderr)

    def test_front(self):
        with self.start() as job:
            self.check(job, job.process.pid, -9)

    def test_agent_is_asked_to_end(self):
        with self.start() as job:
            os.kill(job.children(job.process.pid)[0], signal.SIGTERM)
            done = job.end()
            self.assertEqual(done.returncode, 1)
            self.assertIn("the agent was asked to end by signal 15", done.stderr)
            self.assertTrue(wait_until(lambda: not job.left()))


if __name__ == "__main__":
    main("check_run")
