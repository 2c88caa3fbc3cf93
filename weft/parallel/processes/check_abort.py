#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One process aborts: the job fails, and the message is printed once. Usage: check_abort.py COMMAND..."""
import subprocess
import sys

LINE = "weft: error: the last one cannot go on"

done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
seen = done.stdout.splitlines().count(LINE)
if done.returncode == 0 or seen != 1:
    print(done.stdout)
    sys.exit(f"exit code {done.returncode}, line seen {seen} times")
