# SPDX-License-Identifier: Apache-2.0
"""Jobs of `weft run` and other launchers, marked so that nothing of them stays unseen."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "bed")]
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

NETLAB = bed.NETLAB
WEFT, PROBE, LIBRARIES = (os.path.abspath(word) for word in sys.argv[1:4])
# Other launchers, NAME=MPIRUN; and the classes to run, all if none is named.
LAUNCHERS = dict(word.split("=", 1) for word in sys.argv[4:] if "=" in word)
CLASSES = [word for word in sys.argv[4:] if "=" not in word]


class Job:
    """In a session of its own. Every process of it has a variable that no other has."""

    def __init__(self, words, **options):
        self.mark = f"WEFT_TEST_MARK={uuid.uuid4()}"
        name, value = self.mark.split("=")
        environment = {**os.environ, **options.pop("env", {}), name: value}
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        self.process = subprocess.Popen([str(word) for word in words], env=environment, start_new_session=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.left():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.communicate()

    def left(self, program=None):
        """The processes of this job that live; only those that run this program, if one is named."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() not in (path / "environ").read_bytes().split(b"\0"):
                    continue
                if program is None or os.path.samefile(path / "exe", program):
                    found.append(int(path.name))
            except OSError:
                pass
        return sorted(found)

    def end(self, given=None, timeout=60):
        stdout, stderr = self.process.communicate(given, timeout=timeout)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, stdout.decode(), stderr.decode())

    def read_until(self, text):
        """What it prints, up to a line that begins so."""
        lines = []
        while not lines or not lines[-1].startswith(text):
            line = self.process.stdout.readline().decode()
            if not line:
                raise AssertionError(f"ended before '{text}': {lines} {self.process.stderr.read().decode()}")
            lines.append(line)
        return lines

    def children(self, pid):
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def run(words, given=None, **options):
    """Waits for the end, and looks whether anything is left."""
    if given is not None:
        options["stdin"] = subprocess.PIPE
    with Job(words, **options) as job:
        done = job.end(given)
        if not wait_until(lambda: not job.left(), 5):
            raise AssertionError(f"processes are left of {words}: {job.left()}\n{done.stderr}")
        return done


def main(name):
    skip.run_unittests([name, *CLASSES])


def probe(*words):
    return [PROBE, LIBRARIES, *words]
