# SPDX-License-Identifier: Apache-2.0
"""Random trees of switches as network files, for weft probe --net."""
import pathlib
import random


def random_tree(seed, hosts, shuffled=False):
    """Three levels with random fan-outs, and about so many hosts: (routers with their parents and classes, routers of hosts)."""
    luck = random.Random(seed)
    routers, places = [(None, None)], []
    while len(places) < hosts:
        routers.append((0, "top"))
        middle = len(routers) - 1
        for _ in range(luck.randint(2, 10)):
            if len(places) >= hosts:
                break
            routers.append((middle, "leaf"))
            places += [len(routers) - 1] * luck.randint(2, 24)
    if shuffled:
        luck.shuffle(places)
    return routers, places


def write(folder, name, routers, places, rates=("4 GB/s", "2 GB/s"), delay="100 ns"):
    """NAME.toml and NAME.graph; returns the path of the first."""
    folder = pathlib.Path(folder)
    lines = ["weft-graph 1"] + [f"router r{i}" for i in range(len(routers))]
    lines += [f"node h{i} r{place}" for i, place in enumerate(places)]
    lines += [f"link r{i} r{parent} class={kind}" for i, (parent, kind) in enumerate(routers) if parent is not None]
    (folder / f"{name}.graph").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = f'profile = "textbook"\n[network]\ntopology = "graph:{name}.graph"\n[router]\nroute = "40 ns"\nbuffer = "8 KiB"\n[packet]\nmtu = "1024 B"\n'
    text += f'[nic]\ninject_rate = "1 GB/s"\neject_rate = "1 GB/s"\n[link]\ndelay = "{delay}"\n'
    for kind, rate in zip(("top", "leaf"), rates):
        text += f'[link.{kind}]\nrate = "{rate}"\ndelay = "{delay}"\n'
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path
