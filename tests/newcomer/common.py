# SPDX-License-Identifier: Apache-2.0
"""What the checks of this folder share: running commands, and talking to a program through a terminal."""
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402,F401 pylint: disable=wrong-import-position,unused-import

DEADLINE_S = 60


def fail(message):
    sys.exit(f"FAILED: {message}")


def expect(condition, message):
    if not condition:
        fail(message)


def run(words, code=0, env=None, **more):
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, **more)
    if code is not None and done.returncode != code:
        fail(f"{' '.join(map(str, words))}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done


class Terminal:
    """A program that believes somebody sits before it."""

    def __init__(self, words, env, cwd=None):
        self.text = ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            if cwd:
                os.chdir(cwd)
            os.execvpe(words[0], words, env)

    def type(self, text):
        os.write(self.end, text.encode())

    def wait_for(self, wanted, start=0):
        """Until the text stands on the screen, after `start` characters; returns where it ends."""
        limit = time.monotonic() + DEADLINE_S
        while wanted not in self.text[start:]:
            ready, _, _ = select.select([self.end], [], [], max(0, limit - time.monotonic()))
            data = b""
            if ready:
                try:
                    data = os.read(self.end, 65536)
                except OSError:
                    pass
            if not data:
                fail(f"waited for {wanted!r}, saw {self.text[start:]!r}")
            self.text += data.decode(errors="replace")
        return self.text.index(wanted, start) + len(wanted)

    def close(self):
        os.close(self.end)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
