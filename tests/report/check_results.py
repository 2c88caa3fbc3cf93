#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON of weft traffic and weft map holds what it was made from, in the shape of a record's settings.json. Walks all options: each has either another
value here, with the setting that must then differ, or a reason why it cannot change results. Usage: check_results.py WEFT traffic|map"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from check_settings import DISPLAY, FILES, NOTHING_ELSE, check_all_known

SPEED = "results do not depend on it; it is among the circumstances"

TRAFFIC_CHANGES = {
    "--net": (["--net", "mesh:2x2"], {"network.topology"}),
    "--profile": (["--profile", "nsim"], {"profile", "link.rate"}),
    "--routing": (["--routing", "valiant"], {"routing.policy", "vcs"}),
    "--set": (["--set", "link.rate=5 GB/s"], {"link.rate"}),
    "--fail": (["--fail", "(0,0)-(1,0)"], {"network.down"}),
    "--vcs": (["--vcs", "4"], {"vcs"}),
    "--buffer": (["--buffer", "128"], {"buffer_bytes"}),
    "--packet": (["--packet", "4"], {"packet"}),
    "--pattern": (["--pattern", "transpose"], {"pattern"}),
    "--injection": (["--injection", "periodic"], {"injection"}),
    "--arbitration": (["--arbitration", "age"], {"router.arbitration"}),
    "--release": (["--release", "head"], {"router.release"}),
    "--seed": (["--seed", "7"], {"seed"}),
    "--load": (["--load", "0.02"], {"load"}),
    "--saturation": (["--saturation"], {"load"}),
    "--factor": (["--factor", "4"], {"factor"}),
    "--search-tolerance": (["--search-tolerance", "5"], {"search_tolerance"}),
    "--warmup": (["--warmup", "100", "--measure", "300"], {"warmup_cycles", "measure_cycles"}),
    "--measure": (["--measure", "400"], {"measure_cycles"}),
    "--converge": (["--converge", "5"], {"converge"}),
    "--all": (["--all"], {"all_loads"}),
    "--model": (["--model", "flow"], {"model"}),
}
TRAFFIC_SAME = {
    "--help": NOTHING_ELSE, "--show-machine": NOTHING_ELSE, "--vary": "each curve has the settings that it gives", "--compare": "as --vary",
    "--compare-models": "as --vary", "--basis": "as --vary", "--brief": DISPLAY, "--threads": SPEED, "--jobs": SPEED, "--partition": SPEED, "--json": FILES, "--csv": FILES, "--svg": FILES,
    "--html": FILES, "--progress-file": DISPLAY, "--quiet": DISPLAY,
}
MAP_CHANGES = {
    "--net": (["--net", "mesh:4x4"], {"network.topology"}),
    "--profile": (["--profile", "nsim"], {"profile", "link.rate"}),
    "--routing": (["--routing", "dor"], {"routing.policy"}),
    "--set": (["--set", "link.rate=5 GB/s"], {"link.rate"}),
    "--fail": (["--fail", "(0,0)-(1,0)"], {"network.down"}),
    "--traffic": (["--traffic", "other.txt"], {"traffic", "traffic.fingerprint"}),
    "--traffic-format": (["--traffic", "other.txt", "--traffic-format", "text"], {"traffic.fingerprint"}),
    "--ranks": (["-n", "5"], {"ranks"}),
    "--ranks-per-node": (["--ranks-per-node", "2"], {"ranks_per_node"}),
    "--forbid": (["--forbid", "3"], {"forbid"}),
    "--fix": (["--fix", "0=1"], {"fix"}),
    "--objective": (["--objective", "hops"], {"objective"}),
    "--time": (["--time", "1s"], {"time", "evaluations", "tries"}),
    "--preset": (["--preset", "fast"], {"preset"}),
    "--evaluations": (["--evaluations", "300"], {"evaluations"}),
    "--tries": (["--tries", "3000"], {"tries"}),
    "--chains": (["--chains", "2"], {"chains"}),
    "--trial-effort": (["--trial-effort", "50"], {"trial_effort"}),
    "--seed": (["--seed", "7"], {"seed"}),
    "--start": (["--start", "turned.map"], {"start", "start.fingerprint"}),
    "--resume": (["--resume", "turned.map"], {"resume", "resume.fingerprint"}),
    "--evaluate": (["--evaluate", "turned.map"], {"evaluate", "evaluate.fingerprint"}),
    "--simulate": (["--simulate"], {"simulate"}),
    "--shrink": (["--simulate", "--shrink", "2"], {"shrink"}),
    "--order": (["--order", "queue"], {"nic.order"}),
    "--model": (["--simulate", "--model", "flow"], {"model"}),
}
MAP_SAME = {
    "--help": NOTHING_ELSE, "--show-machine": NOTHING_ELSE, "--convert": NOTHING_ELSE, "--program": "its traffic is among the settings", "--threads": SPEED,
    "--checkpoint": FILES, "--compare-methods": "it writes a file of its own kind", "--output": FILES, "--format": FILES, "--hosts": FILES, "--json": FILES,
    "--csv": FILES, "--svg": FILES, "--html": FILES, "--progress-file": DISPLAY, "--quiet": DISPLAY,
}
# What a call has without the option that is looked at; options that exclude each other give way together.
STARTS = {"traffic": {"--net": "mesh:4x4", "--load": "0.01"},
          "map": {"--net": "torus:4x4", "--traffic": "ring.txt", "--evaluations": "200", "--tries": "2000", "--chains": "1"}}
