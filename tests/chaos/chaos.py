#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of weft run on two hosts of the test bed, with options by chance, while things break by chance.

Usage: chaos.py WEFT [--seconds N] [--jobs N] [--seed N] [--fault NAME] [--verbose]

Each job computes something whose every word is checked. It must end with the right answer, or, where the fault allows that, with an error that
says why, in time, with no process, shared memory or socket left behind. The seed of each job is printed where it fails; --seed N --jobs 1 runs it
again. Ends with a line of counts.
"""
import argparse
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "bed")]
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

LAB = "link a b rate 400mbit\n" * 2
# Every value of every option that messages meet.
OPTIONS = {
    "split": ([], ["--set", "messages.split=equal"], ["--set", "messages.split=proportional"], ["--set", "messages.split=measured"]),
    "connections": ([], ["--connections", "full"], ["--connections", "on-demand"], ["--connections", "managed"],
                    ["--connections", "managed,shortcuts=1"], ["--connections", "managed,max=4,replace=random"]),
    "memory": ([], ["--no-shared-memory"], ["--no-single-copy"], ["--no-shared-memory", "--no-single-copy"]),
    "rails": ([], ["--rails", "eth0"], ["--rails", "eth1"], ["--rails", "eth0,eth1"]),
    "eager": ([], ["--set", "messages.eager_limit=256B"], ["--set", "messages.eager_limit=256KiB"]),
    "record": ([], [], ["--record", "record"], ["--record", "record", "--events"]),
    "protect": ([], ["--protect", "off"], ["--protect", "all"]),
    "label": ([], ["--label"])}
SURVIVES, MAY_FAIL, FAILS = "must survive", "may fail", "must fail"
# The command itself was ended: then nobody needs to say a word, or can.
ENDED_BY_USER = [-number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)]
FAULTS = {}
LINES_THAT_FILL_A_PIPE = 4000


class MemoryGroup:
    """A control group of the kernel that limits memory, in either version of them."""

    def __init__(self):
        root = pathlib.Path("/sys/fs/cgroup")
        first = (root / "memory").is_dir()
        self.folder = (root / "memory" if first else root) / f"weft-chaos-{os.getpid()}"
        self.file = "memory.limit_in_bytes" if first else "memory.max"

    def __enter__(self):
        try:
            self.folder.mkdir()
            if not (self.folder / self.file).exists():
                raise OSError
        except OSError:  # Not here, or not ours.
            FAULTS.pop("memory_taken_away")
            print("no memory_taken_away: no control group can be made here", flush=True)
        return self

    def __exit__(self, *_):
        if self.folder.is_dir():
            bed.wait_until(lambda: not (self.folder / "cgroup.procs").read_text(), 5)
            self.folder.rmdir()

    def limit(self, size):
        (self.folder / self.file).write_text(str(size))
        return f"echo $$ > {self.folder}/cgroup.procs"


def fault(outcome):
    def add(function):
        FAULTS[function.__name__] = (function, outcome)
        return function
    return add


class Scene:
    """One job and what may happen to it."""

    def __init__(self, lab, made, luck, verbose):
        self.lab, self.made, self.luck, self.verbose = lab, made, luck, verbose
        self.ranks_wanted = luck.choice((2, 3, 4, 6))
        self.words = [word for values in OPTIONS.values() for word in luck.choice(values)]
        self.threads = luck.choice((1, 1, 2, 4))  # That call the library at once in each rank.
        self.before, self.disk, self.job, self.folder = None, None, None, None
        self.skew, self.stall = 0, 0.0  # Seconds: by which a host's clock is ahead; for which nobody reads the output.
        self.lines = 0  # That each rank prints.
        self.single_rail = "--rails" in self.words and "," not in self.words[self.words.index("--rails") + 1]

    def start(self, seconds):
        self.folder = pathlib.Path(self.lab.folder.name) / "work"
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)
        self.folder.mkdir()
        if self.disk is not None:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.disk}", "tmpfs", str(self.folder)], check=True)
            self.words = [word for word in self.words if word not in ("--record", "record", "--events")] + ["--record", "record", "--events"]
        self.lines = LINES_THAT_FILL_A_PIPE if self.stall else 0
        words = self.lab.words(OPTIONS_GIVEN.weft, self.ranks_wanted, "--timeout", "60s", "--lost-after", "4s", *self.words, self.made, seconds, str(self.lines), str(self.threads))
        words = [str(self.folder / word) if word == "record" else self.skewed_shell() if self.skew and word == self.lab.rsh else word for word in words]
        if self.before is not None:
            words = ["sh", "-c", f'{self.before} && exec "$@"', "sh", *words]
        if self.stall:
            words = ["bash", "-o", "pipefail", "-c", f'"$@" 2>&1 | {{ sleep {self.stall}; cat; }}', "bash", *words]
        bed.wait_until(self.rails_are_up, 10)
        self.job = bed.Job(words, self.made)

    def skewed_shell(self):
        """A remote shell to hosts whose clocks since start differ; the time of day is one for all namespaces."""
        shell = self.folder / "skewed"
        shell.write_text(f'#!/bin/sh\n[ "$1" = a ] && exec {self.lab.rsh} "$@"\n'
                         f'exec unshare --time --fork --kill-child --monotonic {self.skew} --boottime {self.skew} {self.lab.rsh} "$@"\n', encoding="utf-8")
        shell.chmod(0o755)
        return shell

    def rails_are_up(self):
        """A rail that was healed a moment ago may have no carrier yet."""
        return all(self.lab.netlab("exec", host, "cat", f"/sys/class/net/eth{rail}/carrier", check=False).stdout.strip() == b"1"
                   for host in "ab" for rail in (0, 1))

    def begun(self):
        return bed.wait_until(lambda: "begun" in self.job.text() or self.job.process.poll() is not None, 30)

    def kill(self, pids, how):
        try:
            os.kill(self.luck.choice(pids), how)
        except (IndexError, ProcessLookupError):
            pass  # It has ended already.

    def agents(self):
        """weft's own processes of this job: the command and an agent on each host."""
        ranks = set(self.job.ranks())
        return [pid for pid in self.job.left() if pid not in ranks and bed.is_program(pid, OPTIONS_GIVEN.weft)]

    def pause(self, pids, seconds):
        chosen = self.luck.choice(pids) if pids else None
        try:
            if chosen:
                os.kill(chosen, signal.SIGSTOP)
                time.sleep(seconds)
                for pid in (chosen, *self.job.left()):  # nsenter stops when its child does.
                    os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


