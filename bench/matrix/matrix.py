#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast every routing is simulated on every kind of network that it fits: a JSON line for each row, on one core.

Usage: matrix.py BUILD_FOLDER [--size small|512|4096] [--machines nsim,tight,cluster] [--loads light,half,full,bruck,open-half,...] [--only WORDS...]
                 [--rounds N] [--count] [--against OTHER_BUILD_FOLDER] [--page FILE.html]

A row counts passages: packets times the links that they cross, with the link into the network and the one out of it (a packet of h hops passes
h + 2 links). passages_per_s is of processor time, the best of --rounds. Loads light, half, full and bruck are closed loops: a node sends its next
message when it has received one. open-light, open-half and open-full are open: the clock sends, at 0.1, 0.5 and 0.9 of a card's rate. Machines:
nsim has buffers of 16 packets, tight the same with 2, cluster is what weft takes by default (switches with output buffers). --only keeps rows that have one of these texts in "NETWORK ROUTING MACHINE LOAD". --count counts instructions and misses of a 1 MB cache
per passage (callgrind; slow, so take --size small). --against runs the rows of another build in turn with these, and says how much faster this
one is; rows whose arrival times differ are marked, and end the run with an error. --page writes the rows as bars, too.
"""
import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NETWORKS = {
    "small": ["torus:4x4x4", "mesh:8x8", "fattree:radix=16,levels=2", "dragonfly:a=4,h=2,p=2", "hyperx:4x4x4", "slimfly:q=5,p=2"],
    "512": ["torus:8x8x8", "torus:32x16", "mesh:8x8x8", "fattree:k=32,levels=2", "fattree:k=8,levels=3", "dragonfly:a=8,h=4,p=4", "hyperx:8x8x8",
            "slimfly:q=11,p=2"],
    "4096": ["torus:16x16x16", "torus:64x64", "fattree:k=64,levels=2", "fattree:k=16,levels=3", "dragonfly:a=12,h=6,p=6", "hyperx:16x16x16"],
}
STEPS = {"light": {"small": 64, "512": 64, "4096": 16}, "half": {"small": 8, "512": 8, "4096": 4}, "full": {"small": 4, "512": 4, "4096": 2},
         "bruck": {"small": 6, "512": 9, "4096": 12}}
STEPS |= {f"open-{load}": {"small": 16, "512": 16, "4096": 8} for load in ("light", "half", "full")}
MACHINES = {"nsim": ("nsim", []), "tight": ("nsim", ["router.buffer=512B"]), "cluster": ("cluster", [])}


def output_of(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"matrix: {' '.join(map(str, words))}: {done.stderr.strip()[-400:]}")
    return done.stdout


def program_in(build):
    program = pathlib.Path(build, "bench/matrix_row")
    if not program.exists():
        sys.exit(f"matrix: {program} is not there; build the target matrix_row")
    return program


def chosen(given, program):
    """Rows that are asked for: (network, routing, machine, load)."""
    fits = [json.loads(line) for line in output_of([program, "--list", *NETWORKS[given.size]]).splitlines()]
    words = given.only or [""]
    for fit in fits:
        for machine in given.machines.split(","):
            for load in given.loads.split(","):
                row = (fit["network"], fit["routing"], machine, load)
                if any(word in " ".join(row) for word in words):
                    yield row


def command_of(program, row, size):
    network, routing, machine, load = row
    profile, sets = MACHINES[machine]
    return [program, network, routing, profile, load, STEPS[load][size], *sets]


def measure(programs, row, given):
    """The best of some rounds for each program, taken in turn."""
    best = [None] * len(programs)
    for _ in range(given.rounds):
        for i, program in enumerate(programs):
            found = json.loads(output_of(command_of(program, row, given.size)))
            if best[i] is None or found["cpu_s"] < best[i]["cpu_s"]:
                best[i] = found
    return best


def count(program, row, size, passages):
    """Instructions and misses of the last cache, per passage."""
    with tempfile.TemporaryDirectory(prefix="weft-matrix-") as scratch:
        out = pathlib.Path(scratch, "callgrind")
        output_of(["valgrind", "--tool=callgrind", "--cache-sim=yes", "--D1=65536,4,64", "--LL=1048576,8,64", f"--callgrind-out-file={out}",
                   "--toggle-collect=weft::detail::Engine::run*", *command_of(program, row, size)])
        text = out.read_text(encoding="utf-8")
    events = re.search(r"^events: (.*)$", text, re.M)[1].split()
    totals = dict(zip(events, map(int, re.search(r"^(?:summary|totals): (.*)$", text, re.M)[1].split())))
    return {"instructions": round(totals["Ir"] / passages), "misses": round((totals["DLmr"] + totals["DLmw"]) / passages, 3)}


PAGE = """<!doctype html><meta charset="utf-8"><title>Speed of weft by network and routing</title>
<style>body{font:14px sans-serif;margin:2em;max-width:70em}td{padding:1px 8px;white-space:nowrap}td.n{text-align:right}td:first-child{width:20em}td:nth-child(2){width:38em}
i{display:inline-block;height:0.8em;background:#4477aa}i.before{background:#bbb}h2{font-size:1.1em;margin:1.2em 0 0.3em}</style>
<h1>Packets passed over links in a second of processor time</h1>
<p>One core. A packet of h hops passes h + 2 links: the link into the network and the one out of it count.%s</p>
"""


def page(rows):
    """Bars by network, all of one scale."""
    most = max(max(row["passages_per_s"], row.get("before", 0)) for row in rows)
    parts = [PAGE % (" Grey: the other build." if any("before" in row for row in rows) else "")]

    def bar(rate, kind):
        return f'<i class="{kind}" style="width:{30 * rate / most:.2f}em"></i> {rate / 1e6:.2f} M'

    for network in dict.fromkeys(row["network"] for row in rows):
        parts.append(f"<h2>{html.escape(network)}</h2><table>")
        for row in rows:
            if row["network"] != network:
                continue
            name = f"{row['routing']}, {row['machine']}, {row['load']}"
            before = "<br>" + bar(row["before"], "before") if "before" in row else ""
            notes = f"{row['instructions']} instructions, {row['misses']} misses" if "instructions" in row else ""
            parts.append(f"<tr><td>{html.escape(name)}<td>{bar(row['passages_per_s'], 'now')}{before}<td class=n>{row['bytes_per_router']} B a router"
                         f"<td class=n>{notes}</tr>")
        parts.append("</table>")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="folder in which weft and its benchmarks are built, as Release")
    parser.add_argument("--size", default="512", choices=NETWORKS)
    parser.add_argument("--machines", default="nsim,cluster")
    parser.add_argument("--loads", default="bruck")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORDS")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--against", default="")
    parser.add_argument("--page", help="a page with a bar for each row")
    given = parser.parse_args()
    for asked, known in ((given.machines, MACHINES), (given.loads, STEPS)):
        unknown = sorted(set(asked.split(",")) - set(known))
        if unknown:
            sys.exit(f"matrix: unknown: {', '.join(unknown)}; there are: {', '.join(known)}")
    if given.count and shutil.which("valgrind") is None:
        sys.exit("matrix: --count needs valgrind (Debian: valgrind)")
    programs = [program_in(build) for build in (given.build, given.against) if build]
    differ, lines = 0, []
    for row in chosen(given, programs[0]):
        found = measure(programs, row, given)
        line = dict(zip(("network", "routing", "machine", "load"), row))
        passages = found[0]["hops"] + 2 * found[0]["packets"]
        rates = [passages / max(one["cpu_s"], 1e-6) for one in found]
        line |= {"passages": passages, "hops_per_packet": round(found[0]["hops"] / found[0]["packets"], 2), "passages_per_s": round(rates[0]),
                 "bytes_per_router": found[0]["bytes_per_router"]}
        if given.count:
            line |= count(programs[0], row, given.size, passages)
        if given.against:
            same = all(one["checksum"] == found[0]["checksum"] for one in found)
            line |= {"before": round(rates[1]), "faster": round(rates[0] / rates[1], 2), "same": same}
            if given.count:
                line["instructions_before"] = count(programs[1], row, given.size, passages)["instructions"]
            differ += not same
        print(json.dumps(line), flush=True)
        lines.append(line)
    if given.page and lines:
        pathlib.Path(given.page).write_text(page(lines), encoding="utf-8")
    if differ:
        sys.exit(f"matrix: {differ} rows differ in their arrival times")


if __name__ == "__main__":
    main()
