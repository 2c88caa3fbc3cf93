#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ctest, with the reason behind each test that its summary lists as skipped. Usage: ctest_with_reasons.py BUILD_FOLDER [CTEST OPTION...]

Prints what ctest prints, and ends with its exit code. Reasons come from ctest's own log: a line "skipped: REASON" of a script
(tests/skip.py), or what a case of GoogleTest gave to GTEST_SKIP().
"""
import pathlib
import re
import subprocess
import sys

SKIPPED = re.compile(r"^\s*\d+ - (\S.*) \(Skipped\)$")
HEAD = re.compile(r"^\d+/\d+ Test(?:ing)?: (.*)$", re.M)
SCRIPT = re.compile(r"^skipped: (.*)$", re.M)
GOOGLE = re.compile(r"^\S+:\d+: Skipped\n(.*)$", re.M)


def reasons_in(log):
    """By name of the test, what the log (the contents of LastTest.log) says of why it was skipped."""
    found = {}
    heads = list(HEAD.finditer(log))
    for head, following in zip(heads, [*heads[1:], None]):
        output = log[head.end():following.start() if following else len(log)]
        told = SCRIPT.findall(output) or GOOGLE.findall(output)
        if told:
            found[head[1]] = "; ".join(dict.fromkeys(text.strip() for text in told))
    return found


def main(build, *options):
    summary = []  # From the first skipped test on: ctest writes its log only when it has printed all.
    with subprocess.Popen(["ctest", "--test-dir", build, *options], stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
        for line in ctest.stdout:
            if summary or SKIPPED.match(line):
                summary.append(line)
            else:
                print(line, end="", flush=True)
    log = pathlib.Path(build) / "Testing/Temporary/LastTest.log"
    reasons = reasons_in(log.read_text(encoding="utf-8", errors="replace")) if summary and log.exists() else {}
    for line in summary:
        skipped = SKIPPED.match(line)
        print(f"{line.rstrip()}: {reasons.get(skipped[1], 'no reason was given')}\n" if skipped else line, end="", flush=True)
    return ctest.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
