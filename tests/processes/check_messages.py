#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages (messages.c) that are cancelled or whose memory does not bear them: nobody waits for ever.

Usage: check_messages.py WEFT PROBE LIBRARY_FOLDER [NAME=MPIRUN...]
"""
import pathlib
import subprocess
import tempfile
import unittest

from check_run_support import WEFT, main, run

HERE = pathlib.Path(__file__).resolve().parent
UNWRITABLE = "(it cannot receive a message, its memory|its message cannot be received, memory) at 0x[0-9a-f]+ is not writable"


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.program = pathlib.Path(cls.scratch.name, "messages")
        subprocess.run([WEFT, "cc", "-O1", HERE / "messages.c", "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_cancelling_is_local(self):
        for words in (["run"], ["run", "--no-shared-memory", "--rails", "lo"], ["run", "--no-shared-memory", "--rails", "lo", "--message", "head_start=0 B"],
                      ["sim", "-q", "--net", "torus:4"], ["sim", "-q", "--net", "torus:2", "--ranks-per-node", "2", "--payload", "full"]):
            with self.subTest(words=words):
                done = run([WEFT, words[0], "-n", "2", *words[1:], self.program, "cancel"])
                self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)

    def test_a_receive_buffer_that_cannot_be_written_to(self):
        done = run([WEFT, "run", "-n", "2", self.program, "unwritable"])
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, UNWRITABLE)
        done = run([WEFT, "run", "-n", "2", self.program, "unwritable", "return"])
        self.assertEqual(sorted(done.stdout.splitlines()), ["rank 0: an error", "rank 1: an error"], done.stderr)

    def test_a_send_buffer_that_cannot_be_read(self):
        done = run([WEFT, "run", "-n", "2", self.program, "unreadable"])
        self.assertIn("rank 0 on host", done.stderr)
        self.assertIn("was ended by signal 11", done.stderr)


if __name__ == "__main__":
    main("check_messages")
