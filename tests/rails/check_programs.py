#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples and the Fortran programs print under weft run, with real processes, what they print in the simulator.

Usage: check_programs.py WEFT [--language c|fortran] [NAME...]

Times and rates are taken out before the comparison. examples/ring is left out: where latencies differ it deadlocks, as its README
says.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402 pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORTRAN = ROOT / "weft/message/fortran/testdata"
MANY = range(2, 9)
# Source, arguments, numbers of ranks that the program allows.
EXAMPLES = [
    ("bruck/bruck.c", ["16", "check"], MANY), ("halo3d/halo3d.c", ["3", "1000", "check"], MANY), ("master_worker/master_worker.c", ["50"], MANY),
    ("microbench/messages.c", ["--max=64", "--rounds=3"], (2, 4, 6, 8)), ("microbench/collectives.c", ["--max=64", "--rounds=3"], MANY),
    ("random_ring/random_ring.c", ["20000"], MANY), ("sort/sort.c", ["1000"], MANY), ("trunk/trunk.c", ["1"], (2,)),
    ("nas/ep.c", [], MANY), ("nas/is.c", [], (2, 4, 8)), ("nas/ft.c", ["16", "2"], (2, 4, 8)), ("nas/cg.f90", [], (4,)), ("nas/lu.f90", ["12", "2"], MANY)]
FORTRAN_RANKS = {"messages": (16,), "communicators": (8,), "collectives": (4, 8), "fixed": (4, 8), "topology": (4, 8)}
NOT_ALONE = ("checks.f90", "wrong_arguments.f90")
VARIES = (
    (re.compile(r" *\b[\d.]+(e[-+]?\d+)? *(us|ms|s|GB/s|million/s)\b"), " T"),
    (re.compile(r"\d+ to \d+ each"), "N each"),  # Who asks first gets the next task.
    (re.compile(r"on rank \d+, the slowest"), "on rank R, the slowest"))


def without_times(text):
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    return sorted(text.splitlines())


class Checker:
    def __init__(self, weft, wanted, folder):
        self.weft, self.wanted, self.folder, self.runs, self.failures = weft, wanted, folder, 0, []

    def build(self, words, made):
        subprocess.run([self.weft, *words, "-o", str(made)], check=True, cwd=self.folder)
        return made

    def start(self, words):
        try:
            done = subprocess.run([self.weft, *words], cwd=self.folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120)
        except subprocess.TimeoutExpired as late:
            return f"hangs; so far: {late.stdout}"
        return (done.returncode, without_times(done.stdout)) if done.returncode == 0 else f"code {done.returncode}: {done.stdout}{done.stderr}"

    def compare(self, made, arguments, counts, said=None):
        if self.wanted and made.name not in self.wanted:
            return
        for ranks in counts:
            words = ["-n", str(ranks), str(made), *arguments]
            simulated = self.start(["sim", "--net", "torus:4x4", "--payload", "full", "--quiet", *words])
            real = self.start(["run", *words])
            self.runs += 1
            if simulated != real:
                self.failures.append(f"{made.name} on {ranks} ranks:\n sim: {simulated}\n run: {real}")
            elif said is not None and not any(said == line.strip() for line in real[1]):
                self.failures.append(f"{made.name} on {ranks} ranks does not say '{said}': {real}")

    def examples(self, fortran):
        for source, arguments, counts in EXAMPLES:
            path = ROOT / "examples" / source
            if (path.suffix == ".f90") != fortran:
                continue
            made = self.folder / path.stem
            if not self.wanted or made.name in self.wanted:
                self.build(["fc" if path.suffix == ".f90" else "cc", "-O2", str(path), "-lm"], made)
            self.compare(made, arguments, counts)

    def fortran(self):
        for path in sorted([*FORTRAN.glob("*.f90"), *FORTRAN.glob("*.f")]):
            made = self.folder / f"fortran_{path.stem}"
            if path.name in NOT_ALONE or self.wanted and made.name not in self.wanted:
                continue
            part = [str(each) for each in [FORTRAN / f"{path.stem}_part.c"] if each.exists()]
            self.build(["fc", "-w", "-fallow-argument-mismatch", str(FORTRAN / "checks.f90"), str(path), *part], made)
            self.compare(made, [], FORTRAN_RANKS.get(path.stem, (2, 4, 8)), f"ok {path.stem}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--language", choices=("c", "fortran"))
    parser.add_argument("names", nargs="*", help="only programs with these names")
    options = parser.parse_intermixed_args()
    weft = os.path.abspath(options.weft)
    if options.language != "c" and (reason := skip.without_programs("gfortran")):
        skip.leave(reason)
    with tempfile.TemporaryDirectory(prefix="weft-test-") as name:
        checker = Checker(weft, options.names, pathlib.Path(name))
        if options.language != "fortran":
            checker.examples(fortran=False)
        if options.language != "c":
            checker.examples(fortran=True)
            checker.fortran()
    print(f"{checker.runs} comparisons, {len(checker.failures)} differ")
    print("\n".join(checker.failures), end="\n" if checker.failures else "")
    sys.exit(bool(checker.failures) or checker.runs == 0)


if __name__ == "__main__":
    main()
