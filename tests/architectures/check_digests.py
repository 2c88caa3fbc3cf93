#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same commands with this machine's weft and with one that was built for the other architecture: no byte may differ.

    check_digests.py WEFT SOURCE [--other BUILD] [--only WORD]

The other weft is the one of the preset cross-arm64 (on x86-64) or cross-x86-64 (on ARM); it is brought up to date first, and qemu runs
it. What is printed and every file that is written is compared, with one worker and with two. Only what names the command, the machine
or the program's own code is left out.
"""
import argparse
import hashlib
import json
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import skip  # noqa: E402

# For a machine: how Debian and the presets call the other architecture.
OTHERS = {"x86_64": ("arm64", "cross-arm64", "aarch64"), "aarch64": ("amd64", "cross-x86-64", "x86_64")}
EXACT = ["--warmup", "1000", "--measure", "3000"]
TRAFFIC = [
    ["--net", "mesh:8x8", "--routing", "dor", "--vcs", "1", "--packet", "32", "--load", "0.02:0.18:0.04", *EXACT],
    ["--net", "torus:4x4x4", "--packet", "1:0.5,16:0.5", "--pattern", "tornado", "--load", "0.1,0.2", *EXACT],
    ["--net", "torus:8x8", "--routing", "crossline", "--packet", "8", "--pattern", "hotspot:0.1@5,9", "--load", "20%,60%", *EXACT],
    ["--net", "torus:6x6", "--routing", "min-adaptive", "--packet", "4", "--pattern", "transpose", "--load", "30%", *EXACT],
    ["--net", "fattree:k=4,levels=3", "--routing", "adaptive-up", "--load", "0.3", "--pattern", "derangement:7", *EXACT],
    ["--net", "dragonfly:a=4,h=2,p=2", "--routing", "ugal-l", "--load", "20%", "--seed", "5", *EXACT],
    ["--net", "hyperx:4x4,p=4", "--routing", "valiant", "--packet", "16", "--load", "0.15", *EXACT],
    ["--net", "dragonfly:a=4,h=2,p=2", "--routing", "up-down", "--packet", "4", "--load", "0.1", "--fail", "random:3,seed=2", *EXACT],
    ["--net", "PRESETS/nsim-torus.toml", "--set", "network.topology=torus:4x4x4", "--load", "1 GB/s", *EXACT],
    ["--net", "mesh:4x4", "--packet", "4", "--saturation"],  # Ends when averages have settled: tests arithmetic with fractions.
    ["--net", "torus:4x4", "--packet", "8", "--load", "10%:70%:20%"],
]
# Program, its arguments, options.
SIM = [
    ("ring", [], ["--net", "torus:4x4"]),
    ("bruck", ["64"], ["--net", "torus:4x4x4", "--connections", "managed,shortcuts=2"]),
    ("halo3d", ["3", "20000"], ["--net", "torus:4x4x2", "--ranks-per-node", "2"]),
    ("halo3d", ["2", "3000", "check"], ["--net", "fattree:k=4,levels=2", "--payload", "full"]),
    ("halo3d", ["2", "30000"], ["--net", "hyperx:4x4,p=2", "--routing", "ugal-l"]),
    ("random_ring", ["30000"], ["--net", "mesh:5x5", "--connections", "on-demand"]),
    ("master_worker", ["100"], ["--net", "torus:4x4", "--payload", "full"]),
    ("sort", ["300"], ["--net", "dragonfly:a=4,h=2,p=2", "-n", "32", "--payload", "full"]),
    ("trunk", ["4", "far", "0", "1"], ["--net", "PRESETS/opteron-trunk.toml"]),
]
SEARCH = ["--evaluations", "300", "--tries", "20000", "--chains", "2"]
# Traffic of which program of SIM (by its place), options. The search ends after exact work, not after a time, and nothing that tells
# how long something took is asked for.
MAP = [
    (2, ["--net", "torus:4x4x2", "--ranks-per-node", "2", *SEARCH]),
    (2, ["--net", "torus:4x4x4", "--objective", "hop-bytes", *SEARCH]),
    (1, ["--net", "torus:8x8", "--objective", "link-norm:2", "--seed", "3", *SEARCH]),
    (1, ["--net", "fattree:k=4,levels=3", "--ranks-per-node", "4", "--objective", "time", *SEARCH]),
    (7, ["--net", "dragonfly:a=4,h=2,p=2", "--objective", "mix:hop-bytes=1,link-max=2", "--simulate", *SEARCH]),
    (5, ["--net", "hyperx:5x5", "--fix", "3=7", *SEARCH]),
]
ADDRESS_SPACE = 8 << 30  # Bytes, of a process under qemu.
# With contraction the program itself would compute other numbers on ARM.
COMPILE = ["-O2", "-ffp-contract=off"]
# A program of this machine that weft, under qemu, can start: the kernel would refuse one of the other architecture. It looks
# linked as weft expects, and becomes the emulator.
STARTER = """
#include <unistd.h>
int main(int argc, char** argv) {
  char* words[64] = {"%s", "-L", "%s", "-0", argv[0], "%s"};
  for (int i = 1; i < argc && i < 50; ++i) words[5 + i] = argv[i];
  execv(words[0], words);
  return 127;
}
"""


def limit_address_space():
    """qemu keeps a record of every page that a program reserves, used or not: for the terabytes that weft sim reserves, more than a machine
    has. Under a limit weft reserves none.
    """
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, check=False, timeout=1800, **options)


def must(command, **options):
    done = run(command, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in command)}\n{(done.stdout + done.stderr).decode(errors='replace')}")


class Native:
    """This machine's weft."""
    prepare = None

    def __init__(self, weft, folder):
        self.command, self.folder = [weft], folder

    def compile(self, source, name):
        must([*self.command, "cc", *COMPILE, source, "-o", self.folder / name], env=dict(os.environ, WEFT_CC="gcc"))


