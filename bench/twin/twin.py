#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The digital twin: how well weft sim, given a description of the test bed, tells what weft run will need there.

  twin.py WEFT [--rails 1,2] [--only pingpong,ring] [--repeat 3] [--json FILE] [--net FOLDER]

Four hosts on one switch for each rail, 100 Mbit/s, shaped in single packets so that short messages are not quicker than the
wire. The same program runs in the bed and in the simulator. Three numbers are taken from the bed, for each number of rails: how
long MPI_Send of 1 KB takes to return, which is what a call costs; the latency, so that a ping-pong of 1 KB fits; and the rate, so
that one of 1 MB does (the ratio of these two rows is 1 for that reason). Everything else is predicted. Needs root and the test bed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/bed"))
import bed  # noqa: E402 pylint: disable=wrong-import-position

NETLAB = str(bed.NETLAB)
LAB, HOSTS, WIRE = "weft-twin", 4, 12.5e6
SMALL, LARGE = 1024, 1 << 20
SIZES = {"pingpong": [1 << k for k in range(10, 23, 2)], "ring": [1 << k for k in range(10, 21, 2)],
         "alltoall": [1 << k for k in range(10, 21, 2)], "halo": [1 << k for k in range(10, 21, 2)]}
LATE = 20  # Seconds: a run that should take one or two is given up.
NET = """# Four hosts of the test bed, {rails} x 100 Mbit/s each.
profile = "textbook"
[network]
topology = "graph:bed{rails}.graph"
[router]
vcs = 1
buffer = "256 KiB"
[link]
rate = "{rate:.0f} B/s"
[nic]
inject_delay = "{latency:.0f} ns"
[packet]
mtu = "1448 B"
header = "66 B"               # Of Ethernet, IP and TCP: 95.6 % is data.
[routing]
policy = "shortest"
[node]
rails = {rails}
envelope = "96 B"             # Of weft run's own records.
call_overhead = "{overhead:.0f} ns"
[messages]
split = "measured"
head_start = "64 KiB"         # As weft run has it.
"""


def lab_text(rails):
    text = f"lab {LAB}\ngso 1500\ndefault rate 100mbit burst 1600 delay 50us\n"
    text += "".join(f"switch s{rail}\n" for rail in range(rails))
    return text + "".join(f"host h[0-{HOSTS - 1}] on s{rail}\n" for rail in range(rails))


def graph_text(rails):
    # One router stands for the switches: a card talks to the card of its own rail.
    ends = "".join(f"node h{host}r{rail} switch\n" for host in range(HOSTS) for rail in range(rails))
    return "weft-graph 1\nrouter switch\n" + ends


