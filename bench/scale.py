#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a simulation grows with the machine, and what more workers bring: Bruck's all-to-all on the torus preset.

Usage: scale.py WEFT [--cases 512,4096,4096L,32768,65536,halo] [--workers 1,t2,o2,m2,o4] [--csv FILE]

Compiles examples/bruck and runs 512, 4096, 32,768 and 65,536 ranks with 4-byte blocks and 4096 with 1024-byte blocks (4096L); halo is
examples/halo3d with 262,144 ranks, 10 iterations and faces of 8 KB (only where asked for). Workers: 1 is one thread, t2 two threads, o2 and m2
two processes of Open MPI and MPICH, o4 four of Open MPI. Prints a JSON object per run as it ends, with the speed-up over one thread in the same
sitting, and writes all as CSV. Memory is the peak of all processes together. The larger cases take minutes; results of every way are compared,
and a difference is an error.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

root = pathlib.Path(__file__).resolve().parent.parent
bruck = {"512": ("8x8x8", 4), "4096": ("16x16x16", 4), "4096L": ("16x16x16", 1024), "32768": ("32x32x32", 4), "65536": ("64x32x32", 4)}
launchers = {"o": "mpirun.openmpi", "m": "mpirun.mpich"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--cases", default="512,4096,4096L,32768,65536")
    parser.add_argument("--workers", default="1,t2,o2,m2,o4")
    parser.add_argument("--csv")
    return parser.parse_args()


def command_of(weft, case, workers, programs, out):
    if case == "halo":
        torus, words = "64x64x64", [programs["halo3d"], "10", "8192"]
    else:
        torus, words = bruck[case][0], [programs["bruck"], str(bruck[case][1])]
    line = [weft, "sim", "-q", "--net", str(root / "presets/nsim-torus.toml"), "--set", f"network.topology=torus:{torus}", "--output", str(out)]
    if workers.startswith("t"):
        line += ["--threads", workers[1:]]
    if workers[0] in launchers:
        # Processes of Open MPI are bound to cores one by one unless there are more of them than cores.
        more = ["--oversubscribe"] if workers[0] == "o" else []
        line = [launchers[workers[0]], *more, "-np", workers[1:], *line]
    return line + words


def tree(pid):
    """A process and all that came of it."""
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                left += [int(c) for c in pathlib.Path(f"/proc/{one}/task/{task}/children").read_text().split()]
        except OSError:
            pass
    return found


def resident_kb(pid):
    try:
        for row in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if row.startswith("Pss:"):
                return int(row.split()[1])
    except OSError:
        pass
    return 0


class Peak(threading.Thread):
    """The most memory that a run has, looked at ever more rarely, as looking costs; what processes share counts once."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.kb, self.done = pid, 0, threading.Event()

    def run(self):
        pause = 0.01
        while not self.done.wait(pause):
            self.kb = max(self.kb, sum(resident_kb(p) for p in tree(self.pid)))
            pause = min(4.0, pause * 1.2)


def run(weft, case, workers, programs):
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch, "out")
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        begin = time.monotonic()
        process = subprocess.Popen(command_of(weft, case, workers, programs, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=environment, text=True)
        peak = Peak(process.pid)
        peak.start()
        _, complaint = process.communicate()
        wall = time.monotonic() - begin
        peak.done.set()
        if process.returncode != 0:
            sys.exit(f"scale: {case} with {workers}: {complaint}")
        text = (out / "summary.json").read_text()
    summary = json.loads(text)
    row = {"case": case, "ranks": summary["ranks"], "workers": workers, "wall_s": round(wall, 2), "packet_hops": summary["packet_hops"],
           "hops_per_s": round(summary["packet_hops"] / wall), "peak_mb": round(peak.kb / 1024, 1),
           "simulated_us": summary["program_time_ps"] / 1e6}
    return row, text


def main():
    asked = arguments()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = {}
        for name in ("bruck", "halo3d"):
            programs[name] = str(pathlib.Path(scratch, name))
            subprocess.run([asked.weft, "cc", "-O2", str(root / f"examples/{name}/{name}.c"), "-o", programs[name]], check=True)
        for case in asked.cases.split(","):
            alone, first = None, None
            for workers in asked.workers.split(","):
                row, summary = run(asked.weft, case, workers, programs)
                if first not in (None, summary):
                    sys.exit(f"scale: {case}: {workers} gives another summary")
                first = summary
                alone = row["wall_s"] if workers == "1" else alone
                row["speed_up"] = round(alone / row["wall_s"], 2) if alone else None
                rows.append(row)
                print(json.dumps(row), flush=True)
    if asked.csv:
        with open(asked.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


main()
