#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of a page in docs, one after the other in an empty folder, against the output that stands there.

Usage: check_tutorial.py SOURCE WEFT [--page howto/fortran.md] [--build]

The page is docs/tutorial.md if none is named. In a console block a line that begins with '$ ' is a command, what follows is its output: '...' inside of a line stands for anything, a line of its
own for any number of lines. --build first runs the sh blocks as well (setup and build) in a fresh clone of SOURCE, and uses what they made.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND_SECONDS = 120


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)


def steps(block):
    """(command, expected lines) of a console block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def fits(expected, shown):
    """Whether lines are as expected."""
    pattern = ""
    for line in expected:
        pattern += "(?:.*\n)*" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + "\n"
    return re.fullmatch(pattern, shown) is not None


def run(command, folder, environment, seconds):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
    return done.returncode, done.stdout


def build(source, text, folder):
    """In a clone, as a newcomer would; the program that came out of it."""
    clone = folder / "weft"
    subprocess.run(["git", "clone", "-q", str(source), str(clone)], check=True)
    for block in blocks(text, "sh"):
        code, shown = run("set -e\n" + block, clone, dict(os.environ, HOME=str(folder)), 3600)
        if code != 0:
            sys.exit(f"$ {block}{shown}exit code {code}")
    return clone, clone / "build/release/app/weft"


def check(text, source, weft, folder):
    environment = dict(os.environ, WEFT_SOURCE=str(source), PATH=f"{weft.parent}:{os.environ['PATH']}")
    wrong = tried = 0
    for block in blocks(text, "console"):
        for command, expected in steps(block):
            tried += 1
            # A reader types them into one shell, so none may leave the folder.
            stays = f'\nended=$?\n[ "$PWD" -ef "{folder}" ] || echo "leaves the folder for $PWD"\nexit $ended'
            code, shown = run(command + stays, folder, environment, COMMAND_SECONDS)
            if code == 0 and fits(expected, shown):
                print(f"ok    {command}")
                continue
            wrong += 1
            print(f"WRONG {command}\nexpected:\n" + "\n".join(expected) + f"\nshown (exit code {code}):\n{shown}")
    if tried == 0:
        sys.exit("the page has no command")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("weft", type=pathlib.Path)
    parser.add_argument("--page", default="tutorial.md")
    parser.add_argument("--build", action="store_true")
    options = parser.parse_args()
    source, weft = options.source.resolve(), options.weft.absolute()
    text = (source / "docs" / options.page).read_text()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-tutorial-"))
    try:
        if options.build:
            source, weft = build(source, text, folder)
        work = folder / "work"
        work.mkdir()
        wrong = check(text, source, weft, work)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
