#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths with blanks, quotes and worse on other hosts, whether the launcher there has a shell (ssh) or none (srun); and who may trace a rank.

Usage: check_quoting.py WEFT PROBE LIBRARY_FOLDER [CLASS...]
"""
import pathlib
import shlex
import subprocess
import tempfile
import unittest

from check_run_support import WEFT, main, probe, run

NAMES = ["plain", "with blank", " at the ends ", "it's", 'say "x"', "$HOME", "`id`", "a\\b", "two\nlines", "*", "a;b&c", "\u00e4"]
LAUNCHERS = {
    "ssh": '#!/bin/sh\nshift\nexec sh -c "$*"\n',
    "srun": '#!/bin/sh\nwhile :; do case $1 in -*) shift;; *) break;; esac; done\nexec "$@"\n',
    "docker": '#!/bin/sh\nshift 3\nexec "$@"\n',
}
SPY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
int prctl(int option, ...) {
  unsigned long words[4];
  va_list list;
  va_start(list, option);
  for (int i = 0; i < 4; ++i) words[i] = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_PTRACER) {
    FILE* file = fopen(getenv("SPY"), "a");
    fprintf(file, "%ld\n", (long)words[0]);
    fclose(file);
  }
  int (*next)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
  return next(option, words[0], words[1], words[2], words[3]);
}
"""
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  static char data[1 << 20];
  int rank;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(data, sizeof data, MPI_BYTE, 0, MPI_COMM_WORLD);
  printf("parent %d\n", (int)getppid());
  return MPI_Finalize();
}
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)


class Quoting(Case):
    def launcher(self, name, folder):
        script = folder / name
        script.write_text(LAUNCHERS[name], encoding="utf-8")
        script.chmod(0o755)
        options = {"ssh": "", "srun": " --nodelist=%h", "docker": " exec -i %h"}[name]
        return shlex.quote(str(script)) + options

    def test_paths(self):
        for name in NAMES:
            folder = self.place / name
            folder.mkdir()
            weft = folder / "weft"
            weft.symlink_to(WEFT)
            for launcher in LAUNCHERS:
                with self.subTest(name, launcher=launcher):
                    done = run([WEFT, "run", "-n", "2", "--hosts", "h0,h1", "--rsh", self.launcher(launcher, folder), "--remote-weft", weft,
                                *probe("sit", "exchange", "who", "leave")], cwd=folder)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(sorted(done.stdout.splitlines()), ["rank 0 of 2", "rank 1 of 2"])

    def test_open_quote(self):
        done = run([WEFT, "run", "--hosts", "h0", "--rsh", "'ssh", "true"])
        self.assertEqual((done.returncode, done.stderr), (2, "weft: error: --rsh: a quote (') is not closed\n"))


class Tracing(Case):
    """A rank may be traced by other ranks of its host, if they copy from its memory, and by nobody else."""

    def test_is_allowed_where_it_is_needed(self):
        for name, text in (("spy", SPY), ("program", PROGRAM)):
            (self.place / f"{name}.c").write_text(text, encoding="utf-8")
        spy, program = self.place / "spy.so", self.place / "program"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", spy, self.place / "spy.c", "-ldl"], check=True)
        subprocess.run([WEFT, "cc", "-o", program, self.place / "program.c"], check=True)
        for options, calls in (([], 2), (["--no-single-copy"], 0), (["--no-shared-memory"], 0)):
            with self.subTest(options):
                log = self.place / "log"
                log.write_text("", encoding="ascii")
                done = run([WEFT, "run", "-n", "2", *options, "-x", f"LD_PRELOAD={spy}", "-x", f"SPY={log}", program])
                self.assertEqual(done.returncode, 0, done.stderr)
                parents = sorted(line.split()[1] for line in done.stdout.splitlines())
                self.assertEqual(sorted(log.read_text(encoding="ascii").split()), parents[:calls])
        log.write_text("", encoding="ascii")
        done = run([WEFT, "run", "-n", "1", "-x", f"LD_PRELOAD={spy}", "-x", f"SPY={log}", program])
        self.assertEqual((done.returncode, log.read_text(encoding="ascii")), (0, ""))


if __name__ == "__main__":
    main("check_quoting")
