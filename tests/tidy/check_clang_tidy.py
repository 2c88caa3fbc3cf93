#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over every source of ours in the compile database, two at a time.

Usage: check_clang_tidy.py SOURCE_FOLDER BUILD_FOLDER CLANG_TIDY [--without-tests]

Tests may be left out because their headers make them the slow half. A file that passed is remembered by a hash of itself, our headers that it reaches, its command line
and the settings, so a repeat costs only what changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]((?:weft|app|bench)/[^">]+|[^/">]+\.hpp)[">]', re.M)


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


def main(arguments):
    source, build = (pathlib.Path(a).resolve() for a in arguments[:2])
    tool = arguments[2]
    without_tests = "--without-tests" in arguments[3:]
    cache = build / "clang-tidy-passed"
    cache.mkdir(exist_ok=True)
    version = subprocess.run([tool, "--version"], check=True, stdout=subprocess.PIPE).stdout
    rules = sorted(source.glob("**/.clang-tidy"))
    common = version + b"".join(path.read_bytes() for path in rules)

    work = []
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if source not in path.parents or build in path.parents or path.suffix != ".cpp":
            continue
        if without_tests and (path.name.endswith("_test.cpp") or source / "tests" in path.parents):
            continue
        mark = cache / digest(source, path, entry["command"], common)
        if not mark.exists() and path not in [p for p, _ in work]:
            work.append((path, mark))

    def check(item):
        path, mark = item
        done = subprocess.run(
            # What clang warns of beyond GCC is no finding; .clang-tidy says what is.
            [tool, "--quiet", "-p", str(build), "--extra-arg=-Wno-error",
             "--extra-arg=-Wno-unknown-warning-option", str(path)],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            mark.touch()
            return ""
        return done.stdout or done.stderr

    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        count = 0
        for text in pool.map(check, work):
            if text:
                count += 1
                print(text, flush=True)
    print(f"{len(work)} files read, {count} with findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
