#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/analysis, on a record made here, against what weft itself says of it.

Usage: check_analysis.py WEFT SOURCE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import skip  # noqa: E402 pylint: disable=wrong-import-position


def python_with_h5py():
    for name in ("python3", "/usr/bin/python3"):
        try:
            if subprocess.run([name, "-c", "import h5py, numpy"], capture_output=True, check=False).returncode == 0:
                return name
        except OSError:
            continue
    skip.leave("no h5py (Debian: python3-h5py)")


def check_missing_module(source):
    """Without h5py the scripts name the package to install."""
    for name in ("hot_links.py", "waiting.py"):
        words = [sys.executable, "-S", "-E", f"{source}/examples/analysis/{name}", "run"]  # -S: no installed modules
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1 and "python3-h5py" in done.stderr, done
        assert len(done.stderr.splitlines()) == 1, done.stderr


def main(weft, source):
    check_missing_module(source)
    python = python_with_h5py()
    if reason := skip.without_parts(weft, "HDF5"):
        skip.leave(reason)
    with tempfile.TemporaryDirectory(prefix="weft-analysis-") as folder:
        def run(*words):
            return subprocess.run(words, cwd=folder, check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout

        run(weft, "cc", "-O2", f"{source}/examples/halo3d/halo3d.c", "-o", "halo3d")
        run(weft, "sim", "--net", "torus:4x4x2", "--record", "run", "-q", "./halo3d", "5", "65536")
        summary = json.loads((pathlib.Path(folder) / "run/summary.json").read_text())
        hot = run(python, f"{source}/examples/analysis/hot_links.py", "run", "1").splitlines()[1]
        links = summary["links"]
        assert hot.startswith(links["busiest"]), (hot, links["busiest"])
        assert str(links["busiest_bytes"]) in hot.split(), (hot, links["busiest_bytes"])
        shown = run(python, f"{source}/examples/analysis/waiting.py", "run")
        rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.startswith("MPI_")}
        assert rows and summary["calls"], shown
        for call, facts in summary["calls"].items():
            count, inside = int(rows[call][1]), float(rows[call][2])
            assert count == facts["count"], (call, count, facts)
            assert abs(inside - facts["time_ps"] / summary["ranks"] / 1e6) < 0.001, (call, inside, facts)
        worst = shown.splitlines()[-1]
        assert f"{summary['waiting_ps']['most'] / 1e6:.3f} us" in worst, (worst, summary["waiting_ps"])
    print("OK")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).resolve())
