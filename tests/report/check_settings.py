#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two runs that were asked for something else look different in the summary of weft report. Walks all options of weft sim and weft run: each has
either another value here, with the setting that must then differ, or a reason why it cannot change results. Usage: check_settings.py WEFT SOURCE sim|run"""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FILES = "it decides which files the record has"
DISPLAY = "it decides what is shown meanwhile"
NOTHING_ELSE = "nothing is run then"

# Option: words of another value, and the settings that must differ.
SIM_CHANGES = {
    "--net": (["--net", "mesh:4x4"], {"network.topology"}),
    "--profile": (["--profile", "nsim"], {"profile", "link.rate"}),
    "--routing": (["--routing", "dor-balanced"], {"routing.policy"}),
    "--set": (["--set", "link.rate=5 GB/s"], {"link.rate"}),
    "--fail": (["--fail", "(0,0)-(1,0)"], {"network.down", "routing.policy"}),
    "--ranks": (["-n", "8"], {"ranks"}),
    "--ranks-per-node": (["--ranks-per-node", "2", "-n", "16"], {"ranks_per_node", "map.fingerprint"}),
    "--map": (["--map", "turned.map"], {"map", "map.fingerprint"}),
    "--separate": (["--separate", "copies"], {"separate"}),
    "--cores-per-rank": (["--cores-per-rank", "2"], {"cores_per_rank"}),
    "--stack": (["--stack", "1 MiB"], {"stack"}),
    "--payload": (["--payload", "full"], {"payload"}),
    "--compute": (["--compute", "measured*2"], {"compute"}),
    "--coll": (["--coll", "alltoall=bruck"], {"collectives"}),
    "--connections": (["--connections", "full"], {"connections"}),
    "--seed": (["--seed", "7"], {"seed"}),
    "--until": (["--until", "5 us"], {"until"}),
    "--model": (["--model", "flow"], {"model"}),
    "--start-skew": (["--start-skew", "50 ns"], {"start_skew"}),
}
SIM_SAME = {
    "--help": NOTHING_ELSE, "--show-machine": NOTHING_ELSE, "--compare-models": "it writes no record",
    "--threads": "results do not depend on it; it is among the circumstances", "--partition": "results do not depend on it; it is among the circumstances",
    "--record": FILES, "--output": FILES, "--matrix": FILES, "--series": FILES, "--timeline": FILES, "--record-output": FILES,
    "--watch": FILES, "--watch-from": FILES, "--watch-until": FILES, "--watch-every": FILES,
    "--live": DISPLAY, "--progress-file": DISPLAY, "--label": DISPLAY, "--quiet": DISPLAY, "--verbose": DISPLAY,
}
RUN_CHANGES = {
    "--ranks": (["-n", "2"], {"ranks", "hosts"}),
    "--map": (["--map", "here.map"], {"map"}),
    "--bind": (["--bind", "none"], {"bind"}),
    "-x": (["-x", "OMP_NUM_THREADS=3"], {"environment.OMP_NUM_THREADS"}),
    "--hosts": (["--hosts", "127.0.0.1:4"], {"hosts"}),
    "--rails": (["--rails", "lo"], {"rails"}),
    "--no-shared-memory": (["--no-shared-memory"], {"shared_memory"}),
    "--no-single-copy": (["--no-single-copy"], {"single_copy"}),
    "--protect": (["--protect", "off"], {"protect"}),
    "--coll": (["--coll", "alltoall=bruck"], {"collectives"}),
    "--set": (["--set", "messages.eager_limit=1KiB"], {"messages"}),
    "--connections": (["--connections", "full"], {"connections"}),
    "--lost-after": (["--lost-after", "20s"], {"lost_after"}),
    "--events": (["--events"], {"events"}),
}
RUN_SAME = {
    "--help": NOTHING_ELSE, "--show-topology": NOTHING_ELSE, "--hwloc": NOTHING_ELSE, "--merge-events": NOTHING_ELSE,
    "--timeout": "it ends a job, and the record then says so", "--grace": "it counts after a failure only",
    "--rsh": "it starts the same processes", "--remote-weft": "it must be the same version",
    "--record": FILES, "--record-output": FILES, "--label": DISPLAY, "--quiet": DISPLAY, "--verbose": DISPLAY,
}


# All kinds of calls that have a choice: blocking, nonblocking, persistent, in a part of the ranks and in none but one.
COLLECTIVES = """
#include <mpi.h>
int main(void) {
  int rank, in[64] = {0}, out[64], half_sum;
  MPI_Request request;
  MPI_Comm half;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Allreduce(&rank, &half_sum, 1, MPI_INT, MPI_SUM, half);
  MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Bcast_init(in, 64, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 4; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
  MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
"""


class Runs:
    def __init__(self, weft, folder, start):
        self.weft, self.folder, self.start, self.number = weft, pathlib.Path(folder), start, 0

    def run(self, words, check=True):
        return subprocess.run([str(word) for word in words], cwd=self.folder, check=check, text=True, stdout=subprocess.PIPE, timeout=120).stdout

    def shown(self, words):
        """Standard error, where weft sim shows its summary."""
        return subprocess.run([self.weft, *words], cwd=self.folder, check=True, text=True, stderr=subprocess.PIPE, timeout=120).stderr

    def record(self, options=(), arguments=("1", "1024"), program="./halo3d"):
        """Options may not be given twice: those of the start give way."""
        self.number += 1
        words = [word for option, value in self.start if option not in options for word in (option, value)]
        self.run([self.weft, *self.command(), "-q", "--record", f"r{self.number}", *words, *options, program, *arguments])
        return f"r{self.number}"

    def command(self):
        return ["sim"] if ("--net", "torus:4x4") in self.start else ["run"]

    def differing(self, one, other):
        rows = csv.reader(io.StringIO(self.run([self.weft, "report", one, other, "--table", "summary"])))
        return {row[0].removeprefix("settings.") for row in rows if row[0].startswith("settings.")}


def options_of(weft, command):
    shown = subprocess.run([weft, command, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout
    names = re.findall(r"^  (?:(-\w),?)?(--[\w-]+)?", shown.partition("\nOptions:\n")[2], re.M)
    return {long or short for short, long in names if long or short}


def check_all_known(weft, command, changes, same):
    options = options_of(weft, command)
    assert len(options) > 20, options
    for option in options:
        assert (option in changes) != (option in same), f"weft {command} {option}: give it another value here, or a reason why it cannot change results"
    assert not (set(changes) | set(same)) - options, f"weft {command} has no option {(set(changes) | set(same)) - options}"


def check_forms(runs, one, other):
    """The difference is told in every format."""
    text = runs.run([runs.weft, "report", one, other, "--format", "text"])
    assert re.search(r"^Setting: link.rate +200 Gb/s +40 Gb/s$", text, re.M), text
    told = json.loads(runs.run([runs.weft, "report", one, other, "--format", "json"]))["differing_settings"]
    assert {"setting": "link.rate", "values": ["200 Gb/s", "40 Gb/s"]} in told, told
    both = runs.run([runs.weft, "report", one, other, "--table", "settings"])
    assert "link.rate,200 Gb/s,40 Gb/s\n" in both, both


def check_algorithms(runs):
    """Two runs whose collectives took other algorithms look different, also if nobody asked for that."""
    (runs.folder / "collectives.c").write_text(COLLECTIVES)
    runs.run([runs.weft, "cc", "collectives.c", "-o", "collectives"])
    alltoall = "bruck" if runs.command() == ["sim"] else "linear"  # Of 16 ranks, of 4.
    expected = {"allreduce": {"recursive-doubling": 4}, "alltoall": {alltoall: 1}, "barrier": {"dissemination": 2}, "bcast": {"binomial": 4}}
    forced = {"allreduce": {"reduce-bcast": 4}, "alltoall": {"pairwise": 1}, "barrier": {"dissemination": 2}, "bcast": {"binomial": 4}}
    plain = runs.record(arguments=(), program="./collectives")
    other = runs.record(["--coll", "allreduce=reduce-bcast,alltoall=pairwise"], arguments=(), program="./collectives")
    for record, algorithms in ((plain, expected), (other, forced)):
        summary = json.loads((runs.folder / record / "summary.json").read_text())
        assert summary["algorithms"] == algorithms, (record, summary["algorithms"])
    # A real run writes the table, a simulation shows it.
    table = (runs.folder / other / "summary.txt").read_text() if runs.command() == ["run"] else runs.shown(
        ["sim", "--net", "torus:4x4", "--threads", "2", "--coll", "allreduce=reduce-bcast,alltoall=pairwise", "./collectives"])
    line = "allreduce: reduce-bcast (4 calls); alltoall: pairwise (1); barrier: dissemination (2); bcast: binomial (4)"
    assert re.search(rf"^algorithms +{re.escape(line)}$", table, re.M), table
    text = runs.run([runs.weft, "report", plain, other, "--format", "text"])
    assert re.search(r"^Algorithm of allreduce +recursive-doubling \(4 calls\) +reduce-bcast \(4 calls\)$", text, re.M), text
    rows = runs.run([runs.weft, "report", plain, other, "--table", "summary"])
    assert f"algorithms.alltoall,{alltoall} (1 call),pairwise (1 call)\n" in rows, rows


def check_sim(weft, runs):
    check_all_known(weft, "sim", SIM_CHANGES, SIM_SAME)
    (runs.folder / "turned.map").write_text("".join(f"{rank} {15 - rank}\n" for rank in range(16)))
    first = runs.record()
    assert not runs.differing(first, runs.record(["--threads", "2", "--record-output", "--label"])), "two equal runs"
    for option, (words, expected) in SIM_CHANGES.items():
        found = runs.differing(first, runs.record(words))
        assert expected <= found, f"{option}: {expected} must differ, but only {found} do"
    assert runs.differing(first, runs.record(arguments=("1", "2048"))) == {"program.arguments"}
    check_forms(runs, first, runs.record(["--set", "link.rate=5 GB/s"]))
    # A map of the same name that says something else.
    one = runs.record(["--map", "turned.map"])
    (runs.folder / "turned.map").write_text("".join(f"{rank} {rank ^ 1}\n" for rank in range(16)))
    assert runs.differing(one, runs.record(["--map", "turned.map"])) == {"map.fingerprint"}
    # The machine of the record is the machine of the run.
    again = runs.record(["--net", f"{first}/machine-used.toml"])
    for name in ("summary.json", "ranks.csv"):
        assert (runs.folder / first / name).read_bytes() == (runs.folder / again / name).read_bytes(), name
    printed = (runs.folder / "r2/program-output.txt").read_text().splitlines()
    assert re.fullmatch(r"\d+ 0 1 16 ranks as .*", printed[1]), printed
    check_algorithms(runs)


def check_run(weft, runs):
    check_all_known(weft, "run", RUN_CHANGES, RUN_SAME)
    here = os.uname().nodename
    (runs.folder / "here.map").write_text("".join(f"{rank} {here}\n" for rank in range(4)))
    otf2 = json.loads(runs.run([weft, "doctor", "--quick", "--format", "json"], check=False))["checks"]
    otf2 = any(check["name"] == "OTF2" and check["state"] == "ok" for check in otf2)
    first = runs.record()
    assert not runs.differing(first, runs.record(["--record-output", "--timeout", "60s"])), "two equal runs"
    for option, (words, expected) in RUN_CHANGES.items():
        if option == "--events" and not otf2:
            continue
        found = runs.differing(first, runs.record(words))
        assert expected <= found, f"{option}: {expected} must differ, but only {found} do"
    assert runs.differing(first, runs.record(arguments=("1", "2048"))) == {"program.arguments"}
    printed = (runs.folder / "r2/program-output.txt").read_text().splitlines()
    assert re.fullmatch(r"\d+ 0 1 4 ranks as .*", printed[1]), printed
    check_algorithms(runs)


def main(weft, source, what):
    with tempfile.TemporaryDirectory(prefix="weft-settings-") as folder:
        start = [("--net", "torus:4x4")] if what == "sim" else [("-n", "4")]
        runs = Runs(weft, folder, start)
        runs.run([weft, "cc", "-O2", f"{source}/examples/halo3d/halo3d.c", "-o", "halo3d"])
        {"sim": check_sim, "run": check_run}[what](weft, runs)
        print(f"{runs.number} records")


if __name__ == "__main__":
    main(*sys.argv[1:])
