#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every key of a network file, with values at and beyond its ends: taken, or refused in a line that says why; never a crash or a hang.

Usage: check_values.py WEFT
"""
import re
import subprocess
import sys

WEFT = sys.argv[1]
NUMBERS = ("0", "1", "-1", "9223372036854775807", "1e30", "4294967296", '""', "[]", "nan")
QUANTITIES = ("0", "1", "-1", "9223372036854775807", "1000000000", "0.0001")


def keys_of(net):
    """Yields each key with the unit of its value, or None."""
    table = ""
    shown = subprocess.run([WEFT, "net", net, "--show-machine"], capture_output=True, text=True, check=True).stdout
    for line in shown.splitlines():
        if found := re.match(r"\[(.*)\]", line):
            table = found[1] + "."
        elif (found := re.match(r"([a-z_0-9]+) = (.*?)\s*(#.*)?$", line)) and found[1] not in ("topology", "profile", "routing"):
            quantity = re.match(r'"[-\d.]+ ?(\D*)"', found[2])
            yield table + found[1], quantity[1] if quantity else None


def main():
    tried, wrong = 0, []
    for net in ("torus:3x2", "fattree:k=2,levels=2"):
        for key, unit in keys_of(net):
            for value in NUMBERS if unit is None else [f"{number} {unit}" for number in QUANTITIES]:
                tried += 1
                words = ["net", net, "--set", f"{key}={value}"]
                try:
                    done = subprocess.run([WEFT, *words], capture_output=True, text=True, check=False, timeout=60)
                except subprocess.TimeoutExpired:
                    wrong.append(f"hangs: {words}")
                    continue
                if done.returncode < 0 or "internal error" in done.stderr or (done.returncode and len(done.stderr.splitlines()) > 3):
                    wrong.append(f"{words}: code {done.returncode}, {done.stderr}")
                elif done.returncode and not done.stderr.startswith("weft: error: "):
                    wrong.append(f"{words}: fails without a reason")
    print(f"{tried} values, {len(wrong)} wrong")
    print("\n".join(wrong[:20]))
    return 1 if wrong or tried < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
