#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver of others' tests tells programs that pass from those that fail, hang or do not compile.

Usage: check_conformance.py WEFT
"""
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# In each world, in the order of the lists. A rank that waits for ever is late for real and an error in a simulation, which knows that nothing can come.
EXPECTED = {
    "run": ["passed", "failed", "fails as expected", "late", "passed", "failed", "passed", "failed", "passed", "passed", "not compiled", "passed"],
    "sim": ["passed", "failed", "fails as expected", "failed", "passed", "failed", "passed", "failed", "passed", "passed", "not compiled", "passed"],
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE / "programs", pathlib.Path(folder) / "programs")
        out = pathlib.Path(folder) / "out.json"
        words = [sys.executable, "-B", str(HERE / "conformance.py"), sys.argv[1], f"{folder}/programs", "--json", str(out)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        found = collections.defaultdict(list)
        for row in json.loads(out.read_text()):
            found[row["world"]].append(row["outcome"])
        if found != EXPECTED or done.returncode != 1:
            sys.exit(f"ended with {done.returncode}, and found {json.dumps(found)}\n{done.stdout}{done.stderr}")
        fine = subprocess.run([*words[:-2], "--only", "prints", "--world", "sim"], capture_output=True, text=True, check=False, timeout=60)
        if fine.returncode != 0 or "all                      sim                   1" not in fine.stdout:
            sys.exit(fine.stdout + fine.stderr)


if __name__ == "__main__":
    main()
