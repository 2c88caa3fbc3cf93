#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What few connections cost: programs on a simulated fat tree of 16 hosts per switch, with every mode of connections.

Usage: connections.py WEFT [--ranks N[,N...]] [--patterns NAME[,NAME...]] [--modes MODE...] [--json FILE]

Modes are full, on-demand, and managed with 0, 2, 4, 8 and 16 shortcuts, 8 of random replacement, and 8 that give way
at once (patience=1). Patterns are is (the integer sort of
examples/nas), alltoall, halo and random. For each: the time of the whole program and of what lies between start and end (the time of a
program that does nothing is taken off), both against full; connections that a rank held at most; messages that were relayed.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODES = ["full", "on-demand", *(f"managed,shortcuts={n}" for n in (0, 2, 4, 8, 16)), "managed,shortcuts=8,replace=random",
         "managed,shortcuts=8,patience=1"]
# Program, its arguments, whether its course depends on data.
PATTERNS = {
    "idle": ("patterns", ["idle"], False),
    "is": ("is", [], True),
    "alltoall": ("patterns", ["alltoall", "4096", "2"], False),
    "halo": ("patterns", ["halo", "20000", "20"], False),
    "random": ("patterns", ["random", "4096", "100"], False),
}


def compile_programs(weft, folder):
    for source in (ROOT / "examples/nas/is.c", pathlib.Path(__file__).with_name("patterns.c")):
        subprocess.run([weft, "cc", "-O2", str(source), "-o", str(folder / source.stem)], check=True)


def run(weft, folder, ranks, pattern, mode):
    program, arguments, needs_data = PATTERNS[pattern]
    if program == "is":  # 512 keys for each rank, as many rounds as NAS has.
        arguments = [str((512 * ranks).bit_length() - 1), "10"]
    levels = 2 if ranks <= 256 else 3
    out = folder / "out"
    command = [weft, "sim", "-q", "--profile", "nsim", "--net", f"fattree:k=16,levels={levels}", "-n", str(ranks), "--connections", mode, "--output", str(out),
               "--payload", "full" if needs_data else "none", str(folder / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"connections: {' '.join(command)}: {done.stderr}")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return {**summary["connections"], "ranks": ranks, "pattern": pattern, "mode": mode, "time_us": summary["program_time_ps"] / 1e6}


def table(rows):
    print(f"{'ranks':>6} {'pattern':<9} {'mode':<36} {'time/ms':>9} {'/full':>7} {'work/ms':>9} {'/full':>7} {'held':>5} {'of full':>7} "
          f"{'relayed':>9} {'evicted':>8}")
    for row in rows:
        print(f"{row['ranks']:>6} {row['pattern']:<9} {row['mode']:<36} {row['time_us'] / 1e3:>9.3f} {row['time_ratio']:>7.3f} "
              f"{row['work_us'] / 1e3:>9.3f} {row['work_ratio']:>7.3f} {row['held_most']:>5} {row['held_ratio']:>7.3f} {row['relayed']:>9} "
              f"{row['evicted']:>8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--ranks", default="128")
    parser.add_argument("--patterns", default="is,alltoall,halo,random")
    parser.add_argument("--modes", nargs="+", default=MODES, help="of --connections; the first is what others are held against")
    parser.add_argument("--json")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        compile_programs(given.weft, folder)
        for ranks in (int(n) for n in given.ranks.split(",")):
            idle = {mode: run(given.weft, folder, ranks, "idle", mode)["time_us"] for mode in given.modes}
            for pattern in given.patterns.split(","):
                part = [run(given.weft, folder, ranks, pattern, mode) for mode in given.modes]
                for row in part:
                    row["work_us"] = row["time_us"] - idle[row["mode"]]
                for row in part:
                    row["time_ratio"] = row["time_us"] / part[0]["time_us"]
                    row["work_ratio"] = row["work_us"] / part[0]["work_us"]
                    row["held_ratio"] = row["held_most"] / part[0]["held_most"]
                table(part)
                rows += part
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
