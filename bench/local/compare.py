#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well weft sim, given what weft probe --local has measured, predicts weft run on this machine.

  compare.py WEFT [--net FILE.toml] [--ranks 2,4] [--codes pingpong,halo] [--sizes 0,1024] [--repeat 5] [--json FILE]

Without --net the machine is measured first. Each code of codes.c runs --repeat times by weft run and as often by weft sim, in turns, so that both
meet the same disturbances of the machine. A run gives the lower quartile of its batches for every size; of several runs the median counts, and the
lowest is shown beside it. ratio is predicted / measured; "off" marks what is not within 20 %. Codes that compute (stencil) run with --compute measured.
With more ranks than cores a row has "shared": true.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KIB = 1024
SIZES = [0, 8, 64, 256, KIB, 4 * KIB, 16 * KIB, 20 * KIB, 32 * KIB, 64 * KIB, 256 * KIB, KIB * KIB, 4 * KIB * KIB]
CODES = {"pingpong": SIZES, "stream": SIZES, "exchange": SIZES, "halo": SIZES, "allreduce": SIZES[1:], "alltoall": SIZES[1:],
         "stencil": [4 * KIB, 64 * KIB, KIB * KIB]}


def run(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=600)
    if done.returncode != 0:
        sys.exit(f"compare: {' '.join(str(word) for word in words)}\nends with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def times(text):
    """Microseconds by size, of the lines that codes prints."""
    return {int(line.split()[0]): float(line.split()[1]) for line in text.splitlines()}


def compare(arguments, program, net, ranks, code):
    sizes = [size for size in CODES[code] if not arguments.sizes or size in arguments.sizes]
    words = [program, code, ",".join(str(size) for size in sizes)]
    compute = ["--compute", "measured"] if code == "stencil" else []
    real, simulated = [], []
    for _ in range(arguments.repeat):
        real.append(times(run([arguments.weft, "run", "-q", "-n", ranks, *words])))
        if compute or not simulated:  # The same every time, unless computing is measured.
            simulated.append(times(run([arguments.weft, "sim", "-q", "--net", net, "-n", ranks, *compute, *words])))
    for size in sizes:
        runs = [one[size] for one in real]
        measured, predicted = statistics.median(runs), statistics.median(one[size] for one in simulated)
        yield {"code": code, "ranks": ranks, "shared": ranks > arguments.cores, "bytes": size, "measured_us": measured, "least_us": min(runs),
               "predicted_us": predicted, "ratio": predicted / measured if measured > 0 else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--net", default="", help="a file that weft probe --local has written")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--codes", default=",".join(CODES))
    parser.add_argument("--sizes", type=lambda text: [int(word) for word in text.split(",")], default=[])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", default="")
    arguments = parser.parse_args()
    arguments.weft = os.path.abspath(arguments.weft)
    arguments.cores = len(os.sched_getaffinity(0))
    rows = []
    with tempfile.TemporaryDirectory(prefix="weft-local-") as name:
        folder = pathlib.Path(name)
        net = arguments.net or folder / "local.toml"
        if not arguments.net:
            print(run([arguments.weft, "probe", "--local", "-o", net]))
        run([arguments.weft, "cc", "-O2", HERE / "codes.c", "-o", folder / "codes"])
        print(f"{'code':10} {'ranks':>5} {'bytes':>8} {'run, us':>10} {'least':>10} {'sim, us':>10} {'ratio':>6}", flush=True)
        for ranks in (int(word) for word in arguments.ranks.split(",")):
            for code in arguments.codes.split(","):
                for row in compare(arguments, folder / "codes", net, ranks, code):
                    rows.append(row)
                    mark = "" if row["ratio"] and abs(row["ratio"] - 1) <= 0.2 else "off"
                    print(f"{code:10} {ranks:5} {row['bytes']:8} {row['measured_us']:10.3f} {row['least_us']:10.3f} {row['predicted_us']:10.3f} "
                          f"{row['ratio'] or 0:6.2f} {mark}", flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    good = sum(row["ratio"] is not None and abs(row["ratio"] - 1) <= 0.2 for row in rows)
    print(f"{good} of {len(rows)} predictions within 20 %")


if __name__ == "__main__":
    main()