@fault(SURVIVES)
def nothing(_):
    pass


@fault(SURVIVES)
def rail_goes(scene):
    """A rail breaks and comes back. The only one may not stay away."""
    link = f"{scene.luck.choice('ab')}:eth{scene.luck.choice((0, 1))}"
    scene.lab.netlab(scene.luck.choice(("cut", "unplug", "ifdown")), link)
    time.sleep(scene.luck.uniform(0, 1.5))
    scene.lab.netlab("heal", link)


@fault(SURVIVES)
def rails_go_in_turn(scene):
    for _ in range(3):
        rail_goes(scene)


@fault(SURVIVES)
def connections_killed(scene):
    """The kernel resets connections between ranks, on one host or on both, again and again."""
    for _ in range(scene.luck.choice((1, 3, 10))):
        for host in scene.luck.choice(("a", "b", "ab")):
            scene.lab.netlab("exec", host, "ss", "-K", "-tn", "state", "established", check=False)
        time.sleep(scene.luck.uniform(0, 0.2))


@fault(SURVIVES)
def clocks_differ(scene):
    """Set before the start: see prepare."""


def up_for_s():
    return int(time.clock_gettime(time.CLOCK_MONOTONIC))


# The system refuses clocks that would be before zero, as on a machine that has just been started.
clocks_differ.prepare = lambda scene: setattr(scene, "skew", scene.luck.choice((-min(30000, up_for_s() // 2), 1, 1000, 10_000_000)))


@fault(SURVIVES)
def nobody_reads(scene):
    """Ranks print more than a pipe holds, and whoever reads it comes late."""


nobody_reads.prepare = lambda scene: setattr(scene, "stall", round(scene.luck.uniform(0.5, 3), 2))


@fault(FAILS)
def rank_killed(scene):
    scene.kill(scene.job.ranks(), signal.SIGKILL)


@fault(FAILS)
def rank_segfaults(scene):
    scene.kill(scene.job.ranks(), signal.SIGSEGV)


@fault(FAILS)
def agent_killed(scene):
    scene.kill(scene.agents(), signal.SIGKILL)


@fault(FAILS)
def job_terminated(scene):
    scene.job.process.send_signal(scene.luck.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)))


@fault(SURVIVES)
def rank_paused(scene):
    scene.pause(scene.job.ranks(), scene.luck.uniform(0.1, 2))


@fault(MAY_FAIL)
def rank_paused_for_long(scene):
    """For longer than a rank may be silent (--lost-after)."""
    scene.pause(scene.job.ranks(), scene.luck.uniform(5, 8))


@fault(SURVIVES)
def agent_paused(scene):
    scene.pause(scene.agents(), scene.luck.uniform(0.1, 2))


@fault(SURVIVES)
def strangers(scene):
    """Callers who say nothing, or nonsense, at every door of the job, from the hosts themselves."""
    code = ("import socket,sys,time\n"
            "kept=[]\n"
            "for line in open('/proc/net/tcp').read().splitlines()[1:]:\n"
            "    f=line.split()\n"
            "    if f[3]!='0A': continue\n"
            "    host,port=f[1].split(':')\n"
            "    for i in range(40):\n"
            "        s=socket.socket(); s.settimeout(1)\n"
            "        try:\n"
            "            s.connect(('127.0.0.1' if host=='00000000' else socket.inet_ntoa(int(host,16).to_bytes(4,'little')),int(port,16)))\n"
            "            s.send(bytes(i)); kept.append(s)\n"
            "        except OSError: pass\n"
            "time.sleep(1)\n")
    scene.lab.netlab("exec", scene.luck.choice("ab"), sys.executable, "-c", code, check=False)


@fault(MAY_FAIL)
def few_descriptors(scene):
    """Set before the start: see prepare."""


few_descriptors.prepare = lambda scene: setattr(scene, "before", f"ulimit -n {scene.luck.choice((24, 32, 48, 64, 128))}")


@fault(MAY_FAIL)
def little_memory(scene):
    """Address space is short."""


little_memory.prepare = lambda scene: setattr(scene, "before", f"ulimit -v {scene.luck.choice((200_000, 400_000, 800_000, 1_600_000))}")


@fault(MAY_FAIL)
def memory_taken_away(scene):
    """The kernel ends a process when the job uses more than its group may."""


memory_taken_away.prepare = lambda scene: setattr(scene, "before", MEMORY_GROUP.limit(scene.luck.choice((12, 24, 48, 96)) << 20))


@fault(MAY_FAIL)
def disk_full(scene):
    """The record goes to a file system that is soon full."""


disk_full.prepare = lambda scene: setattr(scene, "disk", scene.luck.choice(("4k", "16k", "64k")))


def describe(pid):
    try:
        folder = pathlib.Path(f"/proc/{pid}")
        state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
        return f"{pid} {state} {(folder / 'cmdline').read_bytes().replace(bytes(1), b' ').decode()[:120]}"
    except OSError:
        return f"{pid} ended"


def shared_files():
    return {path.name for path in pathlib.Path("/dev/shm").glob("*weft*")}


def judge(scene, outcome, seconds_left):
    """What is wrong with the end of the job; empty if nothing is."""
    job = scene.job
    if not bed.wait_until(lambda: job.process.poll() is not None, seconds_left):
        return f"runs on; {len(job.ranks())} ranks are left; " + ", ".join(describe(pid) for pid in job.left())
    if not bed.wait_until(lambda: not job.left(), 5):
        return f"leaves processes: {job.left()}"
    text, code = job.text(), job.process.returncode
    for word in ("internal error", "wrong", "AddressSanitizer", "terminate called", "ThreadSanitizer"):
        if word in text:
            return f"says '{word}'"
    right = sum(1 for rank in range(scene.ranks_wanted) if f"rank {rank} right" in text)
    lines = text.count("more lines to print")
    if code == 0 and lines != scene.lines * scene.ranks_wanted:
        return f"loses {scene.lines * scene.ranks_wanted - lines} lines of output"
    if code == 0 and right == scene.ranks_wanted:
        return ""  # Too late for the fault.
    if code == 0:
        return f"succeeds with {right} right answers"
    if outcome == SURVIVES:
        return f"fails with code {code}"
    if "weft" not in text and code not in ENDED_BY_USER:
        return f"fails with code {code} and says nothing"
    return ""


def run_one(lab, made, seed, wanted, verbose):
    luck = random.Random(seed)
    scene = Scene(lab, made, luck, verbose)
    names = [wanted] if wanted else sorted(FAULTS)
    name = luck.choice(names)
    function, outcome = FAULTS[name]
    if hasattr(function, "prepare"):
        function.prepare(scene)
    if scene.single_rail and name.startswith("rail"):
        outcome = MAY_FAIL  # Its only rail may be away for too long.
    before = shared_files()
    scene.start(f"{luck.uniform(0.3, 1.5):.2f}")
    try:
        if scene.begun() and scene.job.process.poll() is None:
            time.sleep(luck.uniform(0, 0.4))
            function(scene)
        problem = judge(scene, outcome, 25)
        left = shared_files() - before
        if not problem and left:
            problem = f"leaves shared memory: {sorted(left)}"
        ended_well = scene.job.process.poll() == 0
        if problem or verbose:
            print(f"seed {seed}: {name} ({outcome}), {scene.ranks_wanted} ranks of {scene.threads} threads, {' '.join(scene.words)} {scene.before or ''}: {problem or 'fine'}", flush=True)
        if problem:
            print("  " + scene.job.text()[-2000:].replace("\n", "\n  "), flush=True)
        return name, outcome, problem, ended_well
    finally:
        scene.job.__exit__()
        if scene.disk is not None:
            subprocess.run(["umount", "-l", str(scene.folder)], check=True)


OPTIONS_GIVEN = None
MEMORY_GROUP = MemoryGroup()


def main():
    global OPTIONS_GIVEN
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--fault", choices=sorted(FAULTS))
    parser.add_argument("--verbose", action="store_true")
    OPTIONS_GIVEN = parser.parse_args()
    if bed.missing():
        skip.leave(bed.missing())
    first = OPTIONS_GIVEN.seed if OPTIONS_GIVEN.seed is not None else int.from_bytes(os.urandom(3), "big")
    print(f"first seed {first}", flush=True)
    counts, failed, right = collections.Counter(), 0, 0
    fatal, late = 0, 0  # Jobs that a fault must end, and those of them that were through before it.
    end = time.monotonic() + OPTIONS_GIVEN.seconds
    with MEMORY_GROUP, bed.Lab(LAB, ["a", "b"]) as lab:
        if OPTIONS_GIVEN.fault is not None and OPTIONS_GIVEN.fault not in FAULTS:
            skip.leave(f"{OPTIONS_GIVEN.fault} is not possible here")
        made = bed.build(OPTIONS_GIVEN.weft, HERE / "checked.c", lab.folder.name)
        for turn in range(OPTIONS_GIVEN.jobs):
            if time.monotonic() > end:
                break
            name, outcome, problem, ended_well = run_one(lab, made, first + turn, OPTIONS_GIVEN.fault, OPTIONS_GIVEN.verbose)
            counts[name] += 1
            failed += bool(problem)
            right += ended_well
            fatal += outcome == FAILS
            late += outcome == FAILS and ended_well
    faults = sum(counts.values()) - counts["nothing"]
    print(f"{sum(counts.values())} jobs, {faults} faults, {right} right answers, {failed} failures: "
          + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())), flush=True)
    if fatal >= 4 and 2 * late > fatal:
        print(f"{late} of {fatal} jobs ended well although something was killed")
        failed += 1
    return 1 if failed or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
