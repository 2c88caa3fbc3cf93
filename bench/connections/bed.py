#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What few connections cost on real sockets: sixteen hosts of the test bed on four switches (1 Gbit/s, 50 us to the root).

Usage: bed.py WEFT [--jobs is16,is64,alltoall,halo] [--repeat 3] [--json FILE]

Modes are full and managed with 0, 2, 4, 8 and 16 shortcuts, and 8 of random replacement; groups are the switches. For each the median time,
against full, connections that a rank held at most, and messages that were relayed. The integer sort (examples/nas) tells its whole time, the
patterns (bench/twin) that of a round. Needs root and the test bed.
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
sys.path.insert(0, str(ROOT / "tests/rails"))
import bed  # noqa: E402 pylint: disable=wrong-import-position

HOSTS = [f"h{number}" for number in range(16)]
LAB = "switch root\nswitch s[0-3] on root rate 1gbit delay 50us\n" + "".join(
    f"host h[{4 * k}-{4 * k + 3}] on s{k} rate 1gbit delay 10us\n" for k in range(4))
MODES = ["full", *(f"managed,shortcuts={count}" for count in (0, 2, 4, 8, 16)), "managed,shortcuts=8,replace=random"]
JOBS = {"is16": (16, ["is", "20", "10"]), "is64": (64, ["is", "20", "5"]), "alltoall": (16, ["patterns", "alltoall", "4096", "50"]),
        "halo": (16, ["patterns", "halo", "20000", "50"])}
# The sort's own clock in us, or the pattern's in s.
TIME = re.compile(r"verified at ([\d.]+) us|^([\d.]+)$", re.M)


def run(lab, weft, folder, job, mode):
    ranks, (program, *words) = JOBS[job]
    groups = f",groups={folder}/groups" if mode != "full" else ""
    call = lab.words(weft, ranks, "--timeout", "60s", "--connections", mode + groups, "--profile", folder / "record", folder / "first", folder / program, *words)
    done = subprocess.run([str(word) for word in call], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, start_new_session=True)
    found = TIME.search(done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"bed: {job} with {mode} ends with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
    seconds = float(found[1]) / 1e6 if found[1] else float(found[2])
    return seconds, json.loads((folder / "record/summary.json").read_text(encoding="utf-8"))["connections"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    given = parser.parse_args()
    if bed.missing():
        sys.exit(f"bed: {bed.missing()}")
    weft, rows = os.path.abspath(given.weft), []
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch, bed.Lab(LAB, HOSTS) as lab:
        folder = pathlib.Path(scratch)
        for source in (ROOT / "examples/nas/is.c", ROOT / "bench/twin/patterns.c"):
            bed.build(weft, source, folder)
        (folder / "groups").write_text("".join(f"h{number} s{number // 4}\n" for number in range(16)), encoding="utf-8")
        # What is measured takes the cores before other work on the machine.
        (folder / "first").write_text('#!/bin/sh\necho -18 2>/dev/null > /proc/self/autogroup\nexec "$@"\n', encoding="utf-8")
        (folder / "first").chmod(0o755)
        print(f"{'job':<9} {'mode':<36} {'time/ms':>9} {'/full':>6} {'held':>5} {'relayed':>8}")
        for job in given.jobs.split(","):
            full = None
            for mode in MODES:
                runs = [run(lab, weft, folder, job, mode) for _ in range(given.repeat)]
                time, held = statistics.median(seconds for seconds, _ in runs), runs[-1][1]
                full = full or time
                rows.append({"job": job, "mode": mode, "time_s": time, "ratio": time / full, "held_most": held["most"],
                             "relayed": held.get("managed", {}).get("relayed", 0)})
                print(f"{job:<9} {mode:<36} {1e3 * time:>9.2f} {time / full:>6.2f} {held['most']:>5} {rows[-1]['relayed']:>8}", flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
