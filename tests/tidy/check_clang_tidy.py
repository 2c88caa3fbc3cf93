#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over every source of ours in the compile database, two at a time.

Usage: check_clang_tidy.py SOURCE_FOLDER BUILD_FOLDER CLANG_TIDY [--without-tests]

Most of the time goes into the headers of libraries, so sources that are compiled alike are read several at a time, as one that includes them; if they do
not get along in one (two functions of one name), in smaller parts. Tests may be left out because their headers make them the slow half. A
file that passed is remembered by a hash of itself, our headers that it reaches, its command line and the settings, so a repeat costs only what
changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]((?:weft|app|bench)/[^">]+|[^/">]+\.hpp)[">]', re.M)
# What begins a line and has a name that another source may have, too.
NAMED = re.compile(r"^(?!return|case|namespace|template|using|extern|WEFT_|#|//|\}|public|private|else)[A-Za-z_][^\n(]*?(?<!::)\b([A-Za-z_]\w*)(?:\(|\{| \{| =|\[|;)", re.M)
TOGETHER_MOST = 12
OURS = r"--header-filter=/(weft|app|bench|plugins|tests)/[^ ]*\.(hpp|cpp)$"


def reached(source, path, seen):
    """The file and every header of ours that it includes, directly or not."""
    if path in seen or not path.exists():
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        reached(source, source / name, seen)
        reached(source, path.parent / name, seen)


def digest(source, path, command, common):
    seen = set()
    reached(source, path, seen)
    total = hashlib.sha256(common + command.encode())
    for each in sorted(seen):
        total.update(str(each.relative_to(source)).encode() + b"\0" + each.read_bytes() + b"\0")
    return total.hexdigest()


def flags_of(entry):
    """The command without what is about this file alone."""
    words = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")][1:]
    flags, skip = [], False
    for word in words:
        if skip or word in ("-c", "-MD", "-Winvalid-pch", entry["file"]):
            skip = False
        elif word in ("-o", "-MF", "-MT", "-include"):  # What is included so is precompiled by GCC, which clang cannot read.
            skip = True
        else:
            flags.append(word)
    return tuple(flags)


def put_together(work):
    """Groups of files of one folder and one set of flags that have no name in common, as far as one sees without a compiler."""
    groups = []
    for item in work:
        path, flags, _ = item
        names = set(NAMED.findall(path.read_text(encoding="utf-8")))
        for group in groups:
            if group["key"] == (path.parent, flags) and len(group["items"]) < TOGETHER_MOST and not names & group["names"]:
                break
        else:
            group = {"key": (path.parent, flags), "items": [], "names": set()}
            groups.append(group)
        group["items"].append(item)
        group["names"] |= names
    return [group["items"] for group in sorted(groups, key=lambda g: -len(g["items"]))]


class Tidy:
    def __init__(self, tool, source, scratch):
        self.tool, self.source, self.scratch = tool, source, pathlib.Path(scratch)
        # clang-tidy looks for rules beside a file and above it: those of a folder hold for a file that includes its files.
        for rules in source.glob("**/.clang-tidy"):
            copy = self.scratch / rules.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(rules.read_bytes())

    def run(self, path, flags):
        # What clang warns of beyond GCC is no finding; .clang-tidy says what is.
        done = subprocess.run([self.tool, "--quiet", OURS, str(path), "--", *flags, "-Wno-error", "-Wno-unknown-warning-option"],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return "" if done.returncode == 0 else done.stdout or done.stderr

    def check(self, items):
        """What is wrong with these files."""
        if len(items) == 1:
            path, flags, mark = items[0]
            text = self.run(path, flags)
            if not text:
                mark.touch()
            return text
        folder = self.scratch / items[0][0].parent.relative_to(self.source)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", suffix=".cpp", dir=folder) as several:
            several.writelines(f'#include "{path}"  // NOLINT(bugprone-suspicious-include)\n' for path, _, _ in items)
            several.flush()
            text = self.run(several.name, items[0][1])
        if not text:
            for _, _, mark in items:
                mark.touch()
            return ""
        # A finding, or they do not get along: the smaller parts tell.
        middle = len(items) // 2
        return self.check(items[:middle]) + self.check(items[middle:])


def work_of(source, build, common, without_tests):
    cache = build / "clang-tidy-passed"
    cache.mkdir(exist_ok=True)
    work, known = {}, 0
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if source not in path.parents or build in path.parents or path.suffix != ".cpp":
            continue
        if without_tests and (path.name.endswith("_test.cpp") or source / "tests" in path.parents):
            continue
        known += 1
        mark = cache / digest(source, path, entry["command"], common)
        if not mark.exists():
            work.setdefault(path, (path, flags_of(entry), mark))
    if known == 0:
        sys.exit(f"{build}/compile_commands.json names no source of {source}")
    return list(work.values())


def main(arguments):
    source, build = (pathlib.Path(a).resolve() for a in arguments[:2])
    tool = arguments[2]
    version = subprocess.run([tool, "--version"], check=True, stdout=subprocess.PIPE).stdout
    rules = sorted(source.glob("**/.clang-tidy"))
    common = version + b"".join(path.read_bytes() for path in rules)
    work = work_of(source, build, common, "--without-tests" in arguments[3:])
    count = 0
    with tempfile.TemporaryDirectory(prefix="weft-tidy-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for text in pool.map(Tidy(tool, source, scratch).check, put_together(work)):
            if text:
                count += 1
                print(text, flush=True)
    print(f"{len(work)} files read, {'no finding' if count == 0 else f'findings in {count} groups of them'}")
    return 1 if count else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