class Emulated:
    """The other architecture's weft, under qemu."""
    prepare = staticmethod(limit_address_space)

    def __init__(self, build, settings, folder):
        self.qemu, self.sysroot, self.folder = settings["WEFT_QEMU"], settings["WEFT_SYSROOT"], folder
        self.compiler = f"{settings['WEFT_CROSS_CC']} --sysroot={self.sysroot}"
        self.command = [self.qemu, "-L", self.sysroot, build / "app/weft"]
        (folder / "programs").mkdir()
        # Nothing is called in it; the starter only names it.
        must(["gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1", "-x", "c", "/dev/null", "-o", folder / "libmpi_abi.so.1"])

    def compile(self, source, name):
        program = self.folder / "programs" / name
        must([*self.command, "cc", *COMPILE, source, "-o", program], env=dict(os.environ, WEFT_CC=self.compiler))
        starter = self.folder / f"{name}.c"
        starter.write_text(STARTER % (self.qemu, self.sysroot, program), encoding="utf-8")
        must(["gcc", starter, "-o", self.folder / name, "-Wl,--no-as-needed", self.folder / "libmpi_abi.so.1",
              f"-Wl,-rpath,{self.folder}"])


def settings_of(build):
    """Entries of a build's cache."""
    lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    return {line.split(":")[0]: line.split("=", 1)[1] for line in lines if ":" in line and "=" in line and line[0] not in "#/"}


def find_other(source, build):
    """Brings the other weft up to date; skips the test where that cannot be."""
    if platform.machine() not in OTHERS:
        skip.leave(f"no preset builds on {platform.machine()} for another architecture")
    arch, preset, processor = OTHERS[platform.machine()]
    build = build or source / "build" / preset
    if not (build / "CMakeCache.txt").exists():
        missing = skip.without_programs(f"{processor}-linux-gnu-g++", f"qemu-{processor}")
        skip.leave(f"weft is not configured for {arch}: scripts/sysroot {arch} build/sysroot/{arch}, then cmake --preset {preset}"
                   + (f" ({missing})" if missing else ""))
    settings = settings_of(build)
    for name in ("WEFT_QEMU", "WEFT_SYSROOT", "WEFT_CROSS_CC"):
        if not pathlib.Path(settings[name]).exists():
            skip.leave(f"{settings[name]} is gone, with which {build} was configured")
    if not shutil.which("gcc"):
        skip.leave("not installed: gcc")
    print(f"building weft for {arch} in {build}", flush=True)
    must(["cmake", "--build", build, "--target", "weft"])
    return build, settings


def without_circumstances(name, data):
    """Without what names the command, the machine and the program's code."""
    if not name.endswith(".json"):
        return data
    content = json.loads(data)
    for key in ("command", "folder", "circumstances", "program"):
        content.pop(key, None)
    content.get("settings", {}).pop("program.fingerprint", None)
    return json.dumps(content, indent=1).encode()


