#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of simulated programs: Bruck's all-to-all on the torus preset.

Usage: programs.py WEFT [--large | --networks] [--threads N[,N]]

Compiles examples/bruck and runs it with 64, 512 and 4096 ranks (4-byte blocks) and 512 ranks (1024-byte blocks); --large adds 4096 ranks with
1024-byte blocks and 65,536 with 4. --networks runs blocks of 256 bytes on networks of every kind and with every kind of routing instead, each three
times, and counts the run that took the median of processor time. Prints a JSON object per run: wall and processor seconds, packet-hops and passages
(hops and the two links of a packet's ends) per second of processor time, peak memory. Times of different runs are comparable only on a machine that does nothing else; packet-hops are exact.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
small = [("torus:4x4x4", 4), ("torus:8x8x8", 4), ("torus:16x16x16", 4), ("torus:8x8x8", 1024)]
large = [("torus:16x16x16", 1024), ("torus:64x32x32", 4)]
# With their routing, and what else differs from the preset.
networks = [("torus:8x8x8", "dor"), ("torus:8x8x8", "valiant", "router.vcs=4"), ("torus:8x8x8", "ugal-l", "router.vcs=4"),
            ("torus:8x8x8", "min-adaptive", "router.vcs=3"), ("torus:32x16", "crossline", "router.vcs=6"),
            ("torus:32x16", "foresight", "router.vcs=3"), ("torus:32x16", "rca-1d", "router.vcs=3"), ("fattree:k=32,levels=2", "source-up"),
            ("fattree:k=32,levels=2", "adaptive-up"), ("fattree:k=32,levels=2", "adaptive-up", "router.buffer=512B"),
            ("fattree:k=8,levels=3", "adaptive-up"), ("dragonfly:a=8,h=4,p=4", "minimal"), ("dragonfly:a=8,h=4,p=4", "ugal-l", "router.vcs=4"),
            ("hyperx:8x8x8", "minimal"), ("hyperx:8x8x8", "ugal-l")]


def run(weft, program, network, block, threads, scratch, routing="dor", keys=()):
    out = pathlib.Path(scratch, "out")
    command = [weft, "sim", "-q", "--net", str(root / "presets/nsim-torus.toml"), "--set", f"network.topology={network}", "--routing", routing]
    command += [word for key in keys for word in ("--set", key)]
    command += ["--threads", str(threads), "--output", str(out), program, str(block)]
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
    passages = hops + 2 * summary["packets"]
    return {"program": "bruck", "network": network, "routing": routing, "keys": keys, "ranks": summary["ranks"], "block_bytes": block,
            "threads": threads, "wall_s": round(wall, 2), "cpu_s": round(cpu, 2), "packet_hops": hops, "hops_per_cpu_s": round(hops / cpu),
            "passages_per_cpu_s": round(passages / cpu), "peak_kb": int(done.stderr.split()[-1]),
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
        if "--networks" in words:
            for network, routing, *keys in networks:
                for n in threads:
                    runs = [run(weft, program, network, 256, n, scratch, routing, keys) for _ in range(3)]
                    print(json.dumps(sorted(runs, key=lambda one: one["cpu_s"])[1]), flush=True)
            return
        for network, block in small + (large if "--large" in words else []):
            for n in threads:
                print(json.dumps(run(weft, program, network, block, n, scratch)), flush=True)


main()
