#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Routing policies that weft loads, in weft sim, weft map and weft traffic: results of the policy that they copy, clear refusals.

Usage: check_plugin.py WEFT COPIES WITHOUT_TABLE OTHER_VERSION [NAME=MPIRUN...] CLASS
COPIES is a library with copies of weft's own policies, the others are libraries that must be refused.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "processes")]
import launch  # noqa: E402 pylint: disable=wrong-import-position
from launch import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, COPIES, WITHOUT_TABLE, OTHER_VERSION = (os.path.abspath(word) for word in sys.argv[1:5])
INTERFACE = pathlib.Path(__file__).resolve().parents[2] / "weft/network/route/policy_plugin.hpp"
VERSION = int(re.search(r"policy_interface_version = (\d+);", INTERFACE.read_text(encoding="utf-8"))[1])
LAUNCHERS = [launch.Launcher(*word.split("=", 1)) for word in sys.argv[5:] if "=" in word]
CLASSES = [word for word in sys.argv[5:] if "=" not in word]
# A policy with one path, one that looks at queues, one that needs news of other routers, one with detours.
POLICIES = {"dor": "torus:4x4", "min-adaptive": "torus:4x4", "crossline": "mesh:4x4", "ugal-l": "dragonfly:a=4,h=2,p=2"}
FLOWS = "".join(f"{rank} {(rank * 7 + 3) % 16} {1000 * (rank + 1)}\n" for rank in range(16))


class Command:
    """One sub-command, and the files that it leaves."""

    def __init__(self, name, files, options, last=()):
        self.name, self.files, self.options, self.last = name, files, options, last

    def words(self, net, routing, more=()):
        return [WEFT, self.name, "--net", net, *(["--routing", routing] if routing else []), *self.options, *more, *self.last]


COMMANDS = (
    Command("sim", ("out/summary.json", "out/ranks.csv", "out/calls.csv"), ("-q", "--output", "out", "--ranks", "16"), ("./program",)),
    Command("map", ("out.json", "map.txt"), ("--traffic", "flows.txt", "--json", "out.json", "-o", "map.txt", "--evaluations", "500")),
    Command("traffic", ("out.json", "out.csv"), ("--packet", "8", "--load", "0.1,0.3", "--warmup", "200", "--measure", "500",
                                                 "--json", "out.json", "--csv", "out.csv")),
)


def without_command(path):
    """The text of a file; JSON without what names the command, its options and where it ran."""
    text = path.read_text(encoding="utf-8")
    if path.name != "out.json":
        return text
    told = ("command", "folder", "circumstances", "settings", "machine")
    return json.dumps({key: value for key, value in json.loads(text).items() if key not in told}, indent=1)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.addClassCleanup(cls.scratch.cleanup)
        (cls.folder / "flows.txt").write_text(FLOWS, encoding="ascii")
        shutil.copy(COPIES, cls.folder / "libcopies.so")
        source = pathlib.Path(__file__).resolve().with_name("everybody.c")
        subprocess.run([WEFT, "cc", "-O1", str(source), "-o", str(cls.folder / "program")], check=True)

    def run_in(self, command, words, folder=None):
        folder = folder or self.folder
        shutil.rmtree(folder / "out", ignore_errors=True)
        for name in command.files:
            (folder / name).unlink(missing_ok=True)
        return launch.run(words, folder)

    def results(self, command, words, folder=None):
        """All that comes out, with the names of copies replaced by those of the originals."""
        done = self.run_in(command, words, folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)
        texts = [done.stdout.decode(), *(without_command((folder or self.folder) / name) for name in command.files)]
        return [self.plain(text) for text in texts]

    def plain(self, text):
        for folder in (f"{self.folder}/nets/..", self.folder, "nets/..", "nets", "."):
            text = text.replace(f"{folder}/libcopies.so:copy-of-", "")
        # Columns are as wide as the names in them, and the digest of weft traffic is one of names, too.
        return [line.split() for line in text.splitlines() if "digest" not in line]

    def refused(self, command, words, *parts):
        done = self.run_in(command, words)
        self.assertIn(done.returncode, (2, 3), done)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(b"weft: error: "), done.stderr)
        for part in parts:
            self.assertIn(part.encode(), done.stderr)


