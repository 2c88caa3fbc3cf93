#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which of four networks of 512 nodes for my codes? Times under each routing that fits, with broken cables, with ranks placed, and cost.

Usage: buy.py WEFT [--codes halo,alltoall] [--quick] [--jobs N] [--csv FILE]

Each code runs eight iterations in step, with a barrier before each, and eight freely: without a barrier, by ranks that begin up to 10 us apart, as real
ones do. The table shows the slowest rank under the best routing of each kind. Then three cables are broken (`--fail random:3`) under the same routing. The halo exchange also runs with ranks placed by
`weft map`, the all-to-all with ranks scattered (`--map random`). `weft net` tells cost and power. --quick: networks of the same kinds with 64 nodes, and smaller messages.
"""
import argparse
import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROUTINGS = {
    "torus": ("dor", "min-adaptive"),
    "fattree": ("dest-down", "adaptive-up"),
    "dragonfly": ("minimal", "ugal-l", "valiant", "min-adaptive"),
    "hyperx": ("minimal", "ugal-l", "valiant", "min-adaptive"),
}
ONLY = {"valiant": ("alltoall",)}  # A detour for every packet pays where all send to all.
AROUND = {"dor": "dor-around"}  # Goes round broken cables as the other does where none is broken. Others do so themselves.
SMALL = {"torus": "torus:4x4x4", "fattree": "xgft:m=8x8,w=1x4", "dragonfly": "dragonfly:a=4,h=2,p=2,g=8", "hyperx": "hyperx:4x4,p=4"}
SIZES = {"halo": 1 << 20, "allreduce": 8, "alltoall": 4096, "gather": 1 << 16}  # Bytes as in patterns.c.
SMALL_SIZES = {"halo": 1 << 16, "allreduce": 8, "alltoall": 4096, "gather": 1 << 16}
# Code and map, and the networks where they run. On the torus neighbours of the halo are neighbours of the network already.
MAPS = {("halo", "placed"): ("fattree", "dragonfly", "hyperx"), ("alltoall", "scattered"): tuple(ROUTINGS)}
ITERATIONS = 8
SKEW_US = 10  # Ranks that begin at the same instant, and compute for exactly as long, would stay in step for a while even without a barrier.
MODES = ("in_step", "free")


def weft(words, folder):
    return subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False)


class Buyer:
    def __init__(self, program, folder, quick):
        self.weft, self.folder = pathlib.Path(program).resolve(), pathlib.Path(folder)
        self.networks = {network: self.small(network) if quick else HERE / f"{network}.toml" for network in ROUTINGS}
        self.sizes = SMALL_SIZES if quick else SIZES
        self.run("cc", "-O2", HERE / "patterns.c", "-o", "patterns")

    def run(self, *words):
        done = weft([self.weft, *words], self.folder)
        return done.stdout if done.returncode == 0 else sys.exit(done.stderr)

    def small(self, network):
        """The same machine, but for its size."""
        file = self.folder / f"{network}.toml"
        text = (HERE / file.name).read_text(encoding="utf-8")
        file.write_text(re.sub(r'(?m)^topology = .*', f'topology = "{SMALL[network]}"', text), encoding="utf-8")
        return file

    def times(self, network, code, routing, *more):
        """Microseconds of an iteration by mode; None if the routing does not fit."""
        done = weft([self.weft, "sim", "-q", "--net", self.networks[network], "--routing", routing, *more, "./patterns", code, self.sizes[code], ITERATIONS,
                     SKEW_US],
                    self.folder)
        found = re.search(r": ([\d.]+) us; in step ([\d.]+) us", done.stdout)
        return {"free": float(found.group(1)), "in_step": float(found.group(2))} if done.returncode == 0 and found else None

    def best(self, network, code, *more):
        """(routing, microseconds) by mode."""
        fitting = [routing for routing in ROUTINGS[network] if code in ONLY.get(routing, SIZES)]
        times = {routing: self.times(network, code, routing, *more) for routing in fitting}
        times = {routing: time for routing, time in times.items() if time is not None}
        return {mode: min(((routing, time[mode]) for routing, time in times.items()), key=lambda row: row[1]) for mode in MODES}

    def place(self, network):
        """A map of the ranks of the halo exchange; smaller faces have the same neighbours."""
        self.run("sim", "-q", "--net", self.networks[network], "--record", f"{network}-halo", "./patterns", "halo", min(65536, self.sizes["halo"]), 1)
        self.run("map", f"{network}-halo", "--preset", "fast", "-q", "-o", f"{network}.map")
        return f"{network}.map"


def measure(buyer, network, code, ranks):
    """A row of the table. ranks: in order, placed or scattered."""
    more = ("--map", buyer.place(network)) if ranks == "placed" else ("--map", "random") if ranks == "scattered" else ()
    best = buyer.best(network, code, *more)
    row = {"network": network, "code": code, "bytes": buyer.sizes[code], "ranks": ranks}
    for mode, (routing, time) in best.items():
        row |= {f"routing_{mode}": routing, f"us_{mode}": time}
    if ranks != "in order":
        return row
    around = {routing: buyer.times(network, code, AROUND.get(routing, routing), "--fail", "random:3") for routing in {routing for routing, _ in best.values()}}
    for mode, (routing, _) in best.items():
        row[f"us_{mode}_three_cables_down"] = around[routing][mode] if around[routing] else None
    return row


def show(row):
    text = f"{row['network']:<10} {row['code'] + (', ' + row['ranks'] if row['ranks'] != 'in order' else ''):<19}"
    for mode in MODES:
        text += f" {mode.replace('_', ' '):<7} {row[f'us_{mode}']:>9.2f} us {row[f'routing_{mode}']:<12}"
        if row["ranks"] == "in order":
            down = row[f"us_{mode}_three_cables_down"]
            text += " three cables down: " + (f"{down:>9.2f} us " if down is not None else "no way ")
    print(text.rstrip(), flush=True)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--codes", default=",".join(SIZES), help="some of " + ", ".join(SIZES))
    parser.add_argument("--quick", action="store_true", help="networks of 64 nodes, smaller messages")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="simulations at once (default: one for each processor)")
    parser.add_argument("--csv", help="the table as CSV")
    options = parser.parse_args()
    options.codes = options.codes.split(",")
    if unknown := [code for code in options.codes if code not in SIZES]:
        parser.error(f"--codes: {unknown[0]} is none of {', '.join(SIZES)}")
    return options


def main():
    options = read_options()
    cases = [(network, code, ranks) for code in options.codes for ranks in ("in order", "placed", "scattered") for network in ROUTINGS
             if ranks == "in order" or network in MAPS.get((code, ranks), ())]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        buyer = Buyer(options.weft, folder, options.quick)
        rows = []
        for row in pool.map(lambda case: measure(buyer, *case), cases):
            show(row)
            rows.append(row)
        print("\n" + buyer.run("net", *buyer.networks.values()), end="")
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0].keys())  # Other rows than those in order have no broken cables.
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
