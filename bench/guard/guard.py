#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What weft promises, measured and held against a committed record: a loss of more than 10 % fails.

Usage: guard.py BUILD_FOLDER [--only WORD,...] [--rounds N] [--record FILE] [--bless] [--json FILE]

Bars are instructions per packet-hop and of a start, objectives of maps on the shipped patterns, what few connections cost, how a simulation grows, what
several rails carry and keep when one breaks, latency inside a host against the MPI libraries that are installed, and predictions of real
runs. Instructions, maps and connections are the same in every run; the others are ratios of two things measured in one run, and count
with their best of --rounds. Needs a machine that does nothing else; rails and predictions need root and the test bed. --bless writes what
was measured into the record. A bar that cannot be measured here is skipped, with the reason.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORD = HERE / "record.json"
LOSS_MAX = 0.10
HOPS = ["bruck/512", "permutation/512", "adaptive/torus/64", "adaptive/fattree/64", "adaptive/crossline/64"]
MAPS = ["stencil3d-shuffled-4096", "nas-lu-4096", "nas-ft-4096", "rgg2d-4096"]


class Skipped(Exception):
    """A bar cannot be measured here."""


class Failed(Exception):
    """A command that a bar needs ended badly."""


def output_of(words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def need(program, package):
    if shutil.which(program) is None:
        raise Skipped(f"no {program} (Debian: {package})")


class Guard:
    """Every method below measures some bars: (name, value, whether more is better)."""

    def __init__(self, build, scratch, rounds):
        self.build, self.scratch, self.rounds = build, scratch, rounds
        self.weft = build / "app/weft"

    def hops(self):
        need("valgrind", "valgrind")
        bench = self.build / "bench/packet_hops"
        if not bench.exists():
            raise Skipped("packet_hops is not built (Debian: libbenchmark-dev)")
        for name in HOPS:
            out = self.scratch / "callgrind"
            output_of(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=weft::detail::Engine::run*", bench,
                       f"--benchmark_filter=^{name}/iterations", "--benchmark_format=json", f"--benchmark_out={out}.json"])
            instructions = int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(encoding="utf-8"), re.M)[1])
            counters = json.loads(pathlib.Path(f"{out}.json").read_text(encoding="utf-8"))["benchmarks"][0]
            yield f"instructions per hop, {name}", instructions / counters["hops"], False

    def start(self):
        need("valgrind", "valgrind")
        out = self.scratch / "callgrind"
        output_of(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", self.weft, "--version"])
        yield "million instructions, weft --version", int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(encoding="utf-8"), re.M)[1]) / 1e6, False

    def maps(self):
        output_of([sys.executable, "-B", ROOT / "bench/map/patterns.py", self.scratch, *MAPS])
        for name in MAPS:
            report = self.scratch / "map.json"
            output_of([self.weft, "map", "-q", "--net", "torus:16x16x16", "--traffic", self.scratch / f"{name}.txt", "--evaluations", "20",
                       "--tries", "2000000", "--json", report])
            found = json.loads(report.read_text(encoding="utf-8"))
            yield f"map, found / identity, {name}", found["after"]["value"] / found["before"]["value"], False

    def connections(self):
        out = self.scratch / "connections.json"
        output_of([sys.executable, "-B", ROOT / "bench/connections/connections.py", self.weft, "--patterns", "is,alltoall,halo,random", "--modes",
                   "full", "managed,shortcuts=8", "--json", out])
        for row in json.loads(out.read_text(encoding="utf-8")):
            if row["mode"] != "full":
                yield f"8 shortcuts / full, {row['pattern']}", row["work_ratio"], False

    def scale(self):
        best, memory = 0.0, math.inf
        for _ in range(self.rounds):
            out = output_of([sys.executable, "-B", ROOT / "bench/scale.py", self.weft, "--cases", "4096", "--workers", "1,t2"])
            one, two = (json.loads(line) for line in out.splitlines())
            best, memory = max(best, two["speed_up"]), min(memory, one["peak_mb"])
        yield "2 threads / 1, 4096 ranks", best, True
        yield "MB of memory, 4096 ranks", memory, False

    def rails(self):
        best, pause = {}, {}
        for _ in range(self.rounds):
            for row in self.measured_rails():
                best[row["case"]] = max(best.get(row["case"], 0), row.get("percent", 0))
                if "pause_s" in row:
                    pause[row["case"]] = min(pause.get(row["case"], math.inf), row["pause_s"])
        for case, percent in best.items():
            yield f"percent of the wires, {case}", percent, True
        for case, seconds in pause.items():
            # Shorter ones are as long as the machine takes to notice anything.
            yield f"longest pause in s, {case}", max(seconds, 0.05), False

    def measured_rails(self):
        self.need_bed()
        out = self.scratch / "rails.json"
        output_of([sys.executable, "-B", ROOT / "bench/rails/rails.py", self.weft, "--peers", "", "--only", "1 MB,one cut,one down", "--json", out])
        return json.loads(out.read_text(encoding="utf-8"))

    def latency(self):
        makers = {"weft": ([self.weft, "cc"], [self.weft, "run"])}
        for name in ("openmpi", "mpich"):
            if shutil.which(f"mpicc.{name}"):
                makers[name] = ([f"mpicc.{name}"], [f"mpirun.{name}"])
        if len(makers) == 1:
            raise Skipped("no other MPI library (Debian: libopenmpi-dev, libmpich-dev)")
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for name, (compiler, _) in makers.items():
            output_of([*compiler, "-O2", ROOT / "bench/twin/patterns.c", "-o", self.scratch / f"patterns-{name}"])
        for size, count in ((8, 20000), (65536, 4000)):
            least = dict.fromkeys(makers, math.inf)
            for _ in range(self.rounds + 2):
                for name, (_, launch) in makers.items():
                    words = [*launch, "-n", "2", self.scratch / f"patterns-{name}", "pingpong", size, count]
                    least[name] = min(least[name], float(output_of(words, env=environment).split()[-1]))
            peer = min(value for name, value in least.items() if name != "weft")
            yield f"latency in the host / best peer, {size} B", least["weft"] / peer, False

    def twin(self):
        self.need_bed(delays=True)
        out = self.scratch / "twin.json"
        best = 0.0
        for _ in range(self.rounds):
            output_of([sys.executable, "-B", ROOT / "bench/twin/twin.py", self.weft, "--rails", "1", "--json", out])
            rows = [row for row in json.loads(out.read_text(encoding="utf-8")) if not row["calibration"]]
            good = sum(row["measured_s"] is not None and abs(row["predicted_s"] / row["measured_s"] - 1) <= 0.2 for row in rows)
            best = max(best, 100 * good / len(rows))
        yield "percent of predictions within 20 %", best, True

    @staticmethod
    def need_bed(**more):
        sys.path.insert(0, str(ROOT / "tests/bed"))
        import bed  # pylint: disable=import-outside-toplevel
        if bed.missing(**more):
            raise Skipped(bed.missing(**more))


