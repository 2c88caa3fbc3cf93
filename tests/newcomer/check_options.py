#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The options of all commands: one meaning has one name, help texts have one style. Usage: check_options.py WEFT table|former"""
import json
import pathlib
import re
import sys
import tempfile

from common import expect, run

# Every option that several commands have: its short letter, the names of its value (none: a flag), and how its help begins in each of them.
SHARED = {
    "--coll": ("", {"NAME=ALGORITHM"}, "Algorithm of a collective operation"),
    "--compare-models": ("", {"MODEL,MODEL,..."}, "Simulate with each of these models (flit, packet, flow), and print"),
    "--connections": ("", {"MODE"}, "Connections between ranks"),
    "--csv": ("", {"FILE"}, "File for"),
    "--fail": ("", {"A-B|random:N"}, "Break a cable"),
    "--format": ("", {"text|json", "text|json|csv", "html|text|json", "NAME"}, "Output format"),
    "--help": ("-h", set(), "Print this help"),
    "--hosts": ("", {"HOSTS|FILE"}, "Hosts"),
    "--html": ("", {"FILE"}, "File for a page"),
    "--json": ("", {"FILE"}, "File for"),
    "--label": ("", set(), "Begin each line of a rank with [rank]"),
    "--list": ("", set(), "List"),
    "--map": ("", {"FILE|random"}, "Map file"),
    "--model": ("", {"MODEL"}, "How closely"),
    "--net": ("", {"SPEC|FILE"}, "Network: a spec"),
    "--output": ("-o", {"FILE", "DIR"}, "Output"),
    "--partition": ("", {"NAME"}, "Partition of the network among threads or processes"),
    "--profile": ("", {"NAME"}, "Profile, which holds the defaults"),
    "--progress-file": ("", {"FILE"}, "File for the progress of the run"),
    "--quiet": ("-q", set(), "Print no"),
    "--rails": ("", {"RAILS"}, "Rails to use"),
    "--ranks": ("-n", {"N"}, "Number of ranks"),
    "--ranks-per-node": ("", {"N"}, "Slots for ranks on each node"),
    "--record": ("", {"DIR"}, "Folder for a record of the run"),
    "--record-output": ("", set(), "Also write program-output.txt"),
    "--remote-weft": ("", {"PATH"}, "Path of weft on the other hosts"),
    "--routing": ("", {"NAME"}, "Routing policy"),
    "--rsh": ("", {"COMMAND"}, "Command that starts a command on a host"),
    "--seed": ("", {"N"}, "Seed of"),
    "--set": ("", {"TABLE.KEY=VALUE"}, "Set a key of"),
    "--show-machine": ("", set(), "Print the complete description"),
    "--svg": ("", {"FILE"}, "File for a picture"),
    "--threads": ("", {"N"}, "Worker threads"),
    "--time": ("", {"TIME"}, "Time limit of"),
    "--timeout": ("", {"TIME"}, "Time limit of"),
    "--verbose": ("-v", set(), "Also print"),
}
# Values of one option that may have different names, with the reason.
SEVERAL_NAMES = {
    "--format": "commands write different formats",
    "--output": "weft sim writes several files, so it takes a folder",
}
# Names that the parser library gives to values; a name of our own says more.
NAMELESS = {"INT", "UINT", "FLOAT"}
# Former names, each in a call that must have the same effect as the call with the current name.
FORMER = (
    (["net", "ring:4", "--json"], ["net", "ring:4", "--format", "json"]),
    (["net", "--list", "--json"], ["net", "--list", "--format", "json"]),
    (["traffic", "--net", "mesh:2x2", "--load", "0.1", "--workers", "2"], ["traffic", "--net", "mesh:2x2", "--load", "0.1", "--threads", "2"]),
    (["sim", "--list-coll"], ["sim", "--coll", "list"]),
    (["sim", "--net", "mesh:2", "--out", "DIR", "nothing"], ["sim", "--net", "mesh:2", "-o", "DIR", "nothing"]),
    (["run", "--message", "eager_limit=4KiB", "true"], ["run", "--set", "messages.eager_limit=4KiB", "true"]),
    (["run", "--profile", "DIR", "-q", "true"], ["run", "--record", "DIR", "-q", "true"]),
    (["map", "--list"], ["map", "--objective", "list", "--format", "list"]),
    (["map", "--net", "ring:4", "--traffic", "T", "-o", "out", "--as", "xml"], ["map", "--net", "ring:4", "--traffic", "T", "-o", "out", "--format", "xml"]),
    (["map", "--net", "ring:4", "--traffic", "T", "--evaluate", "x", "--compare"],
     ["map", "--net", "ring:4", "--traffic", "T", "--evaluate", "x", "--compare-methods"]),
    (["map", "--net", "ring:4", "--traffic", "T", "--evaluations", "100", "--tries", "100", "--probe", "20"],
     ["map", "--net", "ring:4", "--traffic", "T", "--evaluations", "100", "--tries", "100", "--trial-effort", "20"]),
    (["run", "--machine", "missing.xml", "--show-topology"], ["run", "--hwloc", "missing.xml", "--show-topology"]),
    (["probe", "--net", "mesh:3", "--way", "paper"], ["probe", "--net", "mesh:3", "--method", "paper"]),
    (["report", "SWEEP", "--json"], ["report", "SWEEP", "--format", "json"]),
    (["report", "SWEEP", "--csv", "points"], ["report", "SWEEP", "--table", "points"]),
    (["report", "SWEEP", "--svg", "throughput"], ["report", "SWEEP", "--picture", "throughput"]),
    (["report", "SWEEP", "--png", "throughput", "-o", "a.png"], ["report", "SWEEP", "--picture", "throughput", "-o", "a.png"]),
    (["doctor", "--quick", "--json"], ["doctor", "--quick", "--format", "json"]),
)


