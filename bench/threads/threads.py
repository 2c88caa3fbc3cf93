#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What threads cost and bring in weft run: latency of 8 bytes between two ranks of this host, and messages in a second with several threads.

Usage: threads.py WEFT [--bytes N] [--ms N] [--repeat N] [--json FILE]

Latency: of MPI_Init_thread's levels, and of managed connections without and with a thread that relays while the program computes; best of several
runs that take turns, and the ratio to the first. Rate: 1, 2 and 4 threads of each rank, each pair in a communicator of its own.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).with_name("rate.c")
# Name, words of weft run, level, ranks. Three ranks in one group have no relay, four in two groups have.
LATENCIES = [("single", [], "single", 2), ("serialized", [], "serialized", 2), ("multiple", [], "multiple", 2),
             ("four ranks", [], "single", 4), ("managed, no relays", ["--connections", "managed,max=3"], "single", 4),
             ("managed, a relay", ["--connections", "managed,max=2"], "single", 4)]
TCP = [("TCP, four ranks", ["--no-shared-memory"], "single", 4), ("TCP, managed, no relays", ["--no-shared-memory", "--connections", "managed,max=3"], "single", 4),
       ("TCP, managed, a relay", ["--no-shared-memory", "--connections", "managed,max=2"], "single", 4)]
THREADS = (1, 2, 4)


def measure(given, program, words, level, threads, ranks):
    command = [given.weft, "run", "--quiet", "-n", str(ranks), *words, str(program), level, str(threads), str(given.bytes), str(given.ms)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"latency_us (\S+) rate_per_s (\S+)", done.stdout)
    if done.returncode != 0 or found is None:
        sys.exit(f"threads: {' '.join(command)}: {done.stdout}{done.stderr}")
    return float(found.group(1)), float(found.group(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--bytes", type=int, default=8)
    parser.add_argument("--ms", type=int, default=500, help="time of each measurement")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json")
    given = parser.parse_args()
    rows = {"latency": [], "rate": []}
    with tempfile.TemporaryDirectory(prefix="weft-threads-") as folder:
        program = pathlib.Path(folder) / "rate"
        subprocess.run([given.weft, "cc", "-O2", str(SOURCE), "-o", str(program), "-pthread"], check=True)
        for group in (LATENCIES, TCP):
            best = {}
            for _ in range(given.repeat):
                for name, words, level, ranks in group:
                    best[name] = min(best.get(name, 1e9), measure(given, program, words, level, 1, ranks)[0])
            base = best[group[0][0]]
            for name, value in best.items():
                rows["latency"].append({"case": name, "latency_us": value, "ratio": value / base})
                print(f"latency  {name:<26} {value:8.3f} us  {value / base:6.3f}", flush=True)
        best = {}
        for _ in range(given.repeat):
            for threads in THREADS:
                best[threads] = max(best.get(threads, 0), measure(given, program, [], "multiple", threads, 2)[1])
        best["1 (single)"] = max(measure(given, program, [], "single", 1, 2)[1] for _ in range(given.repeat))
        for threads, value in best.items():
            rows["rate"].append({"threads": threads, "messages_per_s": value})
            print(f"rate     {threads!s:<12} threads {value / 1e6:8.3f} million/s", flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
