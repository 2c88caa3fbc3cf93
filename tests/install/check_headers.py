#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed as public is what is listed, promised and complete. Usage: check_headers.py SOURCE_FOLDER INSTALLED_INCLUDE_FOLDER

The list is public_headers.txt beside this file: who makes a header public, or takes one away, changes it there too.
"""
import pathlib
import re
import sys

MOST = 40
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
PROMISE = re.compile(r"^#pragma once  // Public", re.M)


def faults(source, installed, listed):
    found = {str(path.relative_to(installed)) for path in installed.glob("weft/**/*") if path.is_file()}
    for name in sorted(found - listed):
        yield f"{name} is installed, but not in public_headers.txt: list it, or move it from PUBLIC to HEADERS"
    for name in sorted(listed - found):
        yield f"{name} is in public_headers.txt, but not installed: name it in PUBLIC of its weft_module()"
    if len(listed) > MOST:
        yield f"{len(listed)} public headers, at most {MOST}: every one is a promise"
    for name in sorted(found & listed):
        text = (installed / name).read_text(encoding="utf-8")
        if not PROMISE.search(text):
            yield f"{name} does not say what it promises: '#pragma once  // Public, ...'"
        for mark, include in INCLUDE.findall(text):
            if mark == '"' or (include not in listed and not re.fullmatch(r"[a-z0-9_]+", include)):
                yield f"{name} includes {include}, which is neither public nor of the standard library"
    for path in sorted(source.glob("weft/**/*.hpp")):
        name = str(path.relative_to(source))
        if name not in listed and PROMISE.search(path.read_text(encoding="utf-8")):
            yield f"{name} promises to be public, but is not in public_headers.txt"


def main():
    source, installed = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    listed = set(pathlib.Path(__file__).with_name("public_headers.txt").read_text(encoding="utf-8").split())
    wrong = list(faults(source, installed, listed))
    print("\n".join(wrong) if wrong else f"{len(listed)} public headers, each with its promise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
