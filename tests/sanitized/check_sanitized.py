#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole commands of weft under a tool that finds wrong accesses to memory, undefined behaviour, leaks or races in any of their processes.

Usage: check_sanitized.py TOOL WEFT [GROUP...]

TOOL is address (a build with -DWEFT_SANITIZE=address,undefined), thread (-DWEFT_SANITIZE=thread) or memcheck (any other build, under
valgrind: slower, so for few and small jobs). GROUP is the first word of a case's name; all unless given. A case passes when it ends as
it should, says what it should, and no process has written a report.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

SECONDS_MAX = 300
REPORTED = 99  # The exit code of a process with a report.
SOURCES = ["tests/chaos/checked.c", "tests/worlds/edges.c", "tests/worlds/threads.c", "tests/worlds/many_threads.c", "tests/rails/relays.c", "tests/processes/windows.c", "tests/repeat/abort.c",
           "examples/halo3d/halo3d.c", "examples/sort/sort.c", "examples/bruck/bruck.c", "examples/master_worker/master_worker.c"]

TORUS = ["--net", "torus:4x4", "--payload", "full"]
TREES = ["--net", "fattree:k=4,levels=2"]
OFFICE = str(TREE / "examples/network/office.toml")
FORMER = ["--record", "record"]  # Cases run in order, in one folder.
# Name, words after weft, what it prints. In the order of the table, since some read what others wrote.
CASES = [
    ("run memory", ["run", "-n", "3", "./checked", "1"], "rank 2 right"),
    ("run two copies", ["run", "-n", "3", "--no-single-copy", "./checked", "1"], "rank 2 right"),
    ("run network", ["run", "-n", "3", "--no-shared-memory", "./checked", "1"], "rank 2 right"),
    ("run proportional", ["run", "-n", "2", "--no-shared-memory", "--set", "messages.split=proportional", "./checked", "1"], "rank 1 right"),
    ("run managed", ["run", "-n", "6", "--no-shared-memory", "--connections", "managed,shortcuts=1", "./checked", "1"], "rank 5 right"),
    ("run edges", ["run", "-n", "2", "./edges"], ""),
    ("run threads", ["run", "-n", "2", "./threads", "2"], "level serialized"),
    ("run many threads", ["run", "-n", "2", "./many_threads", "4", "6"], "4 threads right"),
    ("run threads network", ["run", "-n", "3", "--no-shared-memory", "./many_threads", "3", "6"], "3 threads right"),
    ("run threads managed", ["run", "-n", "4", "--no-shared-memory", "--connections", "managed,max=2", "./many_threads", "2", "6"], "2 threads right"),
    ("run relays", ["run", "-n", "4", "--no-shared-memory", "--connections", "managed,max=2", "./relays", "compute", "2", "50", "3000"], "ok"),
    ("run windows", ["run", "-n", "3", "./windows"], "ok 3"),
    ("run recorded", ["run", "-n", "2", "--events", "--record-output", "--record", "real", "./sort", "300"], ""),
    ("run report", ["report", "real", "--list"], "rank"),
    ("sim data", ["sim", *TORUS, "./sort", "300"], "program time"),
    ("sim threads", ["sim", *TORUS, "--threads", "2", "./sort", "300"], "program time"),
    ("sim edges", ["sim", *TORUS, "-n", "2", "--threads", "2", "./edges"], ""),
    ("sim windows", ["sim", *TORUS, "--ranks-per-node", "2", "--threads", "2", "./windows"], "ok 32"),
    ("sim recorded", ["sim", *TREES, "--threads", "4", "--watch", "0", *FORMER, "./halo3d", "2", "30000"], "program time"),
    ("sim report", ["report", "record", "--list"], "rank"),
    ("sim copies", ["sim", *TORUS, "--separate", "copies", "./master_worker", "50"], "program time"),
    ("sim managed", ["sim", *TREES, "--threads", "2", "--connections", "managed,shortcuts=1", "./bruck", "64"], "program time"),
    ("study traffic", ["traffic", "--net", "torus:4x4", "--threads", "2", "--load", "0.3", "--routing", "valiant"], "0.3"),
    ("study map", ["map", "--net", "torus:4x4", "--traffic", "ring.txt", "--threads", "2", "--time", "1s", "--routing", "dor"], "hops"),
    ("probe simulated", ["probe", "--net", OFFICE, "--noise", "5%"], "switch"),
    ("probe local", ["probe", "--local", "-o", "local.toml"], ""),
]
# The simulator on several processes.
# Endings that are not well, and their exit codes.
ABORTS = [("run abort", ["run", "-n", "12", "./abort"], 3), ("sim abort", ["sim", "--net", "torus:4x4", "--threads", "2", "./abort"], 3)]
# What memcheck has time for. Not simulated programs: their memory lies where valgrind has its own.
FEW = {"run memory", "run network", "run recorded", "run report", "study traffic", "study map"}
LAUNCHED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none"}


