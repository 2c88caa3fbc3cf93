#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several rails between two hosts of the test bed: what weft run gets of them, beside the MPI libraries that are installed.

  rails.py WEFT [--only CASE,...] [--peers plain,openmpi,mptcp,ucx,mpich] [--seconds S] [--json FILE]

"plain" is weft run --protect off; all peers send plain bytes. Prints a table: percent of the summed rate of the wires (TCP carries 95.6 % at most), and for rails that slow down or break
the rate that is left and the longest pause. Needs root.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/bed"))
import bed  # noqa: E402 pylint: disable=wrong-import-position

NETLAB = str(bed.NETLAB)


class Case:
    def __init__(self, name, rates, program, arguments, event=None, wires=None):
        self.name, self.rates, self.program, self.arguments, self.event = name, rates, program, arguments, event
        self.wires = wires if wires is not None else sum(rates)  # Mbit/s that count as 100 percent.

    def lab(self):
        return "lab weft-rails\n" + "".join(f"link a b rate {rate}mbit\n" for rate in self.rates)


def cases(seconds):
    large, single = ["1048576", "16", seconds], ["65536", "1", seconds]
    stream = ["4194304", "6", "2"]
    return [
        Case("1x1000 1 MB", [1000], "rates", large),
        Case("2x1000 1 MB", [1000] * 2, "rates", large),
        Case("4x1000 1 MB", [1000] * 4, "rates", large),
        Case("4x1000 8 MB", [1000] * 4, "rates", ["8388608", "16", seconds]),
        Case("1x250 64 KB single", [250], "rates", single),
        Case("2x250 64 KB single", [250] * 2, "rates", single),
        Case("4x250 64 KB single", [250] * 4, "rates", single),
        Case("1000+250 1 MB", [1000, 250], "rates", large),
        Case("1000+250 4 MB single", [1000, 250], "rates", ["4194304", "1", seconds]),
        Case("2x1000, one to a tenth", [1000] * 2, "stream", stream, "rate a:eth1 100mbit", 1100),
        Case("2x1000, one cut", [1000] * 2, "stream", stream, "cut a:eth1", 1000),
        Case("2x1000, one unplugged", [1000] * 2, "stream", stream, "unplug a:eth1", 1000),
        Case("2x1000, one down", [1000] * 2, "stream", stream, "ifdown a:eth1", 1000),
    ]


class Bed:
    """Two hosts, while it stands. What is measured takes the cores before other work on the machine."""

    def __init__(self, text, folder):
        self.file = folder / "rails.lab"
        self.file.write_text(text)

    def __enter__(self):
        subprocess.run([NETLAB, "up", str(self.file)], check=True, stdout=subprocess.DEVNULL)
        bed.wait_until(lambda: all("0" not in self.ask(host, "sh", "-c", "cat /sys/class/net/eth*/carrier") for host in "ab"), 10)
        return self

    def __exit__(self, *_):
        subprocess.run([NETLAB, "-l", "weft-rails", "down"], check=False)

    def ask(self, host, *words):
        return subprocess.run([NETLAB, "-l", "weft-rails", "exec", host, *words], check=True, capture_output=True, text=True).stdout

    def run(self, command, event, limit):
        argv = [NETLAB, "-l", "weft-rails", "exec", "a", "setsid", "-w", *command]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            if event:
                while process.stdout.readline().strip() not in ("begin", ""):
                    pass
                time.sleep(2)
                subprocess.run([NETLAB, "-l", "weft-rails", *event.split()], check=False)
            try:
                out, err = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return None, "hangs"
        return (out, "") if process.returncode == 0 else (None, (err or out).strip().splitlines()[-1:] or ["fails"])


class Maker:
    def __init__(self, name, compiler, launch, prepare=None):
        self.name, self.compiler, self.launch, self.prepare = name, compiler, launch, prepare

    def build(self, program, folder):
        made = folder / f"{program}-{self.name}"
        if not made.exists():
            subprocess.run([*self.compiler, "-O2", "-w", str(HERE / f"{program}.c"), "-o", str(made)], check=True)
        return made


def tell_mptcp(lab):
    """Every host says which other addresses it has; whoever called it then calls these, too."""
    for host in ("a", "b"):
        lab.ask(host, "ip", "mptcp", "limits", "set", "subflows", "8", "add_addr_accepted", "8")
        for line in lab.ask(host, "ip", "-o", "-4", "addr", "show", "scope", "global").splitlines():
            _, device, _, address, *_ = line.split()
            if device != "eth0":
                lab.ask(host, "ip", "mptcp", "endpoint", "add", address.split("/")[0], "dev", device, "signal")


