#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft doctor: what it finds here, and in broken surroundings. Usage: check_doctor.py WEFT"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from common import DEADLINE_S, expect, fail, run

# Never ends, and has a child that has left its group.
HANGING = """#!/bin/sh
echo $$ >> {folder}/processes
touch "$TMPDIR/half-done.o"
setsid sh -c 'echo $$ >> {folder}/processes; exec sleep 1000' &
exec sleep 1000
"""


class Surroundings:
    """A folder with a temporary folder in it, which must be empty in the end."""

    def __init__(self, name):
        self.folder = pathlib.Path(name)
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()
        self.env = {**os.environ, "TMPDIR": str(self.tmp)}
        for variable in ("WEFT_CC", "WEFT_CXX", "WEFT_FC"):
            self.env.pop(variable, None)

    def doctor(self, weft, *words, code=None, **variables):
        done = run([weft, "doctor", "--format", "json", *words], code=code, env={**self.env, **variables})
        expect(not list(self.tmp.iterdir()), f"left behind: {list(self.tmp.iterdir())}")
        report = json.loads(done.stdout)
        missing = [check for check in report["checks"] if check["state"] == "missing"]
        expect(report["missing"] == len(missing), "the count of what is missing")
        expect(done.returncode == (1 if missing else 0), f"exit code {done.returncode} with {missing}")
        expect(not missing or "checks found something missing" in done.stderr, done.stderr)
        return {check["name"]: check for check in report["checks"]}

    def hanging_compiler(self):
        path = self.folder / "hanging"
        path.write_text(HANGING.format(folder=self.folder))
        path.chmod(0o755)
        return str(path)

    def expect_no_process(self):
        processes = (self.folder / "processes").read_text().split()
        for process in processes:
            stat = pathlib.Path(f"/proc/{process}/stat")
            if stat.exists() and stat.read_text().split()[2] != "Z":
                fail(f"process {process} of the compiler still runs")
        return len(processes)


def check_here(weft, here):
    checks = here.doctor(weft)
    for name, check in checks.items():
        expect(check["state"] in ("ok", "note", "missing") and check["found"] and check["for"], f"{name}: {check}")
        expect((check["state"] == "ok") == (check["remedy"] == ""), f"{name}: {check}")
    for name in ("MPI library", "mpi.h", "probe program", "texts", "weft cc", "weft c++"):
        expect(checks[name]["state"] == "ok", f"{name}: {checks[name]}")
    for name in ("HDF5", "OTF2", "hwloc", "libfabric", "PMIx", "METIS", "Scotch", "compiler pass", "page template",
                 "weft fc", "open files", "locked memory", "/dev/shm", "single copy", "huge pages", "clock", "rails",
                 "ssh", "srun", "mpirun", "prterun"):
        expect(name in checks, f"'{name}' is not looked at")
    return checks


def check_text(weft, here, checks):
    """A line for each check."""
    done = run([weft, "doctor", "--quick"], env=here.env)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ok ", "note ", "missing "))]
    compilers = [name for name, check in checks.items() if check["group"] == "compilers"]
    expect(len(lines) == len(checks) - len(compilers), done.stdout)
    for line in lines:
        expect(" [for " in line and (line.startswith("ok ") or "remedy: " in line), line)


def check_absent(weft, here):
    checks = here.doctor(weft, WEFT_CC="/nonexistent/cc", WEFT_FC="/nonexistent/fc", code=1)
    expect(checks["weft cc"]["state"] == "missing" and "clang-14" in checks["weft cc"]["remedy"], checks["weft cc"])
    # Whoever has no Fortran programs needs no Fortran compiler.
    expect(checks["weft fc"]["state"] == "note", checks["weft fc"])
    expect(checks["weft c++"]["state"] == "ok", checks["weft c++"])


def check_hanging(weft, here):
    checks = here.doctor(weft, "--timeout", "3 s", WEFT_CC=here.hanging_compiler(), WEFT_CXX="/bin/false", code=1)
    expect("not done after 3 s" in checks["weft cc"]["found"], checks["weft cc"])
    expect(checks["weft c++"]["state"] == "missing" and "code 1" in checks["weft c++"]["found"], checks["weft c++"])
    expect(here.expect_no_process() >= 2, "the compiler was not started")


def check_interrupted(weft, here):
    (here.folder / "processes").unlink()
    doctor = subprocess.Popen([weft, "doctor"], env={**here.env, "WEFT_CC": here.hanging_compiler()},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + DEADLINE_S
    while not (here.folder / "processes").exists():
        expect(time.monotonic() < limit, "the compiler was not started")
        time.sleep(0.02)
    doctor.send_signal(signal.SIGINT)
    said = doctor.communicate(timeout=DEADLINE_S)[1]
    expect(doctor.returncode == 1 and "interrupted" in said, f"{doctor.returncode}: {said}")
    expect(not list(here.tmp.iterdir()), f"left behind: {list(here.tmp.iterdir())}")
    here.expect_no_process()


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        here = Surroundings(name)
        checks = check_here(weft, here)
        check_text(weft, here, checks)
        check_absent(weft, here)
        check_hanging(weft, here)
        check_interrupted(weft, here)
        bad = run([weft, "doctor", "--timeout", "5"], code=2)
        expect("--timeout: " in bad.stderr, bad.stderr)
        unwritable = here.folder / "nowhere"
        found = here.doctor(weft, TMPDIR=str(unwritable), code=1)
        expect(found["temporary folder"]["state"] == "missing", found)
    print("doctor: as it should be")


if __name__ == "__main__":
    main()
