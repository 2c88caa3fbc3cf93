#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words and profile together mean the same machine in every command.

Asks every command for the machine that it read (--show-machine), for all combinations of the tables below, and compares the answers.
"""
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()

# Command -> the words that name a network.
COMMANDS = {"net": [], "sim": ["--net"], "map": ["--net"], "probe": ["--net"], "traffic": ["--net"]}
USUAL = "cluster"
PROFILES = ("", "cluster", "nsim", "textbook")
# Each a spec; the same as a file of one line is made from it.
SPECS = ("torus:8x8x8", "mesh:4x4,p=2", "fattree:k=4,levels=2", "four.graph")
FILES = {"four.graph": "weft-graph 1\nrouter a\nrouter b\nnode w a\nnode x a\nnode y b\nnode z b\nlink a b\n"}
PRESETS = sorted((ROOT / "presets").glob("*.toml"))
OVERRIDES = (
    [],
    ["--set", "router.vcs=4", "--set", "link.delay=50 ns", "--set", "node.sockets=2", "--set", "messages.eager_limit=1 KiB"],
    ["--routing", "up-down", "--set", "packet.mtu=1 KiB", "--set", "router.buffer=8 KiB"],
)
WRONG = {
    "[rooter]\nvcs = 2\n": "unknown table [rooter]; did you mean 'router'?",
    "[router]\nvsc = 2\n": "unknown key 'vsc' in [router]",
    "[news]\nmod = 1\n": "unknown key 'mod' in [news]",
    "[link]\nrate = 25\n": "needs a unit",
    "[link.xx]\nrate = \"1 GB/s\"\n": "no cables of class 'xx'",
    "[nic]\ndely = \"1 ns\"\n": "unknown key 'dely' in [nic]",
    "[packet]\nmtt = \"1 B\"\n": "unknown key 'mtt' in [packet]",
    "[routing]\npolcy = \"dor\"\n": "unknown key 'polcy' in [routing]",
    "[node]\nrail = 1\n": "unknown key 'rail' in [node]",
    "[node]\nrails = 5\n": "no multiple of the rails",
    "[messages]\ncredt = \"1 B\"\n": "unknown key 'credt' in [messages]",
    "[router]\nbuffer = \"8 B\"\n": "smaller than one packet",
}


def run(words, folder):
    return subprocess.run([str(WEFT)] + words, cwd=folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def words_of(command, net, *more):
    return [command] + COMMANDS[command] + [net] + list(more)


class Machine(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    def tearDown(self):
        self.scratch.cleanup()

    def shown(self, command, net, *more):
        done = run(words_of(command, net, *more, "--show-machine"), self.folder)
        self.assertEqual(done.returncode, 0, f"weft {command} {net} {more}: {done.stderr}")
        self.assertIn("[router]", done.stdout)
        return done.stdout

    def file_of(self, spec):
        path = self.folder / "one.toml"
        topology = f"graph:{spec}" if spec in FILES else spec
        path.write_text(f'[network]\ntopology = "{topology}"\n')
        return path.name

    def test_commands_read_the_same(self):
        for spec, profile, override in itertools.product(SPECS, PROFILES, OVERRIDES):
            more = override + (["--profile", profile] if profile else [])
            texts = {}
            for command in COMMANDS:
                for net in (spec, self.file_of(spec)):
                    texts.setdefault(self.shown(command, net, *more), []).append(f"{command} {net}")
            self.assertEqual(len(texts), 1, f"{spec} {profile} {override}: {list(texts.values())}")
            self.assertTrue(next(iter(texts)).startswith(f'profile = "{profile or USUAL}"\n'))

    def test_presets_are_one_machine_each(self):
        for preset, override in itertools.product(PRESETS, ([], ["--set", "link.rate=3 GB/s"])):
            texts = {self.shown(command, str(preset), *override) for command in COMMANDS}
            self.assertEqual(len(texts), 1, preset)

    def test_shown_machine_read_again_is_the_same(self):
        for spec, profile in itertools.product(SPECS, PROFILES[1:]):
            first = self.shown("net", spec, "--profile", profile)
            (self.folder / "again.toml").write_text(first)
            for command in COMMANDS:
                again = self.shown(command, "again.toml")
                self.assertEqual(re.sub(" +#.*", "", again), re.sub(" +#.*", "", first), f"{command} {spec} {profile}")

    def test_options_of_traffic_are_keys(self):
        for option, key in ((["--vcs", "4"], "router.vcs=4"), (["--buffer", "64"], "router.buffer=4 KiB"),
                            (["--arbitration", "age"], "router.arbitration=age"), (["--release", "head"], "router.release=head")):
            self.assertEqual(self.shown("traffic", "torus:4x4", *option), self.shown("traffic", "torus:4x4", "--set", key))

    def test_commands_find_the_same_mistakes(self):
        for text, message in WRONG.items():
            (self.folder / "wrong.toml").write_text('[network]\ntopology = "torus:4x4"\n' + text)
            line = 3 if message.startswith(("unknown table", "no cables")) else 4
            for command, more in itertools.product(COMMANDS, (["--show-machine"], None)):
                # Also without being asked for the machine: with all that the command needs to work.
                needs = {"traffic": ["--load", "0.1"], "sim": ["true"], "map": ["--traffic", "x"]}.get(command, [])
                done = run(words_of(command, "wrong.toml", *(more or needs)), self.folder)
                if more is None and command == "sim":  # Looks at its program first.
                    continue
                self.assertEqual(done.returncode, 3, f"{command} {text}: {done.stdout}")
                self.assertIn(f"wrong.toml:{line}: ", done.stderr, f"{command} {text}")
                self.assertIn(message, done.stderr, f"{command} {text}")

    def test_lists(self):
        for command in COMMANDS:
            for option, word in (("--profile", "textbook"), ("--routing", "dor-balanced")):
                done = run([command, option, "list"], self.folder)
                self.assertEqual(done.returncode, 0, f"{command} {option}: {done.stderr}")
                self.assertIn(f"  {word} ", done.stdout)

    def test_profile_is_told(self):
        (self.folder / "ring.txt").write_text("0 1 100\n1 0 100\n")
        (self.folder / "two.map").write_text("0 0\n1 1\n")
        for profile in PROFILES[1:]:
            told = ["--profile", profile]
            done = run(["net", "torus:4x4", "--format", "json"] + told, self.folder)
            self.assertEqual(json.loads(done.stdout)["profile"], profile)
            self.assertIn(f" {profile}\n", run(["net", "torus:4x4"] + told, self.folder).stdout)
            done = run(["traffic", "--net", "mesh:2x2", "--load", "0.05", "--json", "t.json"] + told, self.folder)
            self.assertIn(f"profile {profile}", done.stdout)
            self.assertEqual(json.loads((self.folder / "t.json").read_text())["curves"][0]["profile"], profile)
            done = run(["map", "--net", "torus:4x4", "--traffic", "ring.txt", "--evaluate", "two.map", "--json", "m.json"] + told, self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(profile, done.stdout)
            self.assertIn(profile, (self.folder / "m.json").read_text())

    def test_page_names_every_key(self):
        page = (ROOT / "docs/reference/network-file.md").read_text() + (ROOT / "docs/reference/sim.md").read_text()
        table = ""
        for line in self.shown("net", "torus:4x4").splitlines():
            if line.startswith("["):
                table = line.strip("[]")
            elif " = " in line or line.startswith("# "):
                key = line.lstrip("# ").split(" ")[0]
                self.assertRegex(page, rf"`(\[{table}\] )?{key}`|`{table}\.{key}`", f"[{table}] {key} is not documented")


if __name__ == "__main__":
    skip.run_unittests(sys.argv[:1])