EXCLUDES = {"--saturation": {"--load"}, "--time": {"--evaluations", "--tries", "--chains"}}


class Results:
    def __init__(self, weft, folder, command):
        self.weft, self.folder, self.command = weft, pathlib.Path(folder), command

    def run(self, words):
        return subprocess.run([self.weft, *words], cwd=self.folder, check=True, text=True, stdout=subprocess.PIPE, timeout=120).stdout

    def result(self, words=(), name="a.json"):
        gone = set(words) | EXCLUDES.get(words[0] if words else "", set())
        start = [word for option, value in STARTS[self.command].items() if option not in gone for word in (option, value)]
        self.run([self.command, *start, *words, "-q", "--json", name])
        return json.loads((self.folder / name).read_text())


def differing(one, other):
    return {key for key in one["settings"] | other["settings"] if one["settings"].get(key) != other["settings"].get(key)}


def check_shape(result, command):
    assert result["command"][1] == command and result["folder"] and result["circumstances"]["processors"], result
    assert 'rate = "200 Gb/s"' in result["machine"] and result["settings"]["link.rate"] == "200 Gb/s", result["settings"]
    assert all(isinstance(value, str) for value in result["settings"].values()), result["settings"]


def check_changes(results, first, changes):
    for option, (words, expected) in changes.items():
        found = differing(first, results.result(words))
        assert expected <= found, f"{option}: {expected} must differ, but only {found} do"
    assert not differing(first, results.result(["--threads", "1"])), "two equal results"


def check_report(results):
    """weft report tells what differs."""
    results.result(name="first.json")
    results.result(["--set", "link.rate=5 GB/s"], "second.json")
    text = results.run(["report", "first.json", "second.json", "--format", "text"])
    assert re.search(r"^Setting: link.rate +200 Gb/s +40 Gb/s$", text, re.M), text


def check_curves(results):
    """What curves have in common stands once, the rest in each of them."""
    varied = results.result(["--vary", "link.rate=5 GB/s,10 GB/s"])
    assert "link.rate" not in varied["settings"] and varied["settings"]["network.topology"] == "mesh:4x4", varied["settings"]
    assert [curve["settings"]["link.rate"] for curve in varied["curves"]] == ["40 Gb/s", "80 Gb/s"], varied
    assert 'rate = "80 Gb/s"' in varied["curves"][1]["machine"] and "machine" not in varied
    compared = results.result(["--compare", "dor,valiant"])
    assert {curve["settings"]["routing.policy"] for curve in compared["curves"]} == {"dor", "valiant"}, compared


def check_comparison(results):
    """The comparison of methods has the warnings that the terminal shows."""
    compared = results.result(["--compare-methods", "--fail", "(0,0)-(1,0)"])
    assert compared["format"] == "weft-map-comparison" and len(compared["maps"]) > 5, compared
    assert any("cables are down" in line for line in compared["warnings"]), compared["warnings"]
    assert compared["settings"]["network.down"] == '["(0,0)-(1,0)"]' and compared["settings"]["seed"] == "1", compared["settings"]
    assert not results.result(["--compare-methods"])["warnings"]


def main():
    weft, command = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]
    changes, same = (TRAFFIC_CHANGES, TRAFFIC_SAME) if command == "traffic" else (MAP_CHANGES, MAP_SAME)
    check_all_known(weft, command, changes, same)
    with tempfile.TemporaryDirectory() as folder:
        results = Results(weft, folder, command)
        (results.folder / "ring.txt").write_text("0 1 4000\n1 2 4000\n2 3 4000\n3 0 4000\n")
        (results.folder / "other.txt").write_text("0 1 4000\n1 2 4000\n2 3 4000\n3 1 4000\n")
        (results.folder / "turned.map").write_text("0 3\n1 5\n2 7\n3 9\n")
        first = results.result()
        check_shape(first, command)
        check_changes(results, first, changes)
        check_report(results)
        if command == "traffic":
            check_curves(results)
        else:
            check_comparison(results)


main()
