#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs somebody's test programs for MPI in both worlds and counts what passes.

Usage: conformance.py WEFT FOLDER... [--world run,sim] [--only PATTERN] [--jobs N] [--limit SECONDS] [--json FILE] [--verbose]

A folder has a file `testlist` with a line for each run: `PROGRAM RANKS [arg=WORD] [env=NAME=VALUE] [timeLimit=SECONDS] [resultTest=NAME]
[xfail=WHY]...`. A name alone is a folder inside of it, with a list of its own; `#` begins a comment. A program is made by the folder's Makefile
(`make PROGRAM`, with weft-cc, weft-c++ and weft-fc in front of PATH) if it has one, otherwise compiled from PROGRAM.c, .cpp, .f or .f90. A run has
passed when it ends with 0 in time and prints a line `No Errors` (in any case of letters) or, where there is a file PROGRAM.out, exactly what stands there. A list may say that a
run fails (xfail) or ends otherwise (resultTest=TestErrFatal, TestStatus: not with 0; TestStatusNoErrors: not with 0, and prints the line); what it says of
other libraries' settings is ignored. Programs that write files of the same name in their folder need --jobs 1.
Ends with a table of counts; exit code 1 if anything failed that the list does not expect to.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

ENDINGS = {".c": "cc", ".cpp": "c++", ".cxx": "c++", ".f": "fc", ".f90": "fc"}
WORLDS = ("run", "sim")
PASSED, FAILED, LATE, BROKEN, EXPECTED = "passed", "failed", "late", "not compiled", "fails as expected"
SLOTS = 16  # Nodes of the simulated network; more ranks share them.


class Run:
    """A line of a list."""

    def __init__(self, folder, line):
        words = line.split()
        self.folder, self.program, self.ranks = folder, words[0], int(words[1]) if len(words) > 1 and words[1].isdigit() else 1
        self.options = collections.defaultdict(list)
        for word in words[2:]:
            key, _, value = word.partition("=")
            self.options[key].append(value)

    def limit(self, usual):
        return float(self.options["timeLimit"][0]) if self.options["timeLimit"] else usual

    def may_fail(self):
        return bool(self.options["xfail"])

    def ends_badly(self):
        return any(name in ("TestErrFatal", "TestStatus", "TestStatusNoErrors") for name in self.options["resultTest"])

    def must_print(self):
        return "TestStatusNoErrors" in self.options["resultTest"] or not self.ends_badly()

    def words(self):
        return self.options["arg"]

    def environment(self):
        return dict(value.split("=", 1) for value in self.options["env"] if "=" in value)

    def name(self):
        return " ".join([f"{self.folder.name}/{self.program}", str(self.ranks), *self.words()])


def read_list(folder):
    """The runs of a folder and of those in it, in the order of their lists."""
    file = folder / "testlist"
    if not file.is_file():
        sys.exit(f"{file}: there is no such list of programs")
    runs = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        line = line.partition("#")[0].strip()
        words = line.split()
        if len(words) == 1 and (folder / words[0]).is_dir():
            runs += read_list(folder / words[0]) if (folder / words[0] / "testlist").is_file() else []
        elif words:
            runs.append(Run(folder, line))
    return runs


