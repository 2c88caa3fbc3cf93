#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Somebody sits between two hosts, relays the handshake of their ranks, and then changes what they send. The job ends with one clear error, or goes on
over another connection; it never computes with anything wrong.

Usage: check_tampering.py WEFT [--seed N] [flip] [length] [repeat] [swap] [omit] [reflect] [swallow] [cut] [again] [rails] [off]

The one in the middle has the addresses of both hosts, each in a host of his own, and the tables of neighbours of the two hosts lead to him, as after
ARP spoofing. He ends their connections himself: kernels hear from him what has arrived.
"""
import argparse
import contextlib
import ctypes
import os
import pathlib
import random
import re
import socket
import struct
import sys
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "bed")]
import bed  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

LAB = "switch s\n" + "".join(f"host {host} on s rate 400mbit\n" for host in "abmn")
SECOND_RAIL = "switch t\nhost a on t rate 400mbit\nhost b on t rate 400mbit\n"
SECONDS = 3
ANSWER, CHALLENGE, VERDICT = 96, 32, 40  # Bytes of the handshake, see handshake.hpp,
HEAD, TAG = 12, 16  # and of a chunk, see protection.hpp.
CLONE_NEWNET = 0x40000000
REPORT = re.compile(r"rank ([01]): rank (?!\1)[01] is lost")
CHANGED = "was changed or lost on the way"
OPTIONS = None


def network_of(host):
    """A descriptor of the host's network namespace."""
    return os.open(f"/proc/{host}/ns/net", os.O_RDONLY)


def make_socket(network):
    """A socket in that network, whoever uses it. Namespaces belong to threads."""
    made = []

    def make():
        if ctypes.CDLL(None, use_errno=True).setns(network, CLONE_NEWNET) == 0:
            made.append(socket.socket())
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


