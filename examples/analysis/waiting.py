#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which calls waited for the network how long, and which ranks waited most.

Usage: waiting.py FOLDER     of weft sim --record or weft run --record
"""
import sys

try:
    import h5py
    import numpy as np
except ModuleNotFoundError as missing:
    sys.exit(f"waiting.py: Python has no module '{missing.name}'; install it (Debian, Ubuntu: apt install python3-h5py)")


def main(folder):
    with h5py.File(f"{folder}/timeline.h5", "r") as file:
        names = [name.decode() for name in file["call_name"]]
        first = file["first"][:].astype(int)
        call = file["call"][:]
        inside = (file["end_ps"][:] - file["begin_ps"][:]) / 1e6
        waited = file["waited_ps"][:] / 1e6
        if file.attrs["bin_ps"] > 0:
            print(f"times are rounded to bins of up to {file.attrs['bin_ps'] / 1e6:.3f} us")
    ranks = len(first) - 1
    print(f"{'call':<24} {'calls':>9} {'inside, us per rank':>20} {'of that waiting':>16}")
    time_in = np.bincount(call, inside, len(names))
    for number in np.argsort(-time_in, kind="stable"):
        of_call = call == number
        share = waited[of_call].sum() / max(time_in[number], 1e-12)
        print(f"{names[number]:<24} {of_call.sum():>9} {time_in[number] / ranks:>20.3f} {share:>16.1%}")
    by_rank = np.add.reduceat(np.append(waited, 0), np.minimum(first[:-1], len(waited))) * (np.diff(first) > 0)
    worst = np.argsort(-by_rank, kind="stable")[:5]
    print("waited most: " + ", ".join(f"rank {rank} {by_rank[rank]:.3f} us" for rank in worst))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
