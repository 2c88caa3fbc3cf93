#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What large runs cost with flows: weft sim --model flow, on one core.

Usage: flows.py WEFT [--against WEFT] [--cases bruck-4096,bruck-65536,ring-1024,halo-65536,...] [--rounds N] [--csv FILE]

  bruck-N   examples/bruck, N ranks with blocks of 1024 bytes
  ring-N    one all-reduce of N MiB over N ranks as a ring (ring.c)
  halo-N    examples/halo3d, 2 iterations, faces of 64 KiB, ranks in natural order

Prints a JSON object per run: processor seconds and peak memory of weft and its children, and simulated microseconds. --against runs another build in turn with
the first, and results that differ are an error; of several rounds the one with the least processor time counts. halo-1048576 takes more than ten minutes and 17 GB.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
here = pathlib.Path(__file__).resolve().parent
sources = {"bruck": root / "examples/bruck/bruck.c", "ring": here / "ring.c", "halo": root / "examples/halo3d/halo3d.c"}
# In the order of weft's coordinates, the first of which counts fastest: so ranks of halo3d are neighbours.
tori = {64: "4x4x4", 512: "8x8x8", 1024: "8x8x16", 4096: "16x16x16", 65536: "32x32x64", 262144: "64x64x64", 1048576: "64x128x128"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--against", metavar="WEFT")
    parser.add_argument("--cases", default="bruck-4096,bruck-65536,ring-1024,halo-65536")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--csv")
    asked = parser.parse_args()
    for case in asked.cases.split(","):
        kind, _, ranks = case.partition("-")
        if kind not in sources or not ranks.isdigit() or int(ranks) not in tori:
            parser.error(f"'{case}' is no case: say {', '.join(f'{name}-N' for name in sources)}, N one of {', '.join(map(str, tori))}")
    return asked


def command_of(weft, case, programs, out):
    kind, ranks = case.split("-")
    words = {"bruck": ["1024"], "ring": [str(int(ranks) << 20)], "halo": ["2", "65536", "in-turn", "by-hand"]}[kind]
    return [weft, "sim", "-q", "--model", "flow", "--net", f"torus:{tori[int(ranks)]}", "--coll", "allreduce=ring", "--output", str(out), programs[kind],
            *words]


def run(weft, case, programs):
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch, "out")
        with open(pathlib.Path(scratch, "printed"), "w+", encoding="utf-8") as printed:
            child = subprocess.Popen(command_of(weft, case, programs, out), stdout=subprocess.DEVNULL, stderr=printed)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                printed.seek(0)
                sys.exit(f"flows: {case}: exit {child.returncode}: {printed.read()[-600:]}")
        summary = json.loads((out / "summary.json").read_text())
    return {"case": case, "ranks": summary["ranks"], "processor_s": round(used.ru_utime + used.ru_stime, 2), "peak_mb": round(used.ru_maxrss / 1024, 1),
            "simulated_us": summary["program_time_ps"] / 1e6, "messages": summary["messages"]}


def main():
    asked = arguments()
    builds = {"weft": asked.weft} | ({"against": asked.against} if asked.against else {})
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = {}
        for name, source in sources.items():
            programs[name] = str(pathlib.Path(scratch, name))
            subprocess.run([asked.weft, "cc", "-O2", str(source), "-o", programs[name], "-lm"], check=True)
        for case in asked.cases.split(","):
            best = {}
            for _ in range(asked.rounds):
                for name, weft in builds.items():
                    row = {"build": name, **run(weft, case, programs)}
                    if name not in best or row["processor_s"] < best[name]["processor_s"]:
                        best[name] = row
            if len({row["simulated_us"] for row in best.values()}) > 1:
                sys.exit(f"flows: {case}: the builds differ: {best}")
            for row in best.values():
                print(json.dumps(row), flush=True)
            rows += best.values()
    if asked.csv:
        with open(asked.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


main()
