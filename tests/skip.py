# SPDX-License-Identifier: Apache-2.0
"""How a test reports that it cannot run here: a line "skipped: REASON" and exit code 77, which ctest counts as skipped.

As a script (skip.py REASON...) it does only that; CMake adds such a test in place of one that needs what was not found.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

CODE = 77


def leave(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(CODE)


def without_root(what):
    """Why this needs root, or nothing."""
    return "" if os.geteuid() == 0 else f"{what} needs root"


def without_programs(*names):
    """Which of these programs are not installed, or nothing."""
    missing = [name for name in names if not shutil.which(name)]
    return f"not installed: {' '.join(missing)}" if missing else ""


def without_parts(weft, *names):
    """Which optional parts (names as in weft doctor) this weft was built without, or nothing."""
    told = subprocess.run([weft, "doctor", "--quick", "--format", "json"], capture_output=True, text=True, check=False).stdout
    states = {check["name"]: check["state"] for check in json.loads(told)["checks"]}
    missing = [name for name in names if states[name] != "ok"]
    return f"weft was built without {', '.join(missing)}" if missing else ""


def run_unittests(argv):
    """unittest.main() for ctest. One skipped case makes the whole test skipped, so cases with different needs are tests of their own in
    ctest (a class or a method each): then a test that is reported as passed has checked everything it names.
    """
    result = unittest.main(module="__main__", argv=argv, exit=False).result
    for reason in dict.fromkeys(reason for _, reason in result.skipped):
        print(f"skipped: {reason}", flush=True)
    if result.testsRun == 0 and not result.skipped:
        sys.exit("nothing was tested")
    sys.exit(1 if not result.wasSuccessful() else CODE if result.skipped else 0)


if __name__ == "__main__":
    leave(" ".join(sys.argv[1:]))