class Tool:
    """How a command runs under the tool, and what the tool had to say."""

    def __init__(self, name, folder):
        self.name, self.reports = name, folder / "reports"
        self.reports.mkdir()
        common = f"log_path={self.reports}/report:exitcode={REPORTED}"
        self.environment = {**os.environ, **LAUNCHED,
                            "ASAN_OPTIONS": f"{common}:detect_leaks=1", "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
                            "LSAN_OPTIONS": f"suppressions={HERE}/leaks.txt:print_suppressions=0",
                            "TSAN_OPTIONS": f"{common}:die_after_fork=0:second_deadlock_stack=1:suppressions={HERE}/races.txt"}
        self.words = []
        if name == "memcheck":
            self.words = ["valgrind", "--quiet", "--trace-children=yes", f"--log-file={self.reports}/report.%p", f"--error-exitcode={REPORTED}"]

    def take_reports(self):
        texts = []
        for path in sorted(self.reports.iterdir()):
            text = path.read_text(encoding="utf-8", errors="replace")
            if self.name == "memcheck":  # Besides errors, which begin so, it tells what it does not know.
                text = "\n".join(line for line in text.splitlines() if line.startswith("==") and "== Warning: " not in line)
            texts += [text] if text else []
            path.unlink()
        return texts


class Check:
    def __init__(self, tool, weft, folder):
        self.tool, self.weft, self.folder, self.failed = tool, weft, folder, 0

    def start(self, words):
        return subprocess.Popen([*self.tool.words, self.weft, *words], cwd=self.folder, env=self.tool.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def judge(self, name, problem, said, begin):
        reports = self.tool.take_reports()
        if reports:
            problem = f"{problem}; {len(reports)} reports" if problem else f"{len(reports)} reports"
        print(f"{'FAILED' if problem else 'passed'}  {name}  {time.monotonic() - begin:.1f} s  {problem}", flush=True)
        if problem:
            self.failed += 1
            print(said[-3000:])
            for text in reports[:3]:
                print("\n".join(text.splitlines()[:60]))

    def case(self, name, words, expected, code=0):
        begin = time.monotonic()
        with self.start(words) as job:
            try:
                said = job.communicate(timeout=SECONDS_MAX)[0]
            except subprocess.TimeoutExpired:
                job.terminate()
                said = f"not over after {SECONDS_MAX} s"
        problem = "" if job.returncode == code else f"ended with {job.returncode}, not {code}"
        if not problem and expected not in said:
            problem = f"'{expected}' is not in what it prints"
        self.judge(name, problem, said, begin)

    def live(self):
        """A page that is read by two browsers and asked for by strangers."""
        begin, seen, said = time.monotonic(), {"page": 0, "events": 0, "refused": 0}, []
        with self.start(["sim", "--net", "torus:8x8x4", "--threads", "2", "--live", "./halo3d", "20", "20000"]) as job:
            readers = []
            for line in job.stdout:
                said.append(line)
                found = re.search(r"live at (\S+)", line)
                if found:
                    readers = [threading.Thread(target=self.browse, args=(found.group(1), seen)) for _ in range(2)]
                    for reader in readers:
                        reader.start()
            for reader in readers:
                reader.join()
        problem = "" if job.returncode == 0 else f"ended with {job.returncode}"
        if not problem and not all(seen.values()):
            problem = f"a browser has seen {seen}"
        self.judge("live page", problem, "".join(said), begin)

    @staticmethod
    def browse(address, seen):
        try:
            urllib.request.urlopen(urllib.request.Request(address, data=b"x" * 1000), timeout=60)
        except OSError:
            seen["refused"] += 1
        with urllib.request.urlopen(address, timeout=60) as page:
            seen["page"] += b"weft-data" in page.read()
        with urllib.request.urlopen(address + "events", timeout=60) as stream:
            seen["events"] += sum(line.startswith(b"event: ") for line in stream)


def main():
    tool_name, weft, groups = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    if tool_name == "memcheck" and skip.without_programs("valgrind"):
        skip.leave(skip.without_programs("valgrind"))
    with tempfile.TemporaryDirectory(prefix="weft-sanitized-") as name:
        folder = pathlib.Path(name)
        check = Check(Tool(tool_name, folder), weft, folder)
        few = FEW if tool_name == "memcheck" else None
        chosen = [case for case in CASES + ABORTS if (not groups or case[0].split()[0] in groups) and (few is None or case[0] in few)]
        for source in SOURCES:
            subprocess.run([weft, "cc", "-O1", "-g", TREE / source, "-o", folder / pathlib.Path(source).stem, "-pthread"], check=True)
        (folder / "ring.txt").write_text("".join(f"{rank} {(rank + 1) % 16} 1000\n" for rank in range(16)), encoding="utf-8")
        for title, words, ends in chosen:
            if isinstance(ends, int):
                check.case(title, words, "", code=ends)
            else:
                check.case(title, words, ends)
        if few is None and (not groups or "live" in groups):
            check.live()
        if check.failed:
            sys.exit(f"{check.failed} cases failed")


if __name__ == "__main__":
    main()
