#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guard itself: a loss fails, a gain does not, in both directions."""
import contextlib
import io
import unittest

import guard

BARS = {"rate": True, "time": False}


class Measured:
    """Stands for the benchmarks."""

    def __init__(self, value, trouble=None):
        self.value, self.trouble = value, trouble

    def bars(self):
        for name, more_is_better in BARS.items():
            yield name, self.value, more_is_better
        if self.trouble:
            raise self.trouble


def rows(measured, record):
    with contextlib.redirect_stdout(io.StringIO()):
        return {row["bar"]: row for row in guard.measure(measured, ["bars"], record)}


class GuardTest(unittest.TestCase):
    def fails(self, value, record):
        return {name for name, row in rows(Measured(value), dict.fromkeys(BARS, record)).items() if row["fails"]}

    def test_loss_of_more_than_a_tenth_fails(self):
        self.assertEqual(self.fails(100, 100), set())
        self.assertEqual(self.fails(91, 100), set())
        self.assertEqual(self.fails(89, 100), {"rate"})
        self.assertEqual(self.fails(109, 100), set())
        self.assertEqual(self.fails(111, 100), {"time"})

    def test_without_record(self):
        self.assertEqual([row["record"] for row in rows(Measured(1), {}).values()], [None, None])

    def test_troubles_are_told(self):
        self.assertTrue(rows(Measured(1, guard.Failed("no")), {})["bars"]["fails"])
        skipped = rows(Measured(1, guard.Skipped("no root")), {})["bars"]
        self.assertEqual((skipped["fails"], skipped["skipped"]), (False, "no root"))


if __name__ == "__main__":
    unittest.main()