def doors(pid):
    """Addresses where a process listens, in its own network."""
    links = []
    with contextlib.suppress(OSError):
        links = [os.readlink(entry) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
    found = []
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in links:
            address, port = words[1].split(":")
            found.append((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


class Way:
    """One direction of a connection that goes through the middle."""

    def __init__(self, source, target, plain):
        self.source, self.target, self.plain = source, target, plain
        self.lock = threading.Lock()  # Chunks for the target go one by one.
        self.back = None  # The other direction.
        self.count = 0

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.source.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def chunk(self):
        if self.plain:
            data = self.source.recv(65536)
            if not data:
                raise EOFError
            return data
        head = self.read(HEAD)
        return head + self.read(struct.unpack("<I", head[:4])[0] + TAG)

    def send(self, data):
        with self.lock:
            self.target.sendall(data)


class Middle:
    """Relays what is sent to `doors`, and does something to it as soon as `after` bytes have gone one way of a connection."""

    def __init__(self, manner, luck, plain=False):
        self.manner, self.luck, self.plain = manner, luck, plain
        self.after = luck.randrange(1, 3_000_000)
        self.done, self.lock, self.sockets, self.calls = 0, threading.Lock(), [], 0

    def listen(self, network, door, onward, source):
        """Takes calls for `door` in one network, and makes them in another, from the address of the caller."""
        listener = make_socket(network)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(door)
        listener.listen()
        self.sockets.append(listener)
        threading.Thread(target=self.accept, args=(listener, onward, door, source), daemon=True).start()

    def accept(self, listener, onward, door, source):
        with contextlib.suppress(OSError):
            while True:
                caller, _ = listener.accept()
                called = make_socket(onward)
                called.bind((source, 0))
                self.sockets += [caller, called]
                self.calls += 1
                threading.Thread(target=self.relay, args=(caller, called, door, onward, source), daemon=True).start()

    def relay(self, caller, called, door, onward, source):
        forth, back = Way(caller, called, self.plain), Way(called, caller, self.plain)
        forth.back, back.back = back, forth
        said = []
        try:
            called.connect(door)
            for way, size in (back, CHALLENGE), (forth, ANSWER), (back, VERDICT):
                said.append(way.read(size))
                way.send(said[-1])
        except (OSError, EOFError):
            return self.close(forth)
        if self.manner == "again":
            self.call_again(door, onward, source, said[1], forth)
        for way in (forth, back):
            threading.Thread(target=self.pump, args=(way,), daemon=True).start()
        return None

    def call_again(self, door, onward, source, answer, forth):
        """The same caller once more, as it sounded before."""
        chunk = forth.chunk()
        forth.send(chunk)
        with contextlib.suppress(OSError), make_socket(onward) as one:
            one.bind((source, 0))
            one.connect(door)
            one.sendall(answer + chunk)
            self.done += 1

    @staticmethod
    def close(way):
        for one in (way.source, way.target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def pump(self, way):
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                chunk = way.chunk()
                way.count += len(chunk)
                with self.lock:
                    turn = self.is_turn(way)
                    self.done += turn
                if turn:
                    getattr(self, self.manner)(way, chunk)
                else:
                    way.send(chunk)
        self.close(way)

    def is_turn(self, way):
        if self.manner == "cut":
            return self.done < 5 and way.count > 1_000_000
        return self.done < 1 and way.count > self.after and self.manner != "again"

    # What is done with a chunk.
    def flip(self, way, chunk):
        at = self.luck.randrange(len(chunk) * 8)
        changed = bytearray(chunk)
        changed[at // 8] ^= 1 << at % 8
        way.send(bytes(changed))

    def length(self, way, chunk):
        """Then the next chunk would be read as a part of this one; at the end of a message nothing follows."""
        size, = struct.unpack("<I", chunk[:4])
        way.send(struct.pack("<I", 16384 if size < 16384 else 100) + chunk[4:])

    def repeat(self, way, chunk):
        way.send(chunk + chunk)

    def swap(self, way, chunk):
        following = way.chunk()
        way.send(following + chunk)

    def omit(self, way, chunk):
        """The next one comes."""

    def reflect(self, way, chunk):
        way.send(chunk)
        way.back.send(chunk)

    def swallow(self, way, _):
        """His kernel acknowledges all that comes, and he throws it away."""
        way.source.settimeout(0.3)
        end = time.monotonic() + 1
        with contextlib.suppress(TimeoutError):
            while time.monotonic() < end:
                way.chunk()

    def cut(self, way, chunk):
        """Only the connection is gone, with what is on its way through the middle."""
        way.send(chunk)
        raise EOFError

    def end(self):
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


class Tampering(unittest.TestCase):
    def setUp(self):
        if bed.missing():
            self.skipTest(bed.missing())
        self.seed = OPTIONS.seed if OPTIONS.seed is not None else int.from_bytes(os.urandom(4), "big")

    def enter(self, context):
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def ask(self, host, *words):
        return self.lab.netlab("exec", host, *words).stdout.decode().strip()

    def build(self, rails):
        """The hosts, with the one in the middle in m (towards a) and n (towards b)."""
        self.lab = self.enter(bed.Lab(LAB + (SECOND_RAIL if rails > 1 else ""), ["a", "b"]))
        self.made = bed.build(OPTIONS.weft, HERE / "both_ways.c", self.lab.folder.name)
        self.address = {host: re.search(r"inet (\S+)/", self.ask(host, "ip", "-4", "addr", "show", "eth0"))[1] for host in "ab"}
        card = {host: self.ask(host, "cat", "/sys/class/net/eth0/address") for host in "abmn"}
        for middle, played in ("m", "b"), ("n", "a"):
            self.ask(middle, "ip", "addr", "add", f"{self.address[played]}/32", "dev", "eth0")
        for host, other, to in ("a", "b", "m"), ("b", "a", "n"), ("m", "a", "a"), ("n", "b", "b"):
            self.ask(host, "ip", "neigh", "replace", self.address[other], "lladdr", card[to], "dev", "eth0", "nud", "permanent")
        self.network = {}
        for host in "mn":
            pid = pathlib.Path(f"/run/netlab/{self.lab.name}/pid/{host}").read_text(encoding="ascii").split()[0]
            self.network[host] = network_of(pid)
            self.addCleanup(os.close, self.network[host])

    def go_between(self, job, middle):
        """Opens the doors of both ranks in the middle, as soon as they listen."""
        found = {}

        def look():
            for pid in job.ranks():
                with contextlib.suppress(OSError):
                    found.update({door[0]: door for door in doors(pid)})
            return all(self.address[host] in found for host in "ab") or job.process.poll() is not None
        self.assertTrue(bed.wait_until(look, 20), "nobody listens: " + job.text())
        self.assertIsNone(job.process.poll(), job.text())
        for host, network, onward, caller in ("b", "m", "n", "a"), ("a", "n", "m", "b"):
            middle.listen(self.network[network], found[self.address[host]], self.network[onward], self.address[caller])

    def run_job(self, manner, rails=1, protect="on"):
        self.build(rails)
        middle = Middle(manner, random.Random(self.seed), protect == "off")
        self.addCleanup(middle.end)
        words = self.lab.words(OPTIONS.weft, 2, "--lost-after", "6s", "--timeout", "20s", "--protect", protect, self.made, SECONDS)
        job = self.enter(bed.Job(words, self.made))
        self.go_between(job, middle)
        begin = time.monotonic()
        bed.wait_until(lambda: job.process.poll() is not None, 60)
        text = f"seed {self.seed}, after {middle.after} bytes, {middle.calls} connections, {time.monotonic() - begin:.1f} s:\n{job.text()}"
        print(f"{manner}: {text}", flush=True)
        self.assertIsNotNone(job.process.poll(), text)
        self.assertGreater(middle.calls, 0, "nothing came by\n" + text)
        self.assertGreater(middle.done, 0, "nothing was done\n" + text)
        return job.process.returncode, text

    def expect_error(self, manner, rails=1):
        code, text = self.run_job(manner, rails)
        self.assertNotIn(code, (0, 124), text)
        self.assertNotRegex(text, r"wrong [1-9]")
        self.assertIn(CHANGED, text)
        self.assertRegex(text, REPORT)

    def expect_answer(self, manner):
        code, text = self.run_job(manner)
        self.assertEqual((code, len(re.findall(r"wrong 0\n", text))), (0, 2), text)

    def test_flip(self):
        self.expect_error("flip")

    def test_length(self):
        self.expect_error("length")

    def test_repeat(self):
        self.expect_error("repeat")

    def test_swap(self):
        self.expect_error("swap")

    def test_omit(self):
        self.expect_error("omit")

    def test_reflect(self):
        self.expect_error("reflect")

    def test_swallow(self):
        self.expect_error("swallow")

    def test_rails(self):
        """A second rail that nobody is on does not help against what is lost."""
        for manner in ("flip", "swallow"):
            with self.subTest(manner):
                self.expect_error(manner, rails=2)
                self.doCleanups()

    def test_cut(self):
        """Goes on over the next connection, unless something was lost of which he had said that it has arrived."""
        code, text = self.run_job("cut")
        self.assertNotRegex(text, r"wrong [1-9]")
        if code != 0:
            self.assertIn(CHANGED, text)

    def test_again(self):
        self.expect_answer("again")

    def test_off(self):
        """Without protection the same changes go through: he does sit in the middle."""
        code, text = self.run_job("flip", protect="off")
        self.assertNotEqual(code, 0, text)
        self.assertNotIn(CHANGED, text)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--seed", type=int)
    parser.add_argument("tests", nargs="*")
    OPTIONS = parser.parse_intermixed_args()
    OPTIONS.weft = os.path.abspath(OPTIONS.weft)
    names = OPTIONS.tests or [name.removeprefix("test_") for name in dir(Tampering) if name.startswith("test_")]
    skip.run_unittests(["check_tampering", *(f"Tampering.test_{name}" for name in names)])


if __name__ == "__main__":
    sys.exit(main())
