#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far a model of networks is from the next finer one, and what it saves.

Usage: fidelity.py WEFT [--models FINE,COARSE] [--networks A,B] [--programs A;B] [--uncalibrated] [--skew TIME] [--csv FILE]

Runs programs of examples/ with 256 ranks on several networks, with two models: packet and flow, unless --models says otherwise. Prints a row for
each: the simulated times, their difference in percent, the part of the bytes that weft sim calls uncertain, and processor seconds of both. Flows are
calibrated first (weft net NETWORK --calibrate), by permutations that are none of these programs, unless --uncalibrated is given. Ranks start within
--skew (50 ns), so that exact lockstep does not decide. Simulated times are the same on every machine.
"""
import argparse
import csv
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
networks = {
    "torus": ["--net", "torus:8x8x4"],
    "torus-nsim": ["--net", "torus:8x8x4", "--profile", "nsim"],
    "torus-adaptive": ["--net", "torus:8x8x4", "--routing", "min-adaptive"],
    "fattree": ["--net", "fattree:radix=32,levels=2"],
    "fattree-adaptive": ["--net", "fattree:radix=32,levels=2", "--routing", "adaptive-up"],
    "dragonfly": ["--net", "dragonfly:a=6,h=3,p=3"],
    "dragonfly-ugal": ["--net", "dragonfly:a=6,h=3,p=3", "--routing", "ugal-l"],
    "hyperx": ["--net", "hyperx:8x8,p=4"],
}
sources = {"halo3d": "halo3d/halo3d.c", "bruck": "bruck/bruck.c", "patterns": "buy/patterns.c", "random_ring": "random_ring/random_ring.c",
           "is": "nas/is.c"}
# Name, options of weft sim, program and arguments.
programs = [
    ("halo 128 KiB", [], ["halo3d", "4", "131072"]),
    ("halo 8 KiB", [], ["halo3d", "4", "8192"]),
    ("halo 128 KiB, random map", ["--map", "random:1"], ["halo3d", "4", "131072"]),
    ("bruck 64 B", [], ["bruck", "64"]),
    ("bruck 1 KiB", [], ["bruck", "1024"]),
    ("bruck 16 KiB", [], ["bruck", "16384"]),
    ("allreduce 8 B", [], ["patterns", "allreduce", "8", "4"]),
    ("allreduce 4 MiB, ring", ["--coll", "allreduce=ring"], ["patterns", "allreduce", "4194304", "2"]),
    ("allreduce 1 MiB, doubling", ["--coll", "allreduce=recursive-doubling"], ["patterns", "allreduce", "1048576", "2"]),
    ("all-to-all 4 KiB", ["--coll", "alltoall=pairwise"], ["patterns", "alltoall", "4096", "2"]),
    ("all-to-all 64 KiB", ["--coll", "alltoall=pairwise"], ["patterns", "alltoall", "65536", "1"]),
    ("incast 64 KiB", [], ["patterns", "gather-ready", "65536", "2"]),
    ("random ring 2 MB", [], ["random_ring", "2000000"]),
    ("is", ["--payload", "full"], ["is"]),
]


def compile_all(weft, folder):
    for name, source in sources.items():
        subprocess.run([weft, "cc", "-O2", str(root / "examples" / source), "-o", str(folder / name), "-lm"], check=True)


def calibrate(weft, network):
    done = subprocess.run([weft, "net", networks[network][1], *networks[network][2:], "--calibrate"], capture_output=True, text=True, check=True)
    return float(done.stdout.split("merge_efficiency = ")[1])


def simulate(weft, folder, network, options, words, model, extra):
    out = folder / "out"
    command = [weft, "sim", "-q", "-n", "256", "--model", model, *networks[network], *options, *extra, "-o", str(out), str(folder / words[0]), *words[1:]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"fidelity: {' '.join(command)}: {done.stderr}")
    summary = json.loads((out / "summary.json").read_text())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return summary["program_time_ps"] / 1e6, cpu, 100 * summary.get("uncertain_share", 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--models", default="packet,flow")
    parser.add_argument("--networks", default="torus,fattree,dragonfly")
    parser.add_argument("--programs", default="")
    parser.add_argument("--uncalibrated", action="store_true")
    parser.add_argument("--skew", default="50ns")
    parser.add_argument("--csv", default="")
    asked = parser.parse_args()
    chosen = [p for p in programs if not asked.programs or p[0] in asked.programs.split(";")]
    fine, coarse = asked.models.split(",")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        compile_all(asked.weft, folder)
        print(f"{'network':18} {'program':28} {fine + ' us':>12} {coarse + ' us':>12} {'off by':>8} {'uncertain':>11} {'cpu s':>8} {'cpu s':>8}")
        for network in asked.networks.split(","):
            efficiency = 1.0 if asked.uncalibrated or coarse != "flow" else calibrate(asked.weft, network)
            extra = ["--start-skew", asked.skew, "--set", f"flow.merge_efficiency={efficiency}"]
            print(f"# {' '.join(networks[network])}: merge_efficiency {efficiency}")
            for name, options, words in chosen:
                true, true_cpu, _ = simulate(asked.weft, folder, network, options, words, fine, extra)
                told, told_cpu, uncertain = simulate(asked.weft, folder, network, options, words, coarse, extra)
                off = 100 * (told / true - 1)
                rows.append([network, name, true, told, round(off, 2), round(uncertain, 1), round(true_cpu, 2), round(told_cpu, 2)])
                print(f"{network:18} {name:28} {true:12.2f} {told:12.2f} {off:+7.1f}% {uncertain:10.0f}% {true_cpu:8.2f} {told_cpu:8.2f}", flush=True)
    offs = sorted(abs(row[4]) for row in rows)
    print(f"# median of {len(offs)} rows: off by {offs[len(offs) // 2]} %")
    if asked.csv:
        with open(asked.csv, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["network", "program", f"{fine}_us", f"{coarse}_us", "off_percent", "uncertain_percent", f"{fine}_cpu_s", f"{coarse}_cpu_s"])
            table.writerows(rows)


if __name__ == "__main__":
    main()
