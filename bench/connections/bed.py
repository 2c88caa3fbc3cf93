#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What few connections cost on real sockets: sixteen hosts of the test bed on four or eight switches (1 Gbit/s, 50 us to the root).

Usage: bed.py WEFT [--jobs is16,is4x4,...] [--shortcuts 0,2,...] [--repeat 3] [--json FILE]

Processes stand one to a host, or four (64 of them, on eight switches); those of 4x4 four to each of four hosts, one on each switch. Modes are full and managed
with 0, 2, 4, 8 and 16 shortcuts, and 8 of random replacement; groups are the switches. For each the mean time, against full, with its standard
error, connections that a rank held at most, and messages that were relayed. The integer sort (examples/nas) tells its whole time, the patterns
(bench/twin) that of a round. Needs root and the test bed.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bed"))
import bed  # noqa: E402 pylint: disable=wrong-import-position

HOSTS = [f"h{number}" for number in range(16)]


def lab_of(switches):
    """Where the largest frame of TCP does not fit into a bucket it is cut into single packets: five times the work for long messages."""
    each = len(HOSTS) // switches
    return "default burst 72k\nswitch root\n" + "".join(
        f"switch s{k} on root rate 1gbit delay 50us\nhost h[{each * k}-{each * k + each - 1}] on s{k} rate 1gbit delay 10us\n"
        for k in range(switches))


SHORTCUTS = "0,2,4,8,16,8:random"
# Ranks, switches, hosts, program. 64 ranks on four switches would need a quarter of all connections for their neighbours alone.
JOBS = {
    "is8": (8, 4, HOSTS[::2], ["is", "20", "40"]),
    "is16": (16, 4, HOSTS, ["is", "20", "40"]),
    "is4x4": (16, 4, HOSTS[::4], ["is", "20", "40"]),
    "is64": (64, 8, HOSTS, ["is", "20", "5"]),
    "alltoall16": (16, 4, HOSTS, ["patterns", "alltoall", "4096", "200"]),
    "alltoall4x4": (16, 4, HOSTS[::4], ["patterns", "alltoall", "4096", "200"]),
    "alltoall64": (64, 8, HOSTS, ["patterns", "alltoall", "1024", "50"]),
    "halo16": (16, 4, HOSTS, ["patterns", "halo", "20000", "1000"]),
    "halo4x4": (16, 4, HOSTS[::4], ["patterns", "halo", "20000", "1000"]),
    "halo64": (64, 8, HOSTS, ["patterns", "halo", "20000", "400"]),
}
# The sort's own clock in us, or the pattern's in s.
TIME = re.compile(r"verified at ([\d.]+) us|^([\d.]+)$", re.M)


def run(lab, weft, folder, job, mode):
    ranks, _, hosts, (program, *words) = JOBS[job]
    groups = f",groups={folder}/groups" if mode != "full" else ""
    call = lab.words(weft, ranks, "--timeout", "60s", "--connections", mode + groups, "--record", folder / "record", folder / "first", folder / program, *words,
                     hosts=hosts)
    done = subprocess.run([str(word) for word in call], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, start_new_session=True)
    found = TIME.search(done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"bed: {job} with {mode} ends with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
    seconds = float(found[1]) / 1e6 if found[1] else float(found[2])
    return seconds, json.loads((folder / "record/summary.json").read_text(encoding="utf-8"))["connections"]


def prepare(weft, folder, switches):
    for source in (ROOT / "examples/nas/is.c", ROOT / "bench/twin/patterns.c"):
        bed.build(weft, source, folder)
    each = len(HOSTS) // switches
    (folder / "groups").write_text("".join(f"{host} s{number // each}\n" for number, host in enumerate(HOSTS)), encoding="utf-8")
    # What is measured takes the cores before other work on the machine.
    (folder / "first").write_text('#!/bin/sh\necho -18 2>/dev/null > /proc/self/autogroup\nexec "$@"\n', encoding="utf-8")
    (folder / "first").chmod(0o755)


def modes_of(shortcuts):
    counts = [word.partition(":") for word in shortcuts.split(",")]
    return ["full", *(f"managed,shortcuts={count}{',replace=' + which if which else ''}" for count, _, which in counts)]


def doubt(times):
    """The standard error of their mean, as a part of it."""
    return statistics.stdev(times) / len(times)**0.5 / statistics.mean(times) if len(times) > 1 else 0


def compare(lab, weft, folder, job, given):
    """Modes take turns, so that an hour in which the machine is slow is slow for all. Means and not medians: where many processes share two
    cores, some jobs run at one of two speeds."""
    runs = {mode: [] for mode in modes_of(given.shortcuts)}
    for _ in range(given.repeat):
        for mode, done in runs.items():
            done.append(run(lab, weft, folder, job, mode))
    times = {mode: [seconds for seconds, _ in done] for mode, done in runs.items()}
    rows = []
    for mode, all_times in times.items():
        time = statistics.mean(all_times)
        ratio = time / statistics.mean(times["full"])
        error = ratio * (doubt(all_times)**2 + doubt(times["full"])**2)**0.5
        held = max((held for _, held in runs[mode]), key=lambda held: held["most"])
        rows.append({"job": job, "mode": mode, "times_s": all_times, "time_s": time, "ratio": ratio, "ratio_error": error,
                     "held_most": held["most"], "relayed": held.get("managed", {}).get("relayed", 0)})
        print(f"{job:<12} {mode:<36} {1e3 * time:>9.2f} {ratio:>6.2f} {error:>5.2f} {held['most']:>5} {rows[-1]['relayed']:>8}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--shortcuts", default=SHORTCUTS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    given = parser.parse_args()
    if bed.missing():
        sys.exit(f"bed: {bed.missing()}")
    weft, rows, jobs = os.path.abspath(given.weft), [], given.jobs.split(",")
    if unknown := [job for job in jobs if job not in JOBS]:
        sys.exit(f"bed: no job '{unknown[0]}'; known: {', '.join(JOBS)}")
    print(f"{'job':<12} {'mode':<36} {'time/ms':>9} {'/full':>6} {'+-':>5} {'held':>5} {'relayed':>8}")
    for switches in sorted({JOBS[job][1] for job in jobs}):
        with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch, bed.Lab(lab_of(switches), HOSTS) as lab:
            folder = pathlib.Path(scratch)
            prepare(weft, folder, switches)
            for job in jobs:
                if JOBS[job][1] == switches:
                    rows += compare(lab, weft, folder, job, given)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