def results(weft, words, folder):
    """All that a command prints and writes, by name."""
    folder.mkdir(parents=True)
    done = run([*weft.command, *words], cwd=folder, preexec_fn=weft.prepare)
    found = {"exit code": str(done.returncode).encode(), "standard output": done.stdout, "standard error": done.stderr}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(folder))
            found[name] = without_circumstances(name, path.read_bytes())
    return found


def digest(found):
    whole = hashlib.sha256()
    for name, data in found.items():
        whole.update(f"{name} {len(data)}\n".encode() + data)
    return whole.hexdigest()[:16]


def differences(one, other):
    """A line for each thing that is not the same."""
    for name in sorted(set(one) | set(other)):
        if name not in one or name not in other:
            yield f"{name} is written on one side only"
        elif one[name] != other[name]:
            pairs = zip(one[name].splitlines(), other[name].splitlines())
            first = next(((number, a, b) for number, (a, b) in enumerate(pairs, 1) if a != b), None)
            yield f"{name} differs" + (f", line {first[0]}: {first[1][:120]!r} here, {first[2][:120]!r} there" if first else ", in length")


class Comparison:
    def __init__(self, native, other, only):
        self.native, self.other, self.only = native, other, only
        self.compared = self.failed = 0

    def compare(self, label, words_for, threads):
        """words_for(weft) are the words of the command for this one."""
        if self.only and self.only not in label:
            return None
        places = [weft.folder / f"run{self.compared}" for weft in (self.native, self.other)]
        one, two = (results(weft, words_for(weft), place) for weft, place in zip((self.native, self.other), places))
        self.compared += 1
        problems = list(differences(one, two))
        if one["exit code"] != b"0":
            problems.append(f"ends with {one['exit code'].decode()}: {one['standard error'].decode(errors='replace')[-400:]}")
        print(f"{digest(one)} {'differs' if problems else 'same'}  {label}, {threads} worker{'s' * (threads > 1)}", flush=True)
        for problem in problems:
            print(f"    {problem}", flush=True)
        self.failed += bool(problems)
        return places[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft", type=pathlib.Path)
    parser.add_argument("source", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--other", type=pathlib.Path, help="build folder of the other architecture")
    parser.add_argument("--only", default="", help="only commands with this word in their line")
    options = parser.parse_args()
    build, settings = find_other(options.source, options.other)

    def placed(words):
        return [word.replace("PRESETS", str(options.source / "presets")) for word in words]

    with tempfile.TemporaryDirectory() as folder:
        for name in ("here", "there"):
            pathlib.Path(folder, name).mkdir()
        native = Native(options.weft.resolve(), pathlib.Path(folder, "here"))
        other = Emulated(build.resolve(), settings, pathlib.Path(folder, "there"))
        both = Comparison(native, other, options.only)
        for words in TRAFFIC:
            for threads in (1, 2):
                # One line, since this names the test case and is the command in full.
                both.compare(f"traffic {' '.join(words)}", lambda weft, words=words, threads=threads: [
                    "traffic", *placed(words), "--jobs", "1", "--threads", threads, "--json", "out.json", "--csv", "out.csv"], threads)
        for program in sorted({name for name, _, _ in SIM}):
            for weft in (native, other):
                weft.compile(options.source / "examples" / program / f"{program}.c", program)
        matrices = {}
        for place, (program, arguments, words) in enumerate(SIM):
            for threads in (1, 2):
                out = both.compare(f"sim {' '.join([*words, program, *arguments])}",
                                   lambda weft, words=words, threads=threads, program=program, arguments=arguments: [
                                       "sim", *placed(words), "--threads", threads, "--record", "out", "--series", "5us",
                                       weft.folder / program, *arguments], threads)
                matrices[place] = out and out / "out/traffic.txt"
        for place, words in MAP:
            for threads in (1, 2):
                if matrices[place] is None:
                    continue
                both.compare(f"map of {SIM[place][0]} {' '.join(words)}",
                             lambda weft, words=words, threads=threads, place=place: [
                                 "map", "--traffic", matrices[place], *placed(words), "--threads", threads, "--json", "out.json",
                                 "--csv", "out.csv", "-o", "out.map"], threads)
    print(f"{both.compared} commands compared, {both.failed} differ")
    if both.compared == 0:
        sys.exit("nothing was compared")
    return 1 if both.failed else 0


if __name__ == "__main__":
    sys.exit(main())
