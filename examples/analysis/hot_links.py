#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The busiest links of a run, and when they were full.

Usage: hot_links.py FOLDER [HOW_MANY]     FOLDER: of weft sim --record
"""
import sys

try:
    import h5py
    import numpy as np
except ModuleNotFoundError as missing:
    sys.exit(f"hot_links.py: Python has no module '{missing.name}'; install it (Debian, Ubuntu: apt install python3-h5py)")


def router_name(file, router):
    if file.attrs["family"] != b"cube":
        return file["router_name"][router].decode()
    place = []
    for radix in file["radix"]:
        place.append(str(router % radix))
        router //= radix
    return "(" + ",".join(place) + ")"


def main(folder, count):
    with h5py.File(f"{folder}/series.h5", "r") as file:
        end = file["end_ps"][:]
        seconds = np.diff(end, prepend=0) / 1e12
        bytes_ = file["bytes"][:].astype(float)  # samples x links
        share = bytes_ / seconds[:, None] / file["link_byte_per_s"][:]
        whole = bytes_.sum(axis=0)
        print(f"{'link':<28} {'bytes':>12} {'max':>8}   when")
        for link in np.argsort(-whole, kind="stable")[:count]:
            if whole[link] == 0:
                break
            name = f"{router_name(file, file['link_from'][link])} to {router_name(file, file['link_to'][link])}"
            when = share[:, link].argmax()
            print(f"{name:<28} {whole[link]:>12.0f} {share[when, link]:>8.1%}   until {end[when] / 1e6:.1f} us")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 10)
