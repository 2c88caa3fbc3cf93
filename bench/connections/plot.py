#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what connections.py --json wrote: time against full over the number of shortcuts, a panel for each number of ranks.

Usage: plot.py ROWS.json PICTURE.svg     (Debian: python3-matplotlib)
"""
import json
import pathlib
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402 pylint: disable=wrong-import-position

COLOURS = {"is": "#0072B2", "alltoall": "#D55E00", "halo": "#009E73", "random": "#CC79A7"}
NAMES = {"is": "integer sort", "alltoall": "all-to-all", "halo": "halo", "random": "random"}
MARKS = {"is": "o", "alltoall": "s", "halo": "^", "random": "D"}


def main(rows_path, picture):
    rows = json.loads(pathlib.Path(rows_path).read_text(encoding="utf-8"))
    sizes = sorted({row["ranks"] for row in rows})
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "weft", "font.family": "sans-serif"})
    figure, panels = plt.subplots(1, len(sizes), figsize=(2.6 * len(sizes) + 0.6, 3), sharey=True, squeeze=False)
    for panel, ranks in zip(panels[0], sizes):
        for pattern, colour in COLOURS.items():
            points = [(int(found.group(1)), row["time_ratio"]) for row in rows if row["ranks"] == ranks and row["pattern"] == pattern
                      and (found := re.fullmatch(r"managed,shortcuts=(\d+)", row["mode"]))]
            if points:
                panel.plot(*zip(*sorted(points)), color=colour, marker=MARKS[pattern], markersize=4, label=NAMES[pattern])
        panel.axhline(1, color="#666666", linestyle=":", linewidth=1)
        panel.set_title(f"{ranks} ranks")
        panel.set_xticks([0, 2, 4, 8, 16])
        panel.set_xlabel("shortcuts")
        panel.set_ylim(0, 1.1)
        panel.grid(color="#e2e2e2")
    panels[0][0].set_ylabel("time of the program, full = 1")
    panels[0][0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
