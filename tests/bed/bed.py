# SPDX-License-Identifier: Apache-2.0
"""Labs of the network test bed, and jobs of weft run in them. Neither outlives its `with`."""
import functools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

NETLAB = pathlib.Path(__file__).resolve().parent / "netlab"
TOOLS = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux", "setpriv": "util-linux", "cc": "gcc"}


@functools.cache
def missing(delays=False):
    """Why there can be no lab here, or nothing. Links with a delay need TAP devices."""
    if os.geteuid() != 0:
        return "hosts of the test bed need root"
    if tools := [f"{tool} ({package})" for tool, package in TOOLS.items() if not shutil.which(tool)]:
        return f"the test bed needs what is not installed: {', '.join(tools)}"
    if delays and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "delays of the test bed need /dev/net/tun"
    made = subprocess.run(["unshare", "--net", "--pid", "--ipc", "--uts", "--mount", "--fork", "ip", "link", "add", "name", "eth0", "type", "veth", "peer", "name", "eth1"],
                          capture_output=True, text=True, check=False)
    return "" if made.returncode == 0 else f"the test bed needs namespaces and veth pairs: {made.stderr.strip()}"


def wait_until(true, seconds):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Lab:
    """Hosts, while it stands. `words` begin a job on the first of them."""

    def __init__(self, text, hosts):
        self.name, self.text, self.hosts = f"weft-test-{os.getpid()}", text, hosts
        self.folder = tempfile.TemporaryDirectory(prefix="weft-test-")

    def __enter__(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "lab").write_text(f"lab {self.name}\n{self.text}", encoding="utf-8")
        self.rsh = folder / "rsh"
        self.rsh.write_text(f'#!/bin/sh\nexec "{NETLAB}" -l {self.name} rsh "$@"\n', encoding="utf-8")
        self.rsh.chmod(0o755)
        try:
            self.netlab("up", folder / "lab")
        except subprocess.CalledProcessError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.netlab("down", check=False)
        self.folder.cleanup()

    def netlab(self, *words, check=True):
        return subprocess.run([str(word) for word in (NETLAB, "-l", self.name, *words)], check=check, stdin=subprocess.DEVNULL,
                              capture_output=True)

    def words(self, weft, ranks, *rest, hosts=None):
        hosts = hosts or self.hosts
        return [NETLAB, "-l", self.name, "exec", hosts[0], weft, "run", "-n", ranks, "--hosts", ",".join(hosts), "--rsh", self.rsh, *rest]


class Job:
    """Known by a variable that all of its processes have; it says when each of its lines came."""

    def __init__(self, words, program):
        self.mark, self.program = f"WEFT_TEST_MARK={uuid.uuid4()}", program
        name, value = self.mark.split("=")
        self.out = tempfile.TemporaryFile("w+b")
        self.process = subprocess.Popen([str(word) for word in words], env={**os.environ, name: value}, stdin=subprocess.DEVNULL,
                                        stdout=self.out, stderr=subprocess.STDOUT, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.left():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.out.close()

    def text(self):
        return os.pread(self.out.fileno(), 16 << 20, 0).decode(errors="replace")

    def left(self):
        """Processes of this job that live."""
        return [pid for pid in everybody() if self.is_ours(pid) or is_program(pid, self.program)]

    def is_ours(self, pid):
        try:
            return self.mark.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def ranks(self):
        return [pid for pid in everybody() if is_program(pid, self.program)]


def everybody():
    return sorted(int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*"))


def is_program(pid, program):
    try:
        return os.path.samefile(f"/proc/{pid}/exe", program)
    except OSError:
        return False


def build(weft, source, folder):
    made = pathlib.Path(folder) / pathlib.Path(source).stem
    subprocess.run([weft, "cc", "-O2", str(source), "-o", str(made)], check=True)
    return made
