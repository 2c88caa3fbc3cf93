#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft map RUN: network, traffic and present map from a record; weft map --convert: maps in all formats. Usage: check_map_record.py WEFT SOURCE"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

QUICK = ["--evaluations", "200", "--tries", "2000", "--chains", "1"]
TURNED = [(5 * rank + 3) % 16 for rank in range(16)]


class Folder:
    def __init__(self, weft, path):
        self.weft, self.path = weft, pathlib.Path(path)

    def run(self, *words, code=0):
        done = subprocess.run([self.weft, *words], cwd=self.path, check=False, text=True, capture_output=True, timeout=120)
        assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def record(self, name, *options, program=("./halo3d", "2", "8192")):
        self.run("sim", "-q", "--record", name, *options, *program)

    def map(self, *words):
        self.run("map", *words, *QUICK, "-q", "--json", "m.json")
        return json.loads((self.path / "m.json").read_text())

    def settings(self, name):
        return json.loads((self.path / name / "settings.json").read_text())["settings"]

    def write(self, name, text):
        (self.path / name).write_text(text)


def check_simulated(f):
    f.write("turned.map", "".join(f"{rank} {node}\n" for rank, node in enumerate(TURNED)))
    f.record("sim", "--net", "torus:4x4", "--map", "turned.map", "--set", "link.rate=5 GB/s")
    found = f.map("sim", "-o", "best.map")
    before, after = found["before"], found["after"]
    assert before["name"] == "present map" and before["nodes"] == TURNED, before
    assert found["network"] == "torus:4x4" and found["ranks"] == 16, found
    assert after["value"] < before["value"], (before["value"], after["value"])
    # A rank sends 4 faces of 8 KiB and more over links of 5 GB/s: with the default links it would take less.
    assert 0 < after["seconds"] <= before["seconds"] and before["seconds"] > 4 * 8192 / 5e9, (before["seconds"], after["seconds"])
    assert {"name": "present map", "value": before["value"]} in found["candidates"], found["candidates"]
    # The command that is told runs the program with the new map.
    command = found["facts"]["run again with"]
    subprocess.run(command, shell=True, cwd=f.path, check=True, capture_output=True, timeout=60)
    first, second = f.settings("sim"), f.settings("sim-mapped")
    differ = {key for key in first if first[key] != second[key]}
    assert differ == {"map", "map.fingerprint"} and second["map"] == "best.map", differ
    # A file of the record stands for it, options go before the record, other maps are compared with the present one.
    again = f.map("sim/summary.json", "--routing", "dor", "--evaluate", "identity")
    assert again["before"]["nodes"] == TURNED and again["after"]["nodes"] == list(range(16)), again
    assert "present map" in f.run("map", "sim", *QUICK, "--compare-methods")
    assert f.map("sim", "--shrink", "4")["facts"]["simulated"] == "messages shrunk by 4"
    told = f.run("map", "sim", "--show-machine")
    assert 'rate = "40 Gb/s"' in told, told


def check_other_networks(f):
    """Nodes keep their numbers; a map that does not fit is not compared, and the report says why."""
    assert f.map("sim", "--net", "mesh:8x8")["before"]["nodes"] == TURNED
    small = f.map("sim", "--net", "torus:4x2", "--ranks-per-node", "2")
    assert small["before"]["name"] == "identity", small["before"]
    assert "torus:4x2 has no node" in small["facts"]["present map"], small["facts"]
    forbidden = f.map("sim", "--net", "mesh:8x8", "--forbid", "3")
    assert "which is forbidden" in forbidden["facts"]["present map"], forbidden["facts"]


