#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/skip.py and tests/ctest_with_reasons.py: what ctest is told, and what the reader of its summary."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import ctest_with_reasons  # noqa: E402 pylint: disable=wrong-import-position
import skip  # noqa: E402 pylint: disable=wrong-import-position

HEAD = f"""import sys, unittest
sys.path.insert(0, {str(TESTS)!r})
import skip
class Case(unittest.TestCase):
    def test_nothing(self): pass
class Root(Case):
    def setUp(self): self.skipTest("hosts need root")
@unittest.skip("no Slurm here")
class Slurm(Case): pass
class Late(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("built without PMIx")
    def test_something(self): self.fail("it ran")
class Wrong(unittest.TestCase):
    def test_something(self): self.assertEqual(1, 2)
class Empty(unittest.TestCase): pass
skip.run_unittests(["test", *sys.argv[1:]])
"""
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(skips NONE)
include(CTest)
set(WEFT_SANITIZE "")
include({cmake}/WeftSkip.cmake)
weft_skipped("no libfabric (Debian: libfabric-dev)" absent also_absent)
weft_check(NAME lacking COMMAND false LACKS "no gfortran")
set(nothing "")
weft_check(NAME script COMMAND sh -c "echo begun; echo 'skipped: needs root'; exit 77" LACKS ${{nothing}} PROPERTIES TIMEOUT 60)
weft_check(NAME fine COMMAND true)
weft_check(NAME wrong COMMAND sh -c "echo 'skipped: not really'; exit 1")
add_test(NAME google COMMAND printf "%s\\n" "[ RUN      ] A.b" "/x/a_test.cpp:12: Skipped" "built without HDF5" "" "[  SKIPPED ] A.b (0 ms)")
set_tests_properties(google PROPERTIES SKIP_REGULAR_EXPRESSION "\\\\[  SKIPPED \\\\]")
"""


class Unittests(unittest.TestCase):
    def ends(self, classes, code, *reasons):
        done = subprocess.run([sys.executable, "-B", "-c", HEAD, *classes], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("skipped: ")], [f"skipped: {reason}" for reason in reasons])

    def test_codes(self):
        self.ends(["Case"], 0)
        self.ends(["Root"], skip.CODE, "hosts need root")
        self.ends(["Slurm"], skip.CODE, "no Slurm here")
        self.ends(["Late"], skip.CODE, "built without PMIx")
        self.ends(["Wrong"], 1)

    def test_one_skipped_case_is_not_hidden_by_others(self):
        self.ends(["Case", "Root", "Slurm"], skip.CODE, "hosts need root", "no Slurm here")

    def test_a_failure_is_not_hidden_by_a_skipped_case(self):
        self.ends(["Wrong", "Root"], 1, "hosts need root")

    def test_nothing_is_no_success(self):
        self.ends(["Empty"], 1)


class Summary(unittest.TestCase):
    def test_has_the_reasons(self):
        with tempfile.TemporaryDirectory(prefix="weft-test-") as folder:
            (pathlib.Path(folder) / "CMakeLists.txt").write_text(PROJECT.format(cmake=TESTS.parent / "cmake"), encoding="utf-8")
            subprocess.run(["cmake", "-S", folder, "-B", f"{folder}/b"], check=True, capture_output=True)
            done = subprocess.run([sys.executable, "-B", TESTS / "ctest_with_reasons.py", f"{folder}/b"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        told = [line.split(" - ", 1)[1] for line in done.stdout.partition("did not run:")[2].splitlines() if " - " in line]
        self.assertEqual(told, ["absent (Skipped): no libfabric (Debian: libfabric-dev)", "also_absent (Skipped): no libfabric (Debian: libfabric-dev)",
                                "lacking (Skipped): no gfortran", "script (Skipped): needs root", "google (Skipped): built without HDF5",
                                "wrong (Failed)"], done.stdout)

    def test_reasons_stand_in_the_log(self):
        log = "1/2 Testing: a b\n1/2 Test: a b\nOutput:\nskipped: x\nskipped: y\nskipped: x\n<end of output>\n2/2 Testing: c\n2/2 Test: c\nOutput:\nfine\n"
        self.assertEqual(ctest_with_reasons.reasons_in(log), {"a b": "x; y"})


if __name__ == "__main__":
    unittest.main()