class Driver:
    def __init__(self, options):
        self.options, self.weft = options, pathlib.Path(options.weft).resolve()
        self.tools = tempfile.TemporaryDirectory()  # weft-cc and its kin, which mean weft cc.
        for language in ("cc", "c++", "fc"):
            (pathlib.Path(self.tools.name) / f"weft-{language}").symlink_to(self.weft)
        self.environment = {**os.environ, "PATH": f"{self.tools.name}:{os.environ['PATH']}"}
        self.made, self.making = {}, collections.defaultdict(threading.Lock)  # One at a time in a folder: programs share objects.

    def make(self, run):
        """The program, or None."""
        key = (run.folder, run.program)
        with self.making[run.folder]:
            if key not in self.made:
                self.made[key] = self.make_now(run)
        return self.made[key]

    def make_now(self, run):
        target = run.folder / run.program
        if (run.folder / "Makefile").is_file():
            words = ["make", "-C", str(run.folder), run.program]
        else:
            sources = [target.with_name(run.program + ending) for ending in ENDINGS if target.with_name(run.program + ending).is_file()]
            if not sources:
                return None
            words = [str(self.weft), ENDINGS[sources[0].suffix], "-O1", str(sources[0]), "-o", str(target)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, env=self.environment, timeout=600)
        if done.returncode != 0 and self.options.verbose:
            print(f"{run.name()}: {done.stderr[-1500:]}", flush=True)
        return target if done.returncode == 0 and target.exists() else None

    def command(self, world, run, program):
        if world == "run":
            return [str(self.weft), "run", "-n", str(run.ranks), "--timeout", f"{run.limit(self.options.limit):g}s", str(program), *run.words()]
        share = -(-run.ranks // SLOTS)
        return [str(self.weft), "sim", "-q", "--payload", "full", "--net", "torus:4x4", "--ranks-per-node", str(share), "-n", str(run.ranks), str(program), *run.words()]

    def judge(self, world, run):
        """(outcome, what it said)"""
        program = self.make(run)
        if program is None:
            return BROKEN, ""
        try:
            done = subprocess.run(self.command(world, run, program), cwd=run.folder, capture_output=True, text=True, errors="replace", check=False,
                                  stdin=subprocess.DEVNULL, env={**self.environment, **run.environment()}, timeout=run.limit(self.options.limit) + 10)
        except subprocess.TimeoutExpired as late:
            return LATE, str(late.stdout or "")[-500:]
        if done.returncode == 124:
            return LATE, done.stderr[-500:]
        expected = run.folder / f"{run.program}.out"
        right = done.stdout == expected.read_text(encoding="utf-8") if expected.is_file() else any(line.strip().lower() == "no errors" for line in done.stdout.splitlines())
        ended = done.returncode != 0 if run.ends_badly() else done.returncode == 0
        if ended and (right or not run.must_print()):
            return PASSED, ""
        return EXPECTED if run.may_fail() else FAILED, (done.stdout + done.stderr)[-1200:]


def show(counts, worlds):
    kinds = (PASSED, FAILED, LATE, BROKEN, EXPECTED)
    print(f"{'folder':<24} {'world':<5} " + " ".join(f"{kind:>17}" for kind in kinds))
    totals = collections.Counter()
    for folder, of_folder in counts.items():
        for world in worlds:
            print(f"{folder:<24} {world:<5} " + " ".join(f"{of_folder[world, kind]:>17}" for kind in kinds))
            totals.update({(world, kind): of_folder[world, kind] for kind in kinds})
    for world in worlds:
        print(f"{'all':<24} {world:<5} " + " ".join(f"{totals[world, kind]:>17}" for kind in kinds))
    return totals


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("folders", nargs="+", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--world", default="run,sim", help="run, sim, or both: run,sim")
    parser.add_argument("--only", default="*", help="programs whose name fits this pattern")
    parser.add_argument("--jobs", type=int, default=1, help="programs at once")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a run whose list says nothing")
    parser.add_argument("--json", help="every run and its outcome")
    parser.add_argument("--verbose", action="store_true", help="show what failed programs and compilers said")
    options = parser.parse_args()
    options.worlds = options.world.split(",")
    if wrong := [world for world in options.worlds if world not in WORLDS]:
        parser.error(f"--world: {wrong[0]} is neither run nor sim")
    return options


def main():
    options = read_options()
    driver = Driver(options)
    runs = [run for folder in options.folders for run in read_list(folder) if fnmatch.fnmatch(run.program, options.only)]
    counts, rows = {}, []

    def one(run):
        return run, [(world, *driver.judge(world, run)) for world in options.worlds]

    def outcomes_of(pool):
        """Of all runs, or of those that were over when the user stopped."""
        try:
            yield from pool.map(one, runs)
        except KeyboardInterrupt:
            print("stopped; so far:", flush=True)
            pool.shutdown(cancel_futures=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for run, outcomes in outcomes_of(pool):
            name = str(run.folder.relative_to(next(folder for folder in options.folders if folder in (run.folder, *run.folder.parents)).parent))
            of_folder = counts.setdefault(name, collections.Counter())
            for world, outcome, said in outcomes:
                of_folder[world, outcome] += 1
                rows.append({"folder": name, "program": run.program, "ranks": run.ranks, "arguments": run.words(), "world": world, "outcome": outcome})
                if outcome != PASSED:
                    print(f"{outcome}: weft {world}: {run.name()}", flush=True)
                if said and options.verbose:
                    print("    " + said.strip().replace("\n", "\n    "), flush=True)
    totals = show(counts, options.worlds)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 1 if any(totals[world, kind] for world in options.worlds for kind in (FAILED, LATE, BROKEN)) or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
