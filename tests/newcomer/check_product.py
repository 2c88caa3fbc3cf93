#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/demo builds is all that weft doctor looks for, and all that is installed. Usage: check_product.py WEFT BUILD_FOLDER LIB_FOLDER NINJA"""
import json
import pathlib
import re
import sys

from common import expect, run


def main():
    weft, build, lib, ninja = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    made = set(run([ninja, "-C", str(build), "-t", "inputs", "product"], code=0).stdout.split("\n"))
    parts = {path.name for path in (build / lib).iterdir() if path.is_file() and not path.is_symlink()}
    for name in sorted(parts):
        expect(f"{lib}/{name}" in made, f"{lib}/{name} is no part of the target product, so the demo goes without it")
    # What cmake --install takes out of the build folder, unless the install rule says that it may be missing.
    for script in build.rglob("cmake_install.cmake"):
        for name in re.findall(r'FILES "([^"]+\.(?:a|so)[.0-9]*)"', script.read_text(encoding="utf-8")):
            path = pathlib.Path(name)
            if path.is_relative_to(build) and not path.is_symlink():
                expect(str(path.relative_to(build)) in made, f"{path.name} is installed, but no part of the target product")
    checks = json.loads(run([weft, "doctor", "--format", "json"], code=None).stdout)["checks"]
    found = " ".join(check["found"] for check in checks)
    # Libraries that are loaded on demand have a line each; without one nobody learns that it is missing.
    for name in sorted(name for name in parts if name.startswith("weft-") or name == "weft_globals.so"):
        expect(f"{lib}/{name}" in found, f"weft doctor does not look for {lib}/{name}")
    print(f"{len(parts)} parts, all of them built for the demo and looked for by weft doctor")


if __name__ == "__main__":
    main()
