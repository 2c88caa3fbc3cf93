#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which of four networks of 512 nodes for my codes? Times under each routing that fits, with a broken cable, and cost.

Usage: buy.py WEFT [--quick] [--csv FILE]

Each code is simulated on each network under each routing; the table shows the best. Then three cables are broken
(`--fail random:3`), and a routing that goes round them is tried. `weft net` tells cost and power. --quick: networks of the same
kinds with 64 nodes.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROUTINGS = {
    "torus": ("dor", "min-adaptive"),
    "fattree": ("dest-down", "source-up", "adaptive-up", "min-adaptive"),
    "dragonfly": ("minimal", "ugal-l", "valiant", "min-adaptive"),
    "hyperx": ("minimal", "ugal-l", "valiant", "min-adaptive"),
}
AROUND = {
    "torus": ("dor-around", "min-adaptive"),
    "fattree": ("dest-down", "min-adaptive"),
    "dragonfly": ("min-adaptive", "valiant", "ugal-l"),
    "hyperx": ("min-adaptive", "valiant", "ugal-l"),
}
SMALL = {"torus": "torus:4x4x4", "fattree": "xgft:m=8x8,w=1x4", "dragonfly": "dragonfly:a=4,h=2,p=2,g=8", "hyperx": "hyperx:4x4,p=4"}
CODES = (("halo", 1 << 20), ("allreduce", 8), ("alltoall", 4096), ("gather", 1 << 16))  # Bytes as in patterns.c.


def weft(words, folder):
    return subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False)


class Buyer:
    def __init__(self, program, folder, quick):
        self.weft, self.folder = pathlib.Path(program).resolve(), folder
        self.networks = {network: self.small(network) if quick else HERE / f"{network}.toml" for network in ROUTINGS}
        made = weft([self.weft, "cc", "-O2", HERE / "patterns.c", "-o", "patterns"], folder)
        if made.returncode != 0:
            sys.exit(made.stderr)

    def small(self, network):
        """The same machine, but for its size."""
        file = pathlib.Path(self.folder) / f"{network}.toml"
        text = (HERE / file.name).read_text(encoding="utf-8")
        file.write_text(re.sub(r'(?m)^topology = .*', f'topology = "{SMALL[network]}"', text), encoding="utf-8")
        return file

    def time(self, network, code, routing, *more):
        """Microseconds of one iteration; None if the routing does not fit."""
        name, size = code
        done = weft([self.weft, "sim", "-q", "--net", self.networks[network], "--routing", routing, *more, "./patterns", name, size, 4 if size < 4096 else 1],
                    self.folder)
        found = re.search(r": ([\d.]+) us", done.stdout)
        return float(found.group(1)) if done.returncode == 0 and found else None

    def best(self, network, code, routings, *more):
        times = {routing: self.time(network, code, routing, *more) for routing in routings}
        times = {routing: time for routing, time in times.items() if time is not None}
        return min(times.items(), key=lambda row: row[1]) if times else ("none fits", None)

    def describe(self):
        done = weft([self.weft, "net", *self.networks.values()], self.folder)
        return done.stdout if done.returncode == 0 else sys.exit(done.stderr)


def measure(buyer):
    rows = []
    for network, routings in ROUTINGS.items():
        for code in CODES:
            routing, time = buyer.best(network, code, routings)
            detour, broken = buyer.best(network, code, AROUND[network], "--fail", "random:3")
            rows.append({"network": network, "code": code[0], "best_routing": routing, "us": time, "routing_round_breaks": detour,
                         "us_three_cables_down": broken})
            print(f"{network:<10} {code[0]:<10} {time:>9.2f} us  {routing:<12} three cables down: "
                  + (f"{broken:.2f} us  {detour}" if broken is not None else "no routing fits"), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--quick", action="store_true", help="networks of 64 nodes")
    parser.add_argument("--csv", help="the table as CSV")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        buyer = Buyer(options.weft, folder, options.quick)
        rows = measure(buyer)
        print("\n" + buyer.describe(), end="")
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0].keys())
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
