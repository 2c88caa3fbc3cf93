#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft beside SimGrid (Debian: libsimgrid-dev): the same MPI program on the same kind of network, in turn, in one sitting.

Usage: simgrid.py WEFT [--model packet|flow] [--cases torus:512:4,torus:4096:4,torus:4096:1024,fattree:512:4,...] [--rounds N] [--csv FILE]

A case is NETWORK:RANKS:BLOCK; with --model flow there is one unless more are named, torus:1024:1024, as SimGrid needs 9 GB for torus:4096:1024.
The program is examples/bruck, compiled by `weft cc` for the one and by smpicc for the other; both get links of 8 GB/s and run on one core without carrying
data (SimGrid: blocks of a program share their memory, computation is not timed). weft simulates every packet of 256 bytes on the torus preset, or on a fat
tree with the same hardware, or with --model flow its flows there; SimGrid shares links among flows, which is less work than packets and another answer:
its packets column is empty. Prints a JSON object per run: processor seconds, peak memory, simulated time, and for weft packet-hops; of several rounds, the
one with the least processor time. Without SimGrid it says so and ends with 77.
"""
import argparse
import csv
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
TORI = {64: (4, 4, 4), 512: (8, 8, 8), 1024: (16, 8, 8), 4096: (16, 16, 16), 32768: (32, 32, 32), 65536: (64, 32, 32)}
CASES = {"packet": "torus:512:4,torus:4096:4,torus:4096:1024,fattree:512:4,fattree:2048:4", "flow": "torus:1024:1024"}
# Leaves with as many nodes below as switches above them.
TREES = {64: (8, 8), 512: (16, 32), 2048: (32, 64), 8192: (64, 128)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--model", choices=sorted(CASES), default="packet")
    parser.add_argument("--cases")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--csv")
    asked = parser.parse_args()
    asked.cases = asked.cases or CASES[asked.model]
    return asked


def measured(command, folder):
    """Processor seconds and peak memory of a command and its children, and what it printed."""
    text = pathlib.Path(folder, "printed")
    with text.open("w", encoding="utf-8") as printed:
        child = subprocess.Popen([str(word) for word in command], stdout=printed, stderr=subprocess.STDOUT, cwd=folder)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"simgrid: {' '.join(map(str, command))}: exit {child.returncode}: {text.read_text(errors='replace')[-600:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss, text.read_text(errors="replace")


def weft_command(asked, network, ranks, out):
    spec = "torus:" + "x".join(map(str, TORI[ranks])) if network == "torus" else f"fattree:k={2 * TREES[ranks][0]},levels=2"
    command = [asked.weft, "sim", "-q", "--model", asked.model, "--net", root / "presets/nsim-torus.toml", "--set", f"network.topology={spec}",
               "--threads", "1", "-n", ranks, "--output", out]
    return command if network == "torus" else command + ["--routing", "dest-down"]


def platform(network, ranks):
    if network == "torus":
        shape = 'topology="TORUS" topo_parameters="' + ",".join(map(str, TORI[ranks])) + '"'
    else:
        leaf, leaves = TREES[ranks]
        shape = f'topology="FAT_TREE" topo_parameters="2;{leaf},{leaves};1,{leaf};1,1"'
    return ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
            f'  <cluster id="machine" prefix="node-" radical="0-{ranks - 1}" suffix="" speed="1Gf" bw="8GBps" lat="246ns" {shape} '
            'sharing_policy="SPLITDUPLEX"/>\n</platform>\n')


def simulated_us(printed):
    """What examples/bruck says of itself: '512 ranks, 4-byte blocks: 20.308 us'."""
    line = next(row for row in printed.splitlines() if "-byte blocks:" in row)
    return float(line.split("blocks:")[1].split()[0])


def run_weft(asked, program, case, folder):
    network, ranks, block = case
    out = pathlib.Path(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    seconds, kb, printed = measured([*weft_command(asked, network, ranks, out), program, block], folder)
    hops = json.loads((out / "summary.json").read_text())["packet_hops"] if asked.model == "packet" else None
    return {"simulator": "weft", "model": asked.model, "cpu_s": seconds, "peak_mb": kb / 1024, "simulated_us": simulated_us(printed), "packet_hops": hops}


def run_simgrid(program, case, folder):
    network, ranks, block = case
    pathlib.Path(folder, "platform.xml").write_text(platform(network, ranks), encoding="utf-8")
    pathlib.Path(folder, "hosts").write_text("".join(f"node-{i}\n" for i in range(ranks)), encoding="utf-8")
    command = ["smpirun", "-np", ranks, "-hostfile", "hosts", "-platform", "platform.xml", "--cfg=smpi/auto-shared-malloc-thresh:1000",
               "--cfg=smpi/simulate-computation:no", "--log=root.thresh:error", program, block]
    seconds, kb, printed = measured(command, folder)
    return {"simulator": "simgrid", "model": "flow", "cpu_s": seconds, "peak_mb": kb / 1024, "simulated_us": simulated_us(printed), "packet_hops": None}


def main():
    asked = arguments()
    asked.weft = pathlib.Path(shutil.which(asked.weft) or asked.weft).resolve()
    if shutil.which("smpirun") is None:
        print("skipped: SimGrid is not here (Debian: libsimgrid-dev)")
        sys.exit(77)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = root / "examples/bruck/bruck.c"
        ours, theirs = pathlib.Path(folder, "bruck"), pathlib.Path(folder, "bruck-simgrid")
        subprocess.run([asked.weft, "cc", "-O2", source, "-o", ours], check=True)
        subprocess.run(["smpicc", "-O2", source, "-o", theirs], check=True, capture_output=True)
        for words in asked.cases.split(","):
            network, ranks, block = words.split(":")
            case = (network, int(ranks), int(block))
            found = {}
            for _ in range(asked.rounds):
                for row in (run_weft(asked, ours, case, folder), run_simgrid(theirs, case, folder)):
                    best = found.get(row["simulator"])
                    if best is None or row["cpu_s"] < best["cpu_s"]:
                        found[row["simulator"]] = row
            for row in found.values():
                row = {"network": network, "ranks": int(ranks), "block_bytes": int(block), **row, "cpu_s": round(row["cpu_s"], 2),
                       "peak_mb": round(row["peak_mb"], 1), "weft_is_faster": round(found["simgrid"]["cpu_s"] / found["weft"]["cpu_s"], 2)}
                rows.append(row)
                print(json.dumps(row), flush=True)
    if asked.csv:
        with open(asked.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


main()
