#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A new component is one file and one row: scripts/new_component makes it, and it works.

Usage: check_scaffold.py KIND SOURCE_FOLDER BUILD_FOLDER LIBRARY...

In a copy of the tree: makes a component of this kind, compiles what has changed with the build's own
flags, links it before the build's libraries, and runs the conformance tests of the kind. They must
find the new component in the table and pass.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

NAME = "made-up"
# Folder, table that lists the rows, file that reads the table, test files, cases for the new one.
KINDS = {
    "policy": ("weft/network/route", "policies.inc", "builtin.cpp",
               ("conformance.cpp", "conformance_test.cpp", "test_networks.cpp"),
               "*EveryPolicy.*made_up*"),
    "topology": ("weft/network/topo", "kinds.inc", "kinds.cpp", ("conformance_test.cpp",),
                 "*EveryKind.*made_up*"),
    "format": ("weft/workload/patterns", "formats.inc", "traffic_file.cpp",
               ("format_conformance_test.cpp",), "*EveryFormat.*made_up*"),
    "rail": ("weft/real/wire", "rail_kinds.inc", "rail_kinds.cpp", ("rail_conformance_test.cpp",),
             "*EveryRail*.*made_up*"),
}


def fail(message):
    raise SystemExit(f"check_scaffold: {message}")


def flags_of(build, source, copy):
    """The build's words for compiling a file: compiler, launcher and flags, without the files."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if pathlib.Path(entry["file"]) != source:
            continue
        words = shlex.split(entry["command"])
        cut = words[:words.index("-o")]
        root = copy["from"]
        return [word.replace(f"-I{root}", f"-I{copy['to']}") for word in cut]
    fail(f"{source} is not in compile_commands.json")


def make(script, kind):
    made = subprocess.run([script, kind, NAME, "a component made by a test"], check=False,
                          capture_output=True, text=True)
    if made.returncode != 0:
        fail(f"new_component {kind}: {made.stderr}")
    return made.stdout.split()


def check_edits(kind, copy, source, touched):
    """One file, one row, and the file's name in the build."""
    folder, table, _, _, _ = KINDS[kind]
    expected = {f"{folder}/made_up.cpp", f"{folder}/{table}", f"{folder}/CMakeLists.txt"}
    if set(touched) != expected:
        fail(f"touched {sorted(touched)} instead of {sorted(expected)}")
    old = (source / folder / table).read_text(encoding="utf-8").splitlines()
    new = (copy / folder / table).read_text(encoding="utf-8").splitlines()
    if new[:-1] != old:
        fail(f"{table} has more than one new row")
    if not re.search(r"\bmade_up\.cpp\b", (copy / folder / "CMakeLists.txt").read_text()):
        fail("the build does not know the new file")


def build_and_run(kind, copy, source, build, libraries):
    folder, _, reader, tests, cases = KINDS[kind]
    roots = {"from": source, "to": copy}
    flags = flags_of(build, source / folder / reader, roots)
    test_flags = flags_of(build, source / folder / tests[-1], roots)
    # Launchers such as ccache are set for the build, but do not stand in its list of commands.
    launcher = shlex.split(os.environ.get("WEFT_LAUNCHER", ""))
    objects = []
    running = []
    for file in ("made_up.cpp", reader, *tests):
        objects.append(str(copy / f"{file}.o"))
        own = test_flags if file in tests else flags
        running.append(subprocess.Popen(
            [*launcher, *own, "-o", objects[-1], "-c", str(copy / folder / file)], cwd=build))
    if any([process.wait() != 0 for process in running]):
        fail(f"the new {kind} does not compile")
    program = copy / "conformance"
    subprocess.run([*test_flags, "-o", program, *objects, "-Wl,--start-group", *libraries,
                    "-Wl,--end-group"], check=True)
    ran = subprocess.run([program, f"--gtest_filter={cases}"], check=False, capture_output=True,
                         text=True)
    print(ran.stdout)
    passed = re.search(r"\[  PASSED  \] (\d+) test", ran.stdout)
    if ran.returncode != 0 or not passed or int(passed.group(1)) == 0:
        fail(f"the conformance tests of the new {kind} do not pass, or did not run")


def main(arguments):
    kind, source, build = arguments[0], pathlib.Path(arguments[1]), pathlib.Path(arguments[2])
    source = source.resolve()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ("scripts", "weft"):
            shutil.copytree(source / name, copy / name)
        shutil.copy(source / ".clang-format", copy)
        script = copy / "scripts/new_component"
        touched = make(script, kind)
        check_edits(kind, copy, source, touched)
        for words in ((kind, NAME), ("no-such-kind", NAME), (kind, "Bad_Name")):
            if subprocess.run([script, *words], check=False, capture_output=True).returncode == 0:
                fail(f"new_component {' '.join(words)} must be refused")
        build_and_run(kind, copy, source, build.resolve(), arguments[3:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
