#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs on simulated machines again and again: no byte of what comes out may change.

With one, two and four threads, once more, and under another name of the folder, all files and all that is printed
are the same. With and without the data of messages, times are. With --launcher MPIRUN: processes instead of threads, as
many as --processes says.
"""
import argparse
import filecmp
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Program, its arguments, machine, and whether its course depends on received data.
CASES = [
    ("ring", [], ["--net", "torus:4x4"], False),
    ("bruck", ["64"], ["--net", "torus:4x4x4"], False),
    ("halo3d", ["3", "20000"], ["--net", "torus:4x4x2", "--ranks-per-node", "2"], False),
    ("halo3d", ["2", "3000"], ["--net", "fattree:k=4,levels=2"], False),
    ("trunk", ["4", "far", "0", "1"], ["--net", "PRESETS/opteron-trunk.toml"], False),
    ("random_ring", ["30000"], ["--net", "mesh:5x5"], False),
    ("abort", [], ["--net", "torus:4x4x4"], False),
    ("poll", [], ["--net", "torus:4x4"], False),
    ("master_worker", ["100"], ["--net", "torus:4x4"], True),
    ("sort", ["300"], ["--net", "dragonfly:a=4,h=2,p=2", "-n", "32"], True),
    ("bruck", ["64"], ["--net", "torus:4x4x4", "--connections", "managed,shortcuts=2"], False),
    ("halo3d", ["2", "30000"], ["--net", "fattree:k=4,levels=3", "--connections", "managed,shortcuts=1,replace=random"],
     False),
    ("random_ring", ["30000"], ["--net", "mesh:5x5", "--connections", "on-demand"], False),
    ("bruck", ["1024"], ["--net", "torus:4x4x4", "--model", "flow", "--start-skew", "1us"], False),
    ("random_ring", ["300000"], ["--net", "fattree:k=4,levels=2", "--routing", "adaptive-up", "--model", "flow"], False),
    ("bruck", ["1024"], ["--net", "torus:4x4x4", "--model", "flit"], False),
    ("random_ring", ["30000"], ["--net", "torus:4x4", "--routing", "min-adaptive", "--model", "flit"], False),
    ("sort", ["300"], ["--net", "dragonfly:a=4,h=2,p=2", "-n", "32", "--connections", "managed,shortcuts=0"], True),
]
EXIT = {"abort": 3, "poll": 1}  # Others end well.
# Open MPI does not start for root, and not more processes than cores, unless told to.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")
WATCH = ["--matrix", "--series", "5us", "--watch", "0", "--watch-until", "20us", "--watch-every", "500ns"]


class Job:
    def __init__(self, weft, folder, program, arguments, machine):
        self.weft, self.folder = weft, folder
        self.program, self.arguments, self.machine = program, arguments, machine
        # An hour of waiting would be many samples.
        self.watch = ["--matrix"] if program.name == "poll" else WATCH
        self.one_process = "flow" in machine or "flit" in machine
        if self.one_process:
            self.watch = WATCH[:3]  # These models have no buffers of packets to watch.

    def run(self, name, options, launcher=()):
        out = self.folder / name
        done = subprocess.run(
            [*launcher, self.weft, "sim", *self.machine, *self.watch, "--output", str(out), *options, str(self.program),
             *self.arguments], capture_output=True, check=False, timeout=240, env=ENVIRONMENT)
        return out, Printed(done)


class Printed:
    def __init__(self, done):
        self.out, self.error, self.code = done.stdout, done.stderr, done.returncode

    def same(self, other):
        return (self.out, self.error, self.code) == (other.out, other.error, other.code)

    def same_but_for_launcher(self, other):
        """A launcher has something to say itself when a job ends badly."""
        if self.code == 0:
            return self.same(other)
        rest = iter(other.error.splitlines())
        return self.out == other.out and other.code != 0 and all(line in rest for line in self.error.splitlines())


def differences(one, other):
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir()} - {"settings.json"})
    if "summary.json" not in names:
        return ["summary.json (not written)"]
    _, unequal, missing = filecmp.cmpfiles(one, other, names, shallow=False)
    # The command line and the number of workers differ; what can change results must not.
    asked = [json.loads((folder / "settings.json").read_text(encoding="utf-8"))["settings"] for folder in (one, other)]
    return unequal + missing + (["settings of settings.json"] if asked[0] != asked[1] else [])


def without_data(out):
    """What must not depend on whether data travels."""
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    del summary["payload"]
    return summary, (out / "ranks.csv").read_bytes(), (out / "traffic.txt").read_bytes()


def check(job, needs_data, launcher):
    problems = []
    payload = ["--payload", "full"] if needs_data else []
    first, printed = job.run("one", ["--threads", "1", *payload])
    if printed.code != EXIT.get(job.program.name, 0):
        return [f"unexpected end: {printed.out + printed.error} exit {printed.code}"]
    ways = [("again", 1), ("two", 2), ("four", 4)]
    if launcher:
        ways = [(f"processes{n}", n) for n in ((1,) if job.one_process else launcher.processes)]
    for name, workers in ways:
        if launcher:
            other, also = job.run(name, payload, [launcher.program, "-np", str(workers)])
            same = printed.same_but_for_launcher(also)
        else:
            other, also = job.run(name, ["--threads", str(workers), *payload])
            same = printed.same(also)
        for file in differences(first, other):
            problems.append(f"{file} differs with {workers} workers")
        if not same:
            problems.append(f"prints something else with {workers} workers: {also.out + also.error} exit {also.code}")
    if not needs_data and not launcher:
        full, _ = job.run("full", ["--payload", "full"])
        if without_data(first) != without_data(full):
            problems.append("other times when data travels")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("examples", type=pathlib.Path)
    parser.add_argument("--launcher")
    parser.add_argument("--processes", type=lambda text: [int(word) for word in text.split(",")], default=[2, 3])
    options = parser.parse_args()
    launcher = argparse.Namespace(program=options.launcher, processes=options.processes) if options.launcher else None
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for number, (name, arguments, machine, needs_data) in enumerate(CASES):
            program = place / name
            if not program.exists():
                folders = [options.examples / name, pathlib.Path(__file__).parent]
                source = next(path / f"{name}.c" for path in folders if (path / f"{name}.c").exists())
                subprocess.run([options.weft, "cc", "-O2", str(source), "-o", str(program)], check=True)
            machine = [word.replace("PRESETS", str(options.examples.parent / "presets")) for word in machine]
            results = place / str(number)
            results.mkdir()
            for problem in check(Job(options.weft, results, program, arguments, machine), needs_data, launcher):
                print(f"{name} {' '.join(arguments)} on {machine[1]}: {problem}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