class Bed:
    """The hosts, while they stand. What is measured takes the cores before other work on the machine."""

    def __init__(self, arguments, rails, folder):
        self.weft, self.rails, self.folder = arguments.weft, rails, folder

    def __enter__(self):
        (self.folder / "lab").write_text(lab_text(self.rails), encoding="utf-8")
        self.scripts = [self.folder / "rsh", self.folder / "first"]
        self.scripts[0].write_text(f'#!/bin/sh\nexec "{NETLAB}" -l {LAB} rsh "$@"\n', encoding="utf-8")
        self.scripts[1].write_text('#!/bin/sh\necho -18 2>/dev/null > /proc/self/autogroup\nexec "$@"\n', encoding="utf-8")
        for script in self.scripts:
            script.chmod(0o755)
        subprocess.run([NETLAB, "up", str(self.folder / "lab")], check=True, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        subprocess.run([NETLAB, "-l", LAB, "down"], check=False)

    def measure(self, words, repeat):
        rsh, first = (str(script) for script in self.scripts)
        hosts = ",".join(f"h{host}" for host in range(HOSTS))
        argv = [NETLAB, "-l", LAB, "exec", "h0", "setsid", "-w", self.weft, "run", "--timeout", f"{LATE}s", "-n", str(HOSTS), "--hosts", hosts, "--rsh", rsh, first]
        return sorted(number(argv + words) for _ in range(repeat))


class Model:
    """The network file, as far as it is known."""

    def __init__(self, weft, rails, folder):
        self.weft, self.rails, self.folder = weft, rails, folder
        self.rate, self.latency, self.overhead = WIRE, 0.0, 1e-6
        (folder / f"bed{rails}.graph").write_text(graph_text(rails), encoding="utf-8")

    def predict(self, words):
        path = self.folder / f"bed{self.rails}.toml"
        path.write_text(NET.format(rails=self.rails, rate=self.rate, latency=self.latency * 1e9,
                                   overhead=self.overhead * 1e9), encoding="utf-8")
        return number([self.weft, "sim", "--net", str(path), "--payload", "full", "--quiet", *words])

    def calibrate(self, measured, program):
        """Each number changes the other a little, so twice."""
        for _ in range(2):
            large = self.predict([program, "pingpong", str(LARGE), "4"])
            self.rate *= (large - self.latency) / (measured[LARGE] - self.latency)
            small = self.predict([program, "pingpong", str(SMALL), "4"])
            self.latency = max(0.0, self.latency + measured[SMALL] - small)


def number(argv):
    """What the program printed."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120)
    if done.returncode == 124:
        return float("inf")
    if done.returncode != 0:
        sys.exit(f"twin: {' '.join(argv)}\nends with {done.returncode}: {done.stderr.strip()}")
    return float(done.stdout.split()[-1])


def words_of(model, program, name, size):
    """With as many rounds as take a second or so."""
    once = model.predict([program, name, str(size), "2"])
    return [program, name, str(size), str(max(4, min(2000, int(1 / once))))]


def compare(arguments, rails, program, folder):
    model = Model(arguments.weft, rails, folder)
    with Bed(arguments, rails, folder) as lab:
        measured = {size: statistics.median(lab.measure(words_of(model, program, "pingpong", size), arguments.repeat)) for size in (SMALL, LARGE)}
        model.overhead = statistics.median(lab.measure([program, "call", str(SMALL), "2000"], arguments.repeat))
        model.calibrate(measured, program)
        print(f"{rails} rail{'s' * (rails > 1)}: a call {model.overhead * 1e6:.1f} us, latency {model.latency * 1e6:.1f} us, rate {model.rate / 1e6:.2f} MB/s each")
        for name, sizes in SIZES.items():
            if arguments.only and name not in arguments.only.split(","):
                continue
            for size in sizes:
                words = words_of(model, program, name, size)
                runs = lab.measure(words, arguments.repeat)
                yield {"rails": rails, "program": name, "bytes": size, "measured_s": statistics.median(runs), "runs_s": runs,
                       "predicted_s": model.predict(words), "calibration": name == "pingpong" and size in measured}


def show(row):
    ratio = row["predicted_s"] / row["measured_s"]
    mark = "calibration" if row["calibration"] else "" if abs(ratio - 1) <= 0.2 else "off"
    low, high = (1e3 * row["runs_s"][place] for place in (0, -1))  # "inf": given up.
    print(f"{row['program']:9} {row['bytes']:8} {1e3 * row['measured_s']:10.3f} {low:10.3f} {high:10.3f} {1e3 * row['predicted_s']:10.3f} "
          f"{ratio:6.2f} {mark}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--rails", default="1,2")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", default="")
    parser.add_argument("--net", default="", help="leave the network files here")
    arguments = parser.parse_args()
    arguments.weft = os.path.abspath(arguments.weft)
    if bed.missing(delays=True):
        sys.exit(f"twin: {bed.missing(delays=True)}")
    rows = []
    with tempfile.TemporaryDirectory(prefix="weft-twin-") as name:
        folder = pathlib.Path(arguments.net or name).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        program = str(pathlib.Path(name) / "patterns")
        subprocess.run([arguments.weft, "cc", "-O2", str(HERE / "patterns.c"), "-o", program], check=True)
        print(f"{'program':9} {'bytes':>8} {'run, ms':>10} {'least':>10} {'most':>10} {'sim, ms':>10} {'ratio':>6}", flush=True)
        for rails in (int(word) for word in arguments.rails.split(",")):
            for row in compare(arguments, rails, program, folder):
                rows.append(row)
                show(row)
    if arguments.json:
        for row in rows:  # JSON knows no infinity.
            row["gave_up"] = sum(run == float("inf") for run in row["runs_s"])
            row["runs_s"] = [run for run in row["runs_s"] if run < float("inf")]
        text = json.dumps(rows, indent=1).replace("Infinity", "null")
        pathlib.Path(arguments.json).write_text(text + "\n", encoding="utf-8")
    predicted = [row for row in rows if not row["calibration"]]
    good = sum(abs(row["predicted_s"] / row["measured_s"] - 1) <= 0.2 for row in predicted)
    print(f"{good} of {len(predicted)} predictions within 20 %")


if __name__ == "__main__":
    main()