def commands(weft):
    return re.findall(r"^  (\S+) ", run([weft, "--help"]).stdout.partition("Commands:\n")[2], re.M)


def options_of(weft, command):
    """(short, long, value, help) of each option that --help shows. Texts stand in column 30, after the name or below it."""
    shown = run([weft, command, "--help"]).stdout.partition("\nOptions:\n")[2]
    found = []
    for line in shown.splitlines():
        if line.startswith("  -"):
            beside = line[29:30] in ("", " ")
            name, text = (line[:30], line[30:]) if beside else (line, "")
            found.append([*re.match(r"  (?:(-\w),?)?(--[\w-]+)?(?: (.*))?$", name.rstrip()).groups(default=""), text])
        elif found and line.startswith(" " * 30):
            found[-1][3] = (found[-1][3] + " " + line.strip()).strip()
    return [(short, name, value.removesuffix(" ..."), text) for short, name, value, text in found]


def check_style(command, name, value, text):
    where = f"weft {command} {name}"
    expect(re.match(r"[A-Z]|hwloc ", text), f"{where}: the help must begin with a capital letter: '{text}'")
    expect(not text.endswith("."), f"{where}: a help is no sentence with a full stop: '{text}'")
    expect(value not in NAMELESS, f"{where}: the value {value} needs a name")
    expect(text.count("(default: ") <= 1, f"{where}: two defaults: '{text}'")


def check_table(weft):
    table = {}
    for command in commands(weft):
        for short, name, value, text in options_of(weft, command):
            check_style(command, name or short, value, text)
            table.setdefault(name or short, []).append((command, short, value, text))
    expect(len(table) > 80, f"only {len(table)} options were found in the help texts")
    shared = {name: uses for name, uses in table.items() if len(uses) > 1}
    for name, uses in sorted(shared.items()):
        where = f"{name} in {', '.join(use[0] for use in uses)}"
        expect(name in SHARED, f"{where}: several commands have this option; give it one meaning and add it to SHARED")
        short, values, beginning = SHARED[name]
        for command, its_short, value, text in uses:
            expect(its_short == short, f"weft {command} {name}: the short letter is '{its_short}', elsewhere '{short}'")
            expect(value in values or not value and not values, f"weft {command} {name}: the value is '{value}', elsewhere {values or 'a flag'}")
            expect(text.startswith(beginning), f"weft {command} {name}: the help must begin with '{beginning}': '{text}'")
        expect(len(values) <= 1 or name in SEVERAL_NAMES, f"{name}: several names of values without a reason")
    letters = {}
    for name, uses in table.items():
        for command, short, _, _ in uses:
            if short:
                expect(letters.setdefault(short, name) == name, f"weft {command} {short} is {name}, elsewhere {letters[short]}")
    for command, *_ in table["--routing"]:
        listed = run([weft, command, "--routing", "list"]).stdout
        for alias, policy in (("adaptive", "min-adaptive"), ("cross-line", "crossline")):
            expect(re.search(rf"^  {alias} +another name of {policy}$", listed, re.M), f"weft {command} --routing list does not show {alias}:\n{listed}")
    unused = set(SHARED) - set(shared)
    expect(not unused, f"SHARED names options that no two commands have: {unused}")
    print(f"{len(table)} options, {len(shared)} of them in several commands")


def check_former(weft):
    """Former names work as before and are shown nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        run([weft, "traffic", "--net", "mesh:2x2", "--load", "0.1", "--json", "SWEEP", "-q"], cwd=folder)
        pathlib.Path(folder, "T").write_text("0 1 100\n")
        for former, current in FORMER:
            results = []
            for words in (former, current):
                done = run([weft, *words], code=None, cwd=folder)
                picture = pathlib.Path(folder, "a.png")
                # What weft doctor measures differs from run to run.
                text = re.sub(r"\d+", "N", done.stdout) if words[0] == "doctor" else done.stdout
                results.append((done.returncode, text, done.stderr, picture.read_bytes() if picture.exists() else b""))
                picture.unlink(missing_ok=True)
            expect(results[0] == results[1], f"weft {' '.join(former)}: {results[0]}\nweft {' '.join(current)}: {results[1]}")
            expect("unknown option" not in results[1][2], f"weft {' '.join(current)}: {results[1][2]}")
            name = next(word for word in former if word.startswith("--") and word not in current)
            shown = [name_shown for _, name_shown, _, _ in options_of(weft, former[0])]
            expect(name not in shown, f"weft {former[0]} --help shows the former name {name}")
            offered = run([weft, "completion", "bash", "--words", "=weft", "=" + former[0], "=" + name]).stdout.split()
            expect(name not in offered, f"weft {former[0]} {name} is offered by completion")
        said = run([weft, "sim", "--out", "a", "-o", "b", "x"], code=2, cwd=folder).stderr
        expect("--out" in said and "--output" in said, f"both names at once: {said}")
        said = run([weft, "traffic", "--workers", "x"], code=2, cwd=folder).stderr
        expect("--workers" in said, f"a former name with a bad value: {said}")
        said = run([weft, "run", "--set", "link.rate=1", "true"], code=2, cwd=folder).stderr
        expect("messages.eager_limit" in said, f"weft run --set of another table: {said}")
        expect(json.loads(run([weft, "net", "ring:4", "--format", "json"]).stdout)["nodes"] == 4, "JSON of weft net")
    print(f"{len(FORMER)} former names")


def main():
    weft, what = sys.argv[1:]
    {"table": check_table, "former": check_former}[what](pathlib.Path(weft).resolve())


if __name__ == "__main__":
    main()