def check_stopped(f):
    """Who stops the search gets the best map so far, and is told that the simulated times are missing. There is no bound on time, so it does not end."""
    words = [f.weft, "map", "sim", "--objective", "time", "--time", "100s", "--progress-file", "progress.json", "--json", "stopped.json", "-o", "stopped.map"]
    with subprocess.Popen(words, cwd=f.path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while not (f.path / "progress.json").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        shown = process.communicate(timeout=60)[0]
    assert process.returncode == 0, shown
    told = json.loads((f.path / "stopped.json").read_text())
    assert "seconds" not in told["after"], told["after"]
    assert told["facts"]["simulated time"].startswith("missing: weft was stopped before both maps were simulated"), told["facts"]
    assert "simulated time: missing" in shown, shown
    assert "simulated time" not in f.map("sim", "--evaluate", "stopped.map")["facts"]


def check_other_records(f):
    # Several ranks on a node.
    f.record("dense", "--net", "torus:4x2", "--ranks-per-node", "2")
    dense = f.map("dense")
    assert dense["before"]["nodes"] == [rank // 2 for rank in range(16)], dense["before"]
    assert max(dense["after"]["nodes"].count(node) for node in range(8)) == 2, dense["after"]
    # A network from files, which have changed since.
    f.write("three.graph", "weft-graph 1\nrouter a\nrouter b\nrouter c\nlink a b\nlink b c\nnode x a\nnode y b\nnode z c\n")
    f.record("files", "--net", "three.graph")
    os.remove(f.path / "three.graph")
    assert f.map("files")["ranks"] == 3
    # A machine whose profile starves its links: no warning now that there was none then.
    f.record("paper", "--net", "torus:4x4", "--profile", "nsim")
    assert f.map("paper")["warnings"] == []
    # Records without traffic, and of a weft that wrote no machine.
    f.run("sim", "-q", "--net", "torus:4x4", "--output", "plain", "./halo3d", "1", "64")
    assert "has no traffic.txt: record it with weft sim --record DIR" in f.run("map", "plain", code=2)
    for name in ("settings.json", "machine-used.toml"):
        os.remove(f.path / "dense" / name)
    assert "has no machine-used.toml, because an older weft made it: give the network with --net" in f.run("map", "dense", code=2)
    assert f.map("dense", "--net", "torus:4x2")["before"]["name"] == "present map"
    assert "no such record" in f.run("map", "nowhere", code=3)
    assert "has no summary.json" in f.run("map", ".", code=3)
    assert "leave out one of them" in f.run("map", "sim", "--program", "./halo3d", code=2)


def check_real(f):
    f.run("run", "-q", "-n", "4", "--record", "real", "./halo3d", "2", "1024")
    told = f.run("map", "real", code=2)
    assert "is the record of a real run, which holds no network: give the network of its hosts with --net (weft probe finds it)" in told, told
    here = os.uname().nodename
    f.write("hosts.graph", f"weft-graph 1\nrouter a\nrouter b\nlink a b\nnode other a\nnode {here} b\n")
    named = f.map("real", "--net", "hosts.graph", "--format", "slurm", "-o", "hosts.txt")
    assert named["before"]["nodes"] == [1] * 4 and named["before"]["name"] == "present map", named["before"]
    assert (f.path / "hosts.txt").read_text() == f"{here}\n" * 4
    subprocess.run(named["facts"]["run again with"], shell=True, cwd=f.path, check=True, capture_output=True, timeout=60)
    assert f.settings("real-mapped")["map"] == "hosts.txt" and f.settings("real-mapped")["hosts"] == f"{here}:4", f.settings("real-mapped")
    # A network that does not know the hosts: the first host is node 0. Others are not in the job.
    numbered = f.map("real", "--net", "ring:4", "--format", "mpich", "-o", "hosts.txt")
    assert numbered["before"]["nodes"] == numbered["after"]["nodes"] == [0] * 4, numbered
    assert (f.path / "hosts.txt").read_text() == f"{here}\n" * 4
    # Hosts for all nodes: ranks may go to each.
    listed = f.map("real", "--net", "ring:4", "--ranks-per-node", "4", "--hosts", f"p,q,{here},r", "--objective", "hops", "--evaluate", "identity")
    assert listed["before"]["nodes"] == [2] * 4 and listed["after"]["nodes"] == [0] * 4, listed


def check_conversions(f):
    nodes = [3, 0, 3]
    f.write("weft.map", "# comment\n" + "".join(f"{rank} {node}\n" for rank, node in reversed(list(enumerate(nodes)))))
    f.write("nodes.map", "".join(f"{node}\n" for node in nodes))
    f.write("json.map", json.dumps({"nodes": nodes}))
    wanted = {
        "weft": "# 3 ranks on hosts\n# rank node\n0 3\n1 0\n2 3\n",
        "nodes": "3\n0\n3\n",
        "rankfile": "rank 0=n3 slot=0\nrank 1=n0 slot=0\nrank 2=n3 slot=1\n",
        "slurm": "n3\nn0\nn3\n",
        "mpich": "n3\nn0\nn3\n",
    }
    formats = [line.split()[0] for line in f.run("map", "--format", "list").splitlines()[1:]]
    assert set(formats) == set(wanted) | {"cray", "fujitsu", "json"}, formats
    for source in ("weft.map", "nodes.map", "json.map"):
        for name, text in wanted.items():
            assert f.run("map", "--convert", source, "--as", name) == text, (source, name)
        assert json.loads(f.run("map", "--convert", source, "--format", "json"))["nodes"] == nodes
        assert f.run("map", "--convert", source, "--format", "slurm", "--hosts", "a,b,c,d.net") == "d.net\na\nd.net\n"
        assert "give --net" in f.run("map", "--convert", source, "--format", "fujitsu", code=2)
        assert f.run("map", "--convert", source, "--format", "fujitsu", "--net", "mesh:2x2") == "(1,1)\n(0,0)\n(1,1)\n"
    f.write("full.map", "1\n0\n1\n0\n")
    assert f.run("map", "--convert", "full.map", "--format", "cray") == "# 4 ranks on hosts\n1,3,0,2\n"
    f.run("map", "--convert", "full.map", "--format", "slurm", "-o", "out.txt")
    assert (f.path / "out.txt").read_text() == "n1\nn0\nn1\nn0\n"
    # Maps that name nodes: names go into files of names, numbers need to be known.
    f.write("names.map", "b\na\nb\n")
    assert f.run("map", "--convert", "names.map", "--format", "slurm") == "b\na\nb\n"
    assert "with --net or --hosts" in f.run("map", "--convert", "names.map", "--format", "weft", code=2)
    assert f.run("map", "--convert", "names.map", "--format", "nodes", "--hosts", "a,b") == "1\n0\n1\n"
    f.write("places.map", "1,1\n0,0\n")
    assert "with --net or --hosts" in f.run("map", "--convert", "places.map", "--format", "slurm", code=2)
    assert f.run("map", "--convert", "places.map", "--format", "nodes", "--net", "mesh:2x2") == "3\n0\n"
    # What is wrong is named.
    f.write("twice.map", "0 1\n0 2\n")
    assert "twice.map:2: rank 0 stands on line 1 already" in f.run("map", "--convert", "twice.map", code=3)
    f.write("far.map", "9\n")
    assert "far.map:1: node 9 is outside of 0 to 3" in f.run("map", "--convert", "far.map", "--net", "mesh:2x2", code=3)
    f.write("empty.map", "# nothing\n")
    assert "holds no map" in f.run("map", "--convert", "empty.map", code=3)
    assert "--convert only writes" in f.run("map", "--convert", "weft.map", "--traffic", "x", code=2)
    assert "no format 'xml'" in f.run("map", "--convert", "weft.map", "--format", "xml", code=2)


def main(weft, source):
    with tempfile.TemporaryDirectory(prefix="weft-map-record-") as path:
        folder = Folder(weft, path)
        check_conversions(folder)
        folder.run("cc", "-O2", f"{source}/examples/halo3d/halo3d.c", "-o", "halo3d")
        check_simulated(folder)
        check_other_networks(folder)
        check_stopped(folder)
        check_other_records(folder)
        check_real(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
