#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft probe on simulated trees: is it right, and what does it take beside the paper's way?

Usage: probe.py WEFT [--seeds N] [--hosts N,N,...] [--noise 2%] [--paper N] [--json FILE]

For each number of hosts: random trees of three levels with random fan-outs, noise on every measurement; half of the trees have
their hosts in a random order. Prints a table: how many are right, round trips and sets of flows per probe, simulated time, and the
same for the paper's algorithm (measured up to --paper hosts, groups only; beyond, and for its flows, counted).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import trees


def probe(weft, net, folder, *options):
    out = pathlib.Path(folder) / "found.json"
    out.unlink(missing_ok=True)
    done = subprocess.run([weft, "probe", "--net", net, "--quiet", "--json", out, *options], capture_output=True, text=True, check=False)
    if not out.exists():
        sys.exit(f"weft probe ended with {done.returncode}: {done.stderr}")
    return done.returncode == 0, done.stdout, json.loads(out.read_text(encoding="utf-8"))


def flows_of_paper(switches):
    """Each pair of switches alone, and each two pairs without a common switch."""
    pairs = switches * (switches - 1) // 2
    return pairs + pairs * ((switches - 2) * (switches - 3) // 2) // 2


def row_of(options, hosts, folder):
    rows = {False: [], True: []}
    wrong = []
    paper = None
    for seed in range(options.seeds):
        shuffled = seed % 2 == 1
        routers, places = trees.random_tree(seed, hosts, shuffled)
        net = trees.write(folder, "tree", routers, places)
        right, said, found = probe(options.weft, net, folder, "--noise", options.noise, "--seed", str(seed + 1))
        if not right:
            wrong.append(f"{hosts} hosts, seed {seed}: {said}")
        counts = found["counts"]
        rows[shuffled].append((len(places), len(set(places)), counts["round_trips"], counts["trials"], counts["seconds"]))
        if paper is None and hosts <= options.paper:
            _, _, by_paper = probe(options.weft, net, folder, "--noise", options.noise, "--method", "paper", "--trials", "never")
            paper = by_paper["counts"]["seconds"]
    made = {"hosts": hosts, "seeds": options.seeds, "right": options.seeds - len(wrong), "wrong": wrong}
    for shuffled, word in (False, "ordered"), (True, "shuffled"):
        if rows[shuffled]:
            columns = list(zip(*rows[shuffled]))
            made[word] = {"round_trips_per_host": statistics.mean(r / n for n, r in zip(columns[0], columns[2])),
                          "round_trips": statistics.mean(columns[2]), "trials": statistics.mean(columns[3]),
                          "simulated_s": statistics.mean(columns[4])}
    sizes = [row for part in rows.values() for row in part]
    made["switches"] = statistics.mean(row[1] for row in sizes)
    made["paper"] = {"round_trips": statistics.mean(row[0] * (row[0] - 1) for row in sizes),
                     "trials": statistics.mean(flows_of_paper(row[1]) for row in sizes), "round_trips_simulated_s": paper}
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--hosts", default="64,250,1000")
    parser.add_argument("--noise", default="2%")
    parser.add_argument("--paper", type=int, default=250)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    print("| hosts | switches with hosts | right | round trips per host: in order, mixed | sets of flows | simulated time: in order, mixed | the "
          "paper's round trips, flows | its time for round trips |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    with tempfile.TemporaryDirectory(prefix="weft-probe-") as folder:
        for hosts in map(int, options.hosts.split(",")):
            row = row_of(options, hosts, folder)
            rows.append(row)
            ordered, shuffled, paper = row["ordered"], row.get("shuffled", row["ordered"]), row["paper"]
            time = f'{paper["round_trips_simulated_s"]:.3f} s' if paper["round_trips_simulated_s"] else "not run"
            print(f'| {hosts} | {row["switches"]:.0f} | {row["right"]} of {row["seeds"]} | {ordered["round_trips_per_host"]:.1f}, '
                  f'{shuffled["round_trips_per_host"]:.1f} | {ordered["trials"]:.0f} | {ordered["simulated_s"]:.3f} s, '
                  f'{shuffled["simulated_s"]:.3f} s | {paper["round_trips"]:.0f}, {paper["trials"]:.2g} | {time} |', flush=True)
    for row in rows:
        for text in row["wrong"]:
            print(text)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
