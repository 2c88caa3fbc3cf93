#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/progress, which runs the long commands of setup, demo and test. Usage: check_progress.py PROGRESS"""
import os
import pathlib
import sys
import tempfile

from common import Terminal, expect, run

NINJA = "echo '[1/4] one'; echo '[2/4] two' >&2; echo said"
APT = "echo 'Get:1 list'; echo '0 upgraded, 2 newly installed, 0 to remove'; echo 'Get:1 a'; echo 'Unpacking a'; echo 'Setting up a'"


def main():
    progress = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="weft-progress-") as name:
        folder = pathlib.Path(name)
        log = folder / "log"
        done = run([progress, "building", str(log), "sh", "-c", NINJA], code=0)
        expect(log.read_text() == "[1/4] one\n[2/4] two\nsaid\n", log.read_text())
        expect(done.stdout == "" and "building: done in" in done.stderr, done.stderr)
        done = run([progress, "building", str(log), "sh", "-c", NINJA + "; exit 3"], code=3)
        expect("[2/4] two\nsaid\n" in done.stderr and "done in" not in done.stderr, done.stderr)
        expect([path.name for path in folder.iterdir()] == ["log"], "a file was left behind")
        for command, text in ((NINJA, "building: 2 of 4 steps"), (APT, "building: 3 of 6 steps")):
            with Terminal([progress, "building", str(log), "sh", "-c", command], dict(os.environ), folder) as terminal:
                terminal.wait_for("done in", terminal.wait_for(text))
    print("progress: counted, kept and failed as it should")


if __name__ == "__main__":
    main()
