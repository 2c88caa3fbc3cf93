# SPDX-License-Identifier: Apache-2.0
"""Starts weft on several processes, by the mpirun of either MPI library, and follows what becomes of it."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402,F401 pylint: disable=wrong-import-position,unused-import

# Open MPI refuses root unless told twice; a test has few cores, and shares them.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


class Launcher:
    def __init__(self, name, program):
        self.name, self.program = name, program

    def words(self, processes):
        return [self.program, "-np", str(processes)]


def parse(description):
    """Command line: the program, then NAME=MPIRUN for each launcher. Returns both."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("weft")
    parser.add_argument("launchers", nargs="+", metavar="NAME=MPIRUN")
    options = parser.parse_args()
    return os.path.abspath(options.weft), [Launcher(*text.split("=", 1)) for text in options.launchers]


def run(words, folder, timeout=240):
    """Waits for the end; the result has returncode, stdout and stderr."""
    with start(words, folder) as job:
        return job.end(timeout)


def results_in(path):
    """A JSON file without what names the command and where it ran."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key not in ("command", "folder", "circumstances")}


def start(words, folder):
    return Job(words, folder)


class Job:
    """In a session of its own, so that a signal to it or its end concerns nobody else."""

    def __init__(self, words, folder):
        self.process = subprocess.Popen([str(word) for word in words], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in [self.process.pid, *descendants(self.process.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.communicate()

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, timeout):
        stdout, stderr = self.process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, stdout, stderr)

    def members(self, program):
        """The processes that run this program."""
        found = []
        for pid in descendants(self.process.pid):
            try:
                if os.path.samefile(f"/proc/{pid}/exe", program):
                    found.append(pid)
            except OSError:
                pass
        return sorted(found)

    def running(self):
        return self.process.poll() is None


def descendants(pid):
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may contain anything; the parent is the second word after it.
            parents[int(path.parent.name)] = int(path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = []
    for child, parent in parents.items():
        while parent not in (0, pid):
            parent = parents.get(parent, 0)
        if parent == pid:
            found.append(child)
    return found


def wait_until(true, seconds=60):
    for _ in range(int(seconds / 0.05)):
        if true():
            return True
        time.sleep(0.05)
    return False
