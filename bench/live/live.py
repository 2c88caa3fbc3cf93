#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs a simulation to be looked at: the same run alone, with --live that nobody opens, and with a browser that reads along.

Usage: live.py WEFT [--rounds 5] [--net torus:16x16x16] [--iterations 20]

Prints a line of JSON: seconds (least of all rounds, which take turns) and the slowdown. The reader takes events as a browser does.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.request


def read_along(address, counted):
    with urllib.request.urlopen(address + "events", timeout=60) as stream:
        for line in stream:
            counted[0] += line.startswith(b"event: frame")


def run(words, folder, reads):
    """Seconds of a run, and how many frames somebody has read."""
    frames = [0]
    begin = time.perf_counter()
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        reader = None
        for line in process.stderr:
            found = re.search(r"live at (\S+)", line)
            if found and reads:
                reader = threading.Thread(target=read_along, args=(found.group(1), frames))
                reader.start()
        process.wait()
        seconds = time.perf_counter() - begin
        if reader:
            reader.join()
    if process.returncode != 0:
        raise SystemExit(f"{words} ended with {process.returncode}")
    return seconds, frames[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--net", default="torus:16x16x16")
    parser.add_argument("--iterations", type=int, default=20)
    options = parser.parse_args()
    weft = str(options.weft.absolute())
    source = pathlib.Path(__file__).resolve().parents[2] / "examples/halo3d/halo3d.c"
    with tempfile.TemporaryDirectory(prefix="weft-live-bench-") as folder:
        subprocess.run([weft, "cc", "-O2", str(source), "-o", "halo3d"], cwd=folder, check=True)
        program = ["-q", "./halo3d", str(options.iterations), "8192"]
        ways = {"alone": [], "live": ["--live"], "read": ["--live"]}
        best, frames = {}, 0
        for _ in range(options.rounds):
            for name, words in ways.items():
                seconds, seen = run([weft, "sim", "--profile", "nsim", "--net", options.net, *words, *program], folder, name == "read")
                best[name] = min(best.get(name, seconds), seconds)
                frames = max(frames, seen)
    print(json.dumps({"net": options.net, "iterations": options.iterations, "seconds": best, "frames_read": frames,
                      "slowdown_live": best["live"] / best["alone"] - 1, "slowdown_read": best["read"] / best["alone"] - 1}))


if __name__ == "__main__":
    main()
