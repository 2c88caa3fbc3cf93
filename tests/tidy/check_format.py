#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The formatter's output is the style. Usage: check_format.py SOURCE_FOLDER CLANG_FORMAT"""
import pathlib
import subprocess
import sys

import sources


def main(arguments):
    source = pathlib.Path(arguments[0])
    files = [str(path.relative_to(source)) for path in sources.code_files(source)]
    if not files:
        print(f"no source files in {source}")
        return 1
    done = subprocess.run([arguments[1], "--dry-run", "--Werror", *files], cwd=source, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        wrong = sorted({line.split(":", 1)[0] for line in done.stdout.splitlines()
                        if "-Wclang-format-violations" in line})
        print(done.stdout if not wrong else "not formatted; run: clang-format -i " + " ".join(wrong))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