GROUPS = ("hops", "start", "maps", "connections", "scale", "rails", "latency", "twin")


def judge(value, more_is_better, kept):
    """How much is lost against the record: 0.1 is 10 %, negative a gain."""
    return (kept - value) / kept if more_is_better else (value - kept) / kept


def measure(guard, groups, record):
    """A row for each bar, printed as soon as it is known."""
    print(f"{'bar':<58} {'record':>10} {'now':>10} {'loss':>8}", flush=True)
    for group in groups:
        try:
            for name, value, more_is_better in getattr(guard, group)():
                kept = record.get(name)
                loss = judge(value, more_is_better, kept) if kept else None
                verdict = "new" if loss is None else "FAILS" if loss > LOSS_MAX else ""
                before, change = ("-", "") if loss is None else (f"{kept:.5g}", f"{100 * loss:+.1f} %")
                print(f"{name:<58} {before:>10} {value:>10.5g} {change:>8} {verdict}".rstrip(), flush=True)
                yield {"bar": name, "value": value, "record": kept, "loss": loss, "fails": verdict == "FAILS"}
        except Skipped as reason:
            print(f"{group}: skipped: {reason}", flush=True)
            yield {"bar": group, "skipped": str(reason), "fails": False}
        except Failed as reason:
            print(f"{group}: FAILS: {reason}", flush=True)
            yield {"bar": group, "trouble": str(reason), "fails": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="folder in which weft and its benchmarks are built, as Release")
    parser.add_argument("--only", default="", help=f"some of {', '.join(GROUPS)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", type=pathlib.Path, default=RECORD)
    parser.add_argument("--bless", action="store_true", help="write what was measured into the record")
    parser.add_argument("--json", default="")
    given = parser.parse_args()
    groups = given.only.split(",") if given.only else GROUPS
    unknown = sorted(set(groups) - set(GROUPS))
    if unknown:
        sys.exit(f"guard: no bars '{', '.join(unknown)}'; there are: {', '.join(GROUPS)}")
    build = pathlib.Path(given.build).resolve()
    if not (build / "app/weft").exists():
        sys.exit(f"guard: {build / 'app/weft'} is not there; build weft first")
    record = json.loads(given.record.read_text(encoding="utf-8")) if given.record.exists() else {}
    with tempfile.TemporaryDirectory(prefix="weft-guard-") as name:
        rows = list(measure(Guard(build, pathlib.Path(name), given.rounds), groups, record))
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if given.bless:
        record.update({row["bar"]: float(f"{row['value']:.5g}") for row in rows if "value" in row})
        given.record.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    failed = [row["bar"] for row in rows if row["fails"]]
    skipped, new = sum("skipped" in row for row in rows), sum(row.get("record", 0) is None for row in rows)
    print(f"{len(rows) - skipped - new - len(failed)} bars hold, {len(failed)} fail, {new} are new, {skipped} groups skipped", flush=True)
    # A new record forgives a loss, but not what could not be measured.
    sys.exit(1 if any("trouble" in row for row in rows) or (failed and not given.bless) else 0)


if __name__ == "__main__":
    main()
