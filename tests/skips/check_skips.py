#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs test scripts with something taken away that they need: each says what, and exits with 77.

Usage: check_skips.py WEFT PROBE BUILD_FOLDER [Scripts] [Bed] [Libfabric] [Browser]

Root is given up by setpriv (files stay readable), a program by a PATH without it, a module of Python by one that cannot be imported.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, PROBE, BUILD = (os.path.abspath(word) for word in sys.argv[1:4])
LIBRARIES = str(next(pathlib.Path(BUILD).glob("lib*/**/weft")))
JOB = [WEFT, PROBE, LIBRARIES]
ORDINARY = ["setpriv", "--reuid=65534", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
HOSTS = "hosts of the test bed need root"
# Script, its arguments, what it says.
WITHOUT_ROOT = (
    ("bed/check_netlab.py", ["Shapes"], HOSTS),
    ("rails/check_rails.py", [WEFT, "transfer"], HOSTS),
    ("rails/check_connections.py", [WEFT, "few"], HOSTS),
    ("probe/check_probe.py", [WEFT, "shapes"], HOSTS),
    ("processes/check_run_hosts.py", JOB, HOSTS),
    ("processes/check_profile.py", [*JOB, "Hosts"], HOSTS),
    ("processes/check_profile.py", [*JOB, "FullDisk"], "a small disk needs root"),
    # Where Slurm or PMIx is missing too, they are named.
    ("processes/check_run_launchers.py", [*JOB, "Slurm"], ""),
)
# The same, with the program that is missing.
WITHOUT_PROGRAM = (
    ("bash", "newcomer/check_completion.py", [WEFT, "bash"], "not installed: bash"),
    ("zsh", "newcomer/check_completion.py", [WEFT, "zsh"], "not installed: zsh"),
    ("fish", "newcomer/check_completion.py", [WEFT, "fish"], "not installed: fish"),
    ("man", "newcomer/check_help.py", [WEFT, str(TESTS.parent), BUILD, "man"], "not installed: man"),
    ("mandoc", "newcomer/check_help.py", [WEFT, str(TESTS.parent), BUILD, "mandoc"], "not installed: mandoc"),
    ("gfortran", "rails/check_programs.py", [WEFT, "--language", "fortran"], "not installed: gfortran"),
    ("otf2-print", "processes/check_profile.py", [*JOB, "Archives"], "otf2-print is not installed (Debian: otf2-tools)"),
)
# The same; launchers are named by arguments.
WITHOUT_LAUNCHER = (
    ("processes/check_run_launchers.py", [*JOB, "Mpich"], "MPICH's mpirun is not installed"),
    ("processes/check_run_launchers.py", [*JOB, "OpenMpi"], "Open MPI's mpirun is not installed"),
    ("processes/check_profile.py", [*JOB, "Mpich"], "MPICH's mpirun is not installed"),
    ("processes/check_profile.py", [*JOB, "OpenMpi"], "Open MPI's mpirun is not installed"),
)


def path_without(program, folder):
    """A folder with all programs of PATH but this one. Compilers find their own parts from where they really are."""
    for place in reversed(os.environ["PATH"].split(":")):
        for item in pathlib.Path(place).iterdir() if os.path.isdir(place) else []:
            link = folder / item.name
            link.unlink(missing_ok=True)
            if item.name != program:
                link.symlink_to(item)
    return str(folder)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def says(self, words, said, environment=None, before=()):
        """`said` is part of the reason."""
        done = subprocess.run([*before, *words], cwd="/", env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, check=False)
        reasons = [line for line in done.stdout.splitlines() if line.startswith("skipped: ")]
        self.assertEqual((done.returncode, len(reasons)), (skip.CODE, 1), f"{words}\n{done.stdout}{done.stderr}")
        self.assertIn(said, reasons[0])

    def script(self, name, words):
        return [sys.executable, "-B", str(TESTS / name), *words]


class Scripts(Case):
    def test_root(self):
        before = ORDINARY if os.geteuid() == 0 else []
        for name, words, said in WITHOUT_ROOT:
            with self.subTest(name, words=words[3:]):
                self.says(self.script(name, words), said, before=before)

    def test_programs(self):
        for program, name, words, said in WITHOUT_PROGRAM:
            with self.subTest(name, program=program):
                folder = self.folder / program
                folder.mkdir()
                self.says(self.script(name, words), said, {"PATH": path_without(program, folder)})

    def test_launchers(self):
        for name, words, said in WITHOUT_LAUNCHER:
            with self.subTest(name, words=words[1:]):
                self.says(self.script(name, words), said)

    def test_h5py(self):
        (self.folder / "h5py.py").write_text("raise ImportError\n", encoding="utf-8")
        self.says(self.script("report/check_analysis.py", [WEFT, str(TESTS.parent)]), "no h5py (Debian: python3-h5py)",
                  {"PYTHONPATH": str(self.folder)})


@unittest.skipIf(os.geteuid() != 0, "hosts of the test bed need root")  # Which is missed before tc.
class Bed(Case):
    def test_tc(self):
        self.says(self.script("bed/check_netlab.py", ["Shapes"]), "the test bed needs what is not installed: tc (iproute2)",
                  {"PATH": path_without("tc", self.folder)})


class Libfabric(Case):
    def test_provider(self):
        self.says(self.script("processes/check_rdma.py", [WEFT, "Sockets"]), "libfabric has no provider 'sockets' here", {"FI_PROVIDER": "^sockets"})


class Browser(Case):
    def test_pages(self):
        node = shutil.which("node") or shutil.which("nodejs")
        page = pathlib.Path(BUILD) / "web/page/real.mjs"
        self.says([node, "--preserve-symlinks", "--preserve-symlinks-main", str(page), WEFT, str(TESTS.parent)], "no chromium",
                  {"WEFT_CHROMIUM": "/nonexistent/chromium"})


if __name__ == "__main__":
    skip.run_unittests(["check_skips", *sys.argv[4:]])