def makers(arguments, folder):
    rsh = folder / "rsh"
    rsh.write_text(f'#!/bin/sh\nexec "{NETLAB}" -l weft-rails rsh "$@"\n')
    first = folder / "first"
    first.write_text('#!/bin/sh\necho -18 2>/dev/null > /proc/self/autogroup\nexec "$@"\n')
    for script in (rsh, first):
        script.chmod(0o755)
    weft = pathlib.Path(arguments.weft).resolve()
    wanted = arguments.peers.split(",")
    run = [str(weft), "run", "-n", "2", "--hosts", "a,b", "--rsh", str(rsh), "--protect"]
    yield Maker("weft", [str(weft), "cc"], lambda made, rails, words: [*run, "on", str(first), str(made), *words])
    if "plain" in wanted:
        yield Maker("plain", [str(weft), "cc"], lambda made, rails, words: [*run, "off", str(first), str(made), *words])

    def eth(rails):
        return ",".join(f"eth{i}" for i in range(rails))
    openmpi = ["mpirun.openmpi", "--mca", "plm_rsh_agent", str(rsh), "-np", "2", "-host", "a,b", "--bind-to", "none"]
    if shutil.which("mpicc.openmpi") and "openmpi" in wanted:
        yield Maker("openmpi", ["mpicc.openmpi"], lambda made, rails, words: [
            *openmpi, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", eth(rails), str(first), str(made), *words])
    # The kernel's own trunking: one connection over the first card, which finds the others.
    wrapper = sorted(pathlib.Path("/usr/lib").glob("*/mptcpize/libmptcpwrap.so.0"))
    if shutil.which("mpicc.openmpi") and wrapper and "mptcp" in wanted:
        yield Maker("mptcp", ["mpicc.openmpi"], lambda made, rails, words: [
            *openmpi, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0", "-x", f"LD_PRELOAD={wrapper[0]}", str(first),
            str(made), *words], tell_mptcp)
    if shutil.which("mpicc.openmpi") and "ucx" in wanted:
        yield Maker("ucx", ["mpicc.openmpi"], lambda made, rails, words: [
            *openmpi, "--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any",
            "-x", "UCX_TLS=tcp,self", "-x", f"UCX_NET_DEVICES={eth(rails)}", "-x", f"UCX_MAX_RNDV_RAILS={rails}",
            "-x", f"UCX_MAX_EAGER_RAILS={rails}", str(first), str(made), *words])
    if shutil.which("mpicc.mpich") and "mpich" in wanted:
        yield Maker("mpich", ["mpicc.mpich"], lambda made, rails, words: [
            "mpiexec.mpich", "-launcher", "rsh", "-launcher-exec", str(rsh), "-n", "2", "-hosts", "a,b", "-genv", "UCX_TLS", "tcp,self",
            "-genv", "UCX_NET_DEVICES", eth(rails), "-genv", "UCX_MAX_RNDV_RAILS", str(rails), str(first), str(made), *words])


def measure(case, maker, arguments, folder):
    made = maker.build(case.program, folder)
    with Bed(case.lab(), folder) as lab:
        if maker.prepare:
            maker.prepare(lab)
        out, trouble = lab.run(maker.launch(made, len(case.rates), case.arguments), case.event, arguments.limit)
    result = {"case": case.name, "library": maker.name}
    if out is None:
        return {**result, "trouble": trouble if isinstance(trouble, str) else trouble[0]}
    wires = case.wires * 1e6 / 8
    numbers = [float(word) for word in out.split()[-4:]] if case.program == "stream" else [float(out.split()[-1])]
    if case.program == "rates":
        return {**result, "bytes_per_s": numbers[0], "percent": 100 * numbers[0] / wires}
    before, after, pause, wrong = numbers
    return {**result, "before_bytes_per_s": before, "after_bytes_per_s": after, "percent": 100 * after / wires,
            "pause_s": pause, "wrong_words": int(wrong)}


def cell(result):
    if "trouble" in result:
        return "hangs" if result["trouble"] == "hangs" else "fails"
    text = f"{result['percent']:.1f} %"
    if "pause_s" in result:
        text += f", {result['pause_s']:.2f} s" + (f", {result['wrong_words']} WRONG" if result["wrong_words"] else "")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--only", default="", help="cases whose names contain one of these")
    parser.add_argument("--peers", default="plain,openmpi,mptcp,ucx,mpich")
    parser.add_argument("--seconds", default="2")
    parser.add_argument("--limit", type=float, default=40)
    parser.add_argument("--json", default="")
    arguments = parser.parse_args()
    if bed.missing():
        sys.exit(f"rails: {bed.missing()}")
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    results = []
    with tempfile.TemporaryDirectory(prefix="weft-rails-") as name:
        folder = pathlib.Path(name)
        libraries = list(makers(arguments, folder))
        print(f"{'percent of the wires':26}" + "".join(f"{maker.name:>18}" for maker in libraries), flush=True)
        for case in cases(arguments.seconds):
            if arguments.only and not any(word in case.name for word in arguments.only.split(",")):
                continue
            print(f"{case.name:26}", end="", flush=True)
            for maker in libraries:
                results.append(measure(case, maker, arguments, folder))
                print(f"{cell(results[-1]):>18}", end="", flush=True)
            print(flush=True)
    text = json.dumps(results, indent=1) + "\n"
    if arguments.json:
        pathlib.Path(arguments.json).write_text(text)


if __name__ == "__main__":
    main()
