#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of simulated programs: Bruck's all-to-all on the torus preset.

Usage: programs.py WEFT [--large] [--threads N[,N]]

Compiles examples/bruck and runs it with 64, 512 and 4096 ranks (4-byte blocks) and 512 ranks (1024-byte blocks); --large adds 4096 ranks with
1024-byte blocks and 65,536 with 4. Prints a JSON object per run: wall and processor seconds, packet-hops per second of processor time, peak
memory. Times of different runs are comparable only on a machine that does nothing else; packet-hops are exact.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
small = [("4x4x4", 4), ("8x8x8", 4), ("16x16x16", 4), ("8x8x8", 1024)]
large = [("16x16x16", 1024), ("64x32x32", 4)]


def run(weft, program, torus, block, threads, scratch):
    out = pathlib.Path(scratch, "out")
    command = [weft, "sim", "-q", "--net", str(root / "presets/nsim-torus.toml"), "--set", f"network.topology=torus:{torus}",
               "--threads", str(threads), "--output", str(out), program, str(block)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    # A process of its own, whose children are only this run: peak memory is not summed over runs.
    measure = "import resource,subprocess,sys; c=subprocess.run(sys.argv[1:]).returncode; " \
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(c)"
    done = subprocess.run([sys.executable, "-c", measure, *command], capture_output=True, text=True)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"programs: {' '.join(command)}: {done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    summary = json.loads((out / "summary.json").read_text())
    hops = summary["packet_hops"]
    return {"program": "bruck", "ranks": summary["ranks"], "block_bytes": block, "threads": threads, "wall_s": round(wall, 2),
            "cpu_s": round(cpu, 2), "packet_hops": hops, "hops_per_cpu_s": round(hops / cpu), "peak_kb": int(done.stderr.split()[-1]),
            "simulated_us": summary["program_time_ps"] / 1e6}


def main():
    words = sys.argv[1:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    weft = words[0]
    threads = [1]
    if "--threads" in words:
        threads = [int(n) for n in words[words.index("--threads") + 1].split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        program = str(pathlib.Path(scratch, "bruck"))
        subprocess.run([weft, "cc", "-O2", str(root / "examples/bruck/bruck.c"), "-o", program], check=True)
        for torus, block in small + (large if "--large" in words else []):
            for n in threads:
                print(json.dumps(run(weft, program, torus, block, n, scratch)), flush=True)


main()
