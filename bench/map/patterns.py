#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The communication patterns of docs/validation.md, as traffic files for weft map ("source destination bytes", each ordered pair once).

Usage: patterns.py FOLDER [NAME...]     writes all of them (13 MB, seconds), or only these

Every pattern is fixed: random numbers are made here, and a file whose digest is not the one below is an error. Bytes are those of one
step or iteration. Ranks and nodes are numbered with the first dimension fastest (x + X (y + Y z)).
"""
import hashlib
import itertools
import math
import pathlib
import sys


class Random:
    """splitmix64: the same numbers everywhere."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def below(self, bound):
        return self.next() % bound

    def unit(self):
        return (self.next() >> 11) / float(1 << 53)

    def permutation(self, count):
        order = list(range(count))
        for i in range(count - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


class Traffic(dict):
    """Bytes by (source, destination)."""

    def add(self, source, destination, size):
        if source != destination and size:
            self[source, destination] = self.get((source, destination), 0) + size


def place_of(rank, sides):
    place = []
    for side in sides:
        place.append(rank % side)
        rank //= side
    return place


def rank_at(place, sides):
    """Places beyond an edge are those at the other end."""
    rank, stride = 0, 1
    for at, side in zip(place, sides):
        rank += at % side * stride
        stride *= side
    return rank


def allgather_bruck(ranks):
    """Bruck's allgather of 2048 bytes as one step: rank i sends 2048 * 2^k bytes to i + 2^k."""
    made = Traffic()
    for k in range((ranks - 1).bit_length()):
        for rank in range(ranks):
            made.add(rank, (rank + (1 << k)) % ranks, 2048 * min(1 << k, ranks - (1 << k)))
    return made


def alltoall_bruck(ranks):
    """The same partners; 16 bytes for each block whose number has bit k."""
    made = Traffic()
    for k in range((ranks - 1).bit_length()):
        blocks = sum(1 for block in range(ranks) if block >> k & 1)
        for rank in range(ranks):
            made.add(rank, (rank + (1 << k)) % ranks, 16 * blocks)
    return made


def stencil(sides, shuffled):
    """64 KiB to each nearest neighbour of a periodic grid. Shuffled ranks hide a map that is known to be perfect."""
    made, ranks = Traffic(), math.prod(sides)
    name = Random(1).permutation(ranks) if shuffled else list(range(ranks))
    for rank in range(ranks):
        place = place_of(rank, sides)
        for axis, step in itertools.product(range(len(sides)), (-1, 1)):
            other = [at + step * (axis == i) for i, at in enumerate(place)]
            made.add(name[rank], name[rank_at(other, sides)], 65536)
    return made


def random_ring(ranks):
    """64 KiB to both neighbours on a ring through all ranks in random order: a perfect map exists."""
    made, order = Traffic(), Random(1).permutation(ranks)
    for one, other in zip(order, order[1:] + order[:1]):
        made.add(one, other, 65536)
        made.add(other, one, 65536)
    return made


def nas_cg(side):
    """NPB CG, class D: an inner iteration. Sums over a row of ranks by halving, then the transpose partner."""
    made, row_block = Traffic(), -(-1500000 // side) * 8
    for row, column in itertools.product(range(side), repeat=2):
        rank, part = row * side + column, side
        while part > 1:
            other = (column + part // 2) % part + column // part * part
            made.add(rank, row * side + other, row_block + 2 * 8)  # A part of the vector, and two scalars.
            part //= 2
        made.add(rank, column * side + row, row_block)
    return made


def nas_lu(side, points=408):
    """NPB LU: a time step. Both wavefront sweeps (5 doubles a point and plane) and the halo of two layers."""
    made = Traffic()
    for row, column in itertools.product(range(side), repeat=2):
        wide, high = (points // side + (at < points % side) for at in (column, row))
        for down, right, edge in ((1, 0, wide), (-1, 0, wide), (0, 1, high), (0, -1, high)):
            if 0 <= row + down < side and 0 <= column + right < side:
                size = 8 * 5 * edge * (points - 2) + 8 * 10 * edge * points
                made.add(row * side + column, (row + down) * side + column + right, size)
    return made


def nas_mg(sides, points=1024):
    """NPB MG: faces of every level of a V-cycle. On coarse levels only every so-many-th rank has points."""
    made, levels = Traffic(), points.bit_length() - 1
    for level in range(1, levels + 1):
        size = 1 << level
        jump = [max(1, side // size) for side in sides]
        held = [max(1, size // side) for side in sides]
        exchanges = 2 if level < levels else 3
        for rank in range(math.prod(sides)):
            place = place_of(rank, sides)
            if any(at % step for at, step in zip(place, jump)):
                continue
            for axis, sign in itertools.product(range(len(sides)), (-1, 1)):
                face = math.prod(count + 2 for i, count in enumerate(held) if i != axis)
                other = [at + sign * jump[i] * (i == axis) for i, at in enumerate(place)]
                made.add(rank, rank_at(other, sides), 8 * face * exchanges)
    return made


def nas_ft(side, points=2048 * 1024 * 1024):
    """NPB FT on a square of ranks: all-to-all inside every row and column."""
    made, size = Traffic(), points * 16 // (side * side) // side
    for row, column, other in itertools.product(range(side), repeat=3):
        made.add(row * side + column, row * side + other, size)
        made.add(row * side + column, other * side + column, size)
    return made


def random_geometric(ranks, degree=12):
    """Points in a square, joined if they are near: an unstructured mesh, 1 to 64 KiB an edge. A lone point gets its nearest one."""
    random, made = Random(1), Traffic()
    points = [(random.unit(), random.unit()) for _ in range(ranks)]
    radius = math.sqrt(degree / (math.pi * ranks))
    side, cells = int(1 / radius), {}

    def cell_of(point):
        return tuple(min(side - 1, int(at * side)) for at in point)

    def distance(one, other):
        return sum((a - b) ** 2 for a, b in zip(points[one], points[other]))

    for number, point in enumerate(points):
        cells.setdefault(cell_of(point), []).append(number)
    for number, point in enumerate(points):
        x, y = cell_of(point)
        for right, up in itertools.product((-1, 0, 1), repeat=2):
            for other in cells.get((x + right, y + up), ()):
                if other > number and distance(number, other) < radius * radius:
                    size = 1024 * (1 + random.below(64))
                    made.add(number, other, size)
                    made.add(other, number, size)
    joined = {source for source, _ in made}
    for number in set(range(ranks)) - joined:
        nearest = min((other for other in range(ranks) if other != number), key=lambda other, one=number: distance(one, other))
        made.add(number, nearest, 1024)
        made.add(nearest, number, 1024)
    return made


# File, how it is made, the network that it is meant for, and the first digits of its SHA-256.
PATTERNS = {
    "allgather-bruck-64": (lambda: allgather_bruck(64), "torus:4x4x4", "db4127f919fa7883"),
    "allgather-bruck-512": (lambda: allgather_bruck(512), "torus:8x8x8", "b5b414fc10c20e72"),
    "allgather-bruck-4096": (lambda: allgather_bruck(4096), "torus:16x16x16", "abba8dbae9b4442d"),
    "alltoall-bruck-4096": (lambda: alltoall_bruck(4096), "torus:16x16x16", "ae9212ba26136652"),
    "stencil3d-shuffled-4096": (lambda: stencil((16, 16, 16), True), "torus:16x16x16", "cc8f39e59c10dd2f"),
    "stencil2d-64x64": (lambda: stencil((64, 64), False), "torus:16x16x16", "48c517ae93f0ac0c"),
    "random-ring-4096": (lambda: random_ring(4096), "torus:16x16x16", "025003aa6a9c4849"),
    "nas-cg-4096": (lambda: nas_cg(64), "torus:16x16x16", "75043d1397922786"),
    "nas-lu-4096": (lambda: nas_lu(64), "torus:16x16x16", "3d1f957c68942425"),
    "nas-mg-4096": (lambda: nas_mg((16, 16, 16)), "torus:32x16x8", "11884f40a2051442"),
    "nas-ft-4096": (lambda: nas_ft(64), "torus:16x16x16", "4acb9548bd479cd3"),
    "rgg2d-4096": (lambda: random_geometric(4096), "torus:16x16x16", "f469f52d70a4dd92"),
}


def main(folder, *names):
    for name in names or PATTERNS:
        if name not in PATTERNS:
            sys.exit(f"no pattern '{name}'; there are: {' '.join(PATTERNS)}")
        make, network, digest = PATTERNS[name]
        lines = "".join(f"{source} {destination} {size}\n" for (source, destination), size in sorted(make().items()))
        found = hashlib.sha256(lines.encode()).hexdigest()
        if not found.startswith(digest):
            sys.exit(f"{name}: the digest is {found}, not {digest}...")
        (pathlib.Path(folder) / f"{name}.txt").write_text(f"# {name}, for {network}\n{lines}", encoding="utf-8")
        print(f"{name}.txt: {lines.count(chr(10))} pairs, for {network}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
