#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs on simulated machines again and again: no byte of what comes out may change.

With one, two and four threads, once more, and under another name of the folder, all files and all that is printed
are the same. With and without the data of messages, times are.
"""
import argparse
import filecmp
import json
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
]
EXIT = {"abort": 3, "poll": 1}  # Others end well.
WATCH = ["--matrix", "--series", "5us", "--watch", "0", "--watch-until", "20us", "--watch-every", "500ns"]


class Job:
    def __init__(self, weft, folder, program, arguments, machine):
        self.weft, self.folder = weft, folder
        self.program, self.arguments, self.machine = program, arguments, machine
        # An hour of waiting would be many samples.
        self.watch = ["--matrix"] if program.name == "poll" else WATCH

    def run(self, name, options):
        out = self.folder / name
        done = subprocess.run(
            [self.weft, "sim", *self.machine, *self.watch, "--out", str(out), *options, str(self.program), *self.arguments],
            capture_output=True, check=False, timeout=240)
        return out, done.stdout + done.stderr + f"exit {done.returncode}\n".encode()


def differences(one, other):
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir()})
    _, unequal, missing = filecmp.cmpfiles(one, other, names, shallow=False)
    return unequal + missing


def without_data(out):
    """What must not depend on whether data travels."""
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    del summary["payload"]
    return summary, (out / "ranks.csv").read_bytes(), (out / "traffic.txt").read_bytes()


def check(job, needs_data):
    problems = []
    payload = ["--payload", "full"] if needs_data else []
    first, printed = job.run("one", ["--threads", "1", *payload])
    if not printed.endswith(f"exit {EXIT.get(job.program.name, 0)}\n".encode()):
        return ["unexpected end: " + printed.decode()]
    for name, threads in (("again", "1"), ("two", "2"), ("four", "4")):
        other, also_printed = job.run(name, ["--threads", threads, *payload])
        for file in differences(first, other):
            problems.append(f"{file} differs between runs with 1 and {threads} threads")
        if printed != also_printed:
            problems.append(f"prints something else with {threads} threads")
    if not needs_data:
        full, _ = job.run("full", ["--payload", "full"])
        if without_data(first) != without_data(full):
            problems.append("other times when data travels")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("examples", type=pathlib.Path)
    options = parser.parse_args()
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
            for problem in check(Job(options.weft, results, program, arguments, machine), needs_data):
                print(f"{name} {' '.join(arguments)} on {machine[1]}: {problem}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
