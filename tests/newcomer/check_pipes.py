#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that are given as a pipe give the same results as files. Usage: check_pipes.py WEFT"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from common import expect, run

PROGRAM = """#include <mpi.h>
int main(int argc, char** argv) {
  int rank, got;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ 1, 0, &got, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


class Pipes:
    """Runs weft with files, and with the same texts through pipes of each kind."""

    def __init__(self, weft, folder):
        self.weft, self.folder = weft, pathlib.Path(folder)

    def same(self, file, *words):
        """FILE among the words stands for the file."""
        text = (self.folder / file).read_text()
        plain = self.run(words, str(self.folder / file))
        for kind in ("standard input", "shell", "named pipe"):
            found = self.piped(kind, words, text)
            expect(found.returncode == 0, f"{words} by {kind}: exit code {found.returncode}\n{found.stdout}{found.stderr}")
            expect(self.shown(found) == self.shown(plain), f"{words} by {kind}:\n{self.shown(found)}\nnot\n{self.shown(plain)}")
        return plain

    def shown(self, done):
        """What is printed, without the names of the file and without columns, whose width they change."""
        return "\n".join(" ".join(line.split()) for line in (done.stdout + done.stderr).splitlines() if "/" not in line and line != "pattern: -")

    def run(self, words, path, **more):
        words = [self.weft, *(word.replace("FILE", path) for word in words)]
        done = subprocess.run(words, cwd=self.folder, text=True, capture_output=True, timeout=120, check=False, **more)
        expect(more or done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def piped(self, kind, words, text):
        if kind == "standard input":
            return self.run(words, "-", input=text)
        if kind == "named pipe":
            pipe = self.folder / "pipe"
            os.mkfifo(pipe)
            writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
            writer.start()
            done = self.run(words, str(pipe), stdin=subprocess.DEVNULL)
            writer.join(10)
            pipe.unlink()
            return done
        end, start = os.pipe()  # As <(command) of a shell.
        os.write(start, text.encode())
        os.close(start)
        done = self.run(words, f"/dev/fd/{end}", pass_fds=(end,), stdin=subprocess.DEVNULL)
        os.close(end)
        return done


def main():
    weft = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        pipes = Pipes(weft, folder)
        for name, text in (("pairs.c", PROGRAM), ("map", "".join(f"{rank} {7 * rank % 16}\n" for rank in range(16))),
                           ("machine.toml", 'profile = "nsim"\n[network]\ntopology = "torus:4x4"\n[link]\nrate = "5 GB/s"\n'),
                           ("groups", "".join(f"{rank} {rank // 4}\n" for rank in range(16))), ("traffic", "0 1 1000\n1 2 1000\n"),
                           ("hosts", "".join(f"h{node}\n" for node in range(16)))):
            (pipes.folder / name).write_text(text)
        (pipes.folder / "graph").write_text(run([weft, "net", "torus:4x4", "--export", "graph"]).stdout)
        run([weft, "cc", "pairs.c", "-o", "pairs"], cwd=folder)
        first = pipes.same("map", "sim", "--net", "torus:4x4", "--map", "FILE", "./pairs")
        ordered = pipes.run(["sim", "--net", "torus:4x4", "./pairs"], "")
        expect(pipes.shown(first) != pipes.shown(ordered), "the map changes nothing")
        pipes.same("map", "sim", "--net", "torus:4x4", "--map", "FILE", "--record", "run", "./pairs")
        for file in ("machine.toml", "graph"):
            pipes.same(file, "sim", "--net", "FILE", "--record", "run", "./pairs")
            pipes.same(file, "net", "FILE")
            pipes.same(file, "map", "--net", "FILE", "--program", "./pairs", "--evaluate", "identity", "--simulate")
        pipes.same("groups", "sim", "--net", "torus:4x4", "--connections", "managed,groups=FILE", "./pairs")
        pipes.same("machine.toml", "traffic", "--net", "FILE", "--load", "0.1")
        pipes.same("traffic", "map", "--net", "torus:4x4", "--traffic", "FILE", "--evaluate", "identity")
        pipes.same("map", "map", "--net", "torus:4x4", "--traffic", "traffic", "-n", "16", "--evaluate", "FILE")
        pipes.same("map", "map", "--convert", "FILE", "--format", "slurm", "--hosts", "hosts")
        (pipes.folder / "sweep.json").write_text(pipes.run(["traffic", "--net", "mesh:2x2", "--load", "0.1", "-q", "--json", "/dev/stdout"], "").stdout)
        pipes.same("sweep.json", "report", "FILE", "--format", "text")
        pipes.same("hosts", "map", "--convert", "map", "--format", "slurm", "--hosts", "FILE")


main()
