#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/new_component writes must compile. Usage: check_scaffold.py SOURCE_FOLDER COMPILER"""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main(arguments):
    source = pathlib.Path(arguments[0]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        shutil.copytree(source / "scripts", copy / "scripts")
        shutil.copytree(source / "weft", copy / "weft")
        shutil.copy(source / ".clang-format", copy)
        script = copy / "scripts/new_component"
        subprocess.run([script, "route", "made-up", "a policy made by a test"], check=True)
        for name in ("made_up.cpp", "made_up_test.cpp", "builtin.cpp"):
            subprocess.run([arguments[1], "-std=c++20", "-Wall", "-Wextra", "-Werror",
                            "-fsyntax-only", f"-I{copy}", copy / "weft/network/route" / name], check=True)
        listing = (copy / "weft/network/route/CMakeLists.txt").read_text(encoding="utf-8")
        if "made_up.cpp" not in listing or "made_up_test.cpp" not in listing:
            print("the build does not know the new files")
            return 1
        again = subprocess.run([script, "route", "made-up"], check=False, capture_output=True)
        if again.returncode == 0:
            print("the second time must be refused")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