class Threads(Case):
    def test_results_are_those_of_the_original(self):
        for command in COMMANDS:
            for policy, net in POLICIES.items():
                for threads in ("1", "2"):
                    with self.subTest(command=command.name, policy=policy, threads=threads):
                        more = ["--threads", threads]
                        original = self.results(command, command.words(net, policy, more))
                        copy = self.results(command, command.words(net, f"./libcopies.so:copy-of-{policy}", more))
                        self.assertEqual(copy, original)

    def test_another_policy_gives_other_results(self):
        """Else the test above would compare nothing."""
        for command in COMMANDS:
            dor, other = (self.results(command, command.words("torus:4x4", f"./libcopies.so:copy-of-{policy}"))[1:]
                          for policy in ("dor", "min-adaptive"))
            self.assertNotEqual(dor, other, command.name)


class Processes(Case):
    def test_results_are_those_of_the_original(self):
        for command in COMMANDS:
            for policy, net in POLICIES.items():
                original = self.results(command, command.words(net, policy))
                for launcher in LAUNCHERS:
                    with self.subTest(command=command.name, policy=policy, launcher=launcher.name):
                        words = [*launcher.words(2), *command.words(net, f"./libcopies.so:copy-of-{policy}")]
                        self.assertEqual(self.results(command, words), original)


class Refusals(Case):
    def test_each_is_one_clear_line(self):
        text = self.folder / "text.so"
        text.write_text("not a library\n", encoding="ascii")
        for command in COMMANDS:
            for net, routing, parts in (
                    ("torus:4x4", "./libnone.so:x", ("--routing: routing library '", "/libnone.so' does not exist")),
                    ("torus:4x4", "./libcopies.so:copy-of-door", ("has no policy 'copy-of-door'; did you mean 'copy-of-dor'?",)),
                    ("torus:4x4", "./libcopies.so", ("needs the name of a policy behind a colon; it has: copy-of-dor",)),
                    ("torus:4x4", "./text.so:x", ("/text.so' cannot be loaded",)),
                    ("torus:4x4", f"{WITHOUT_TABLE}:x", (WITHOUT_TABLE, "has no routing policies", "define it by WEFT_POLICY_PLUGIN")),
                    ("torus:4x4", f"{OTHER_VERSION}:hollow", (f"was built for version {VERSION + 1} of the policy interface, and this weft has version {VERSION};", "build it against this weft's headers")),
                    ("fattree:k=4,levels=2", "./libcopies.so:copy-of-dor", ("does not fit fattree:k=4,levels=2; fitting: ",))):
                with self.subTest(command=command.name, routing=routing):
                    self.refused(command, command.words(net, routing), *parts)


class NetworkFile(Case):
    """A relative path in a network file begins at the file's folder, wherever the command runs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nets = cls.folder / "nets"
        cls.nets.mkdir()
        shutil.copy(COPIES, cls.nets / "libcopies.so")
        cls.file("same.toml", "./libcopies.so:copy-of-min-adaptive")
        cls.file("bare.toml", "libcopies.so:copy-of-min-adaptive")
        cls.file("above.toml", "../libcopies.so:copy-of-min-adaptive")
        cls.file("wrong.toml", "./libnone.so:x")

    @classmethod
    def file(cls, name, routing):
        (cls.nets / name).write_text(f'[network]\ntopology = "torus:4x4"\n[routing]\npolicy = "{routing}"\n', encoding="ascii")

    def test_is_taken_from_the_folder_of_the_file(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        for name in ("flows.txt", "program"):
            shutil.copy(self.folder / name, elsewhere)
        for command in COMMANDS:
            original = self.results(command, command.words("torus:4x4", "min-adaptive"))
            for folder, path in ((self.folder, "nets/"), (elsewhere, f"{self.folder}/nets/"), (elsewhere, "../nets/")):
                for name in ("same", "bare", "above"):
                    with self.subTest(command=command.name, path=path, name=name):
                        copy = self.results(command, command.words(f"{path}{name}.toml", ""), folder)
                        self.assertEqual(self.numbers(copy), self.numbers(original))

    def numbers(self, texts):
        """Without the lines that say which routing and which file it was."""
        return [[line for line in text if "min-adaptive" not in " ".join(line) and ".toml" not in " ".join(line)] for text in texts]

    def test_an_option_is_taken_from_the_working_folder(self):
        for command in COMMANDS:
            for more in (["--routing", "./libcopies.so:copy-of-dor"], ["--set", "routing.policy=./libcopies.so:copy-of-dor"]):
                with self.subTest(command=command.name, option=more[0]):
                    self.results(command, command.words("nets/wrong.toml", "", more))

    def test_what_is_missing_is_named_with_file_and_line(self):
        for command in COMMANDS:
            self.refused(command, command.words("nets/wrong.toml", ""), "nets/wrong.toml:4: routing library 'nets/libnone.so' does not exist")


if __name__ == "__main__":
    skip.run_unittests([sys.argv[0], *CLASSES])
