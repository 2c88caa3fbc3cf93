#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The standard ABI: mpi.h and the library against the standard's tables, programs made elsewhere with weft's library, and programs of
weft cc with another library.

Usage: check_abi.py WEFT NM [TESTS...]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import skip  # noqa: E402 pylint: disable=wrong-import-position

WEFT = pathlib.Path(sys.argv[1]).absolute()
NM = sys.argv[2]
CC = shutil.which("gcc") or shutil.which("cc")


def text_of(command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def lines_of(name):
    return [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def functions():
    for line in lines_of("functions.txt"):
        family, colon, kinds = line.partition(":")
        yield from (family.split() if not colon else [family, *(f"{family}_{kind}" for kind in kinds.split())])


def constants():
    """(type, name, value)."""
    kind = None
    for line in lines_of("constants.txt"):
        words = line.split()
        if len(words) == 1:
            kind = line
        else:
            yield kind, words[0], int(words[1], 0)


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="weft-abi-")
        cls.folder = pathlib.Path(cls.held.name)
        cls.library = pathlib.Path(text_of([WEFT, "cc", "-showme:libdirs"]).split()[0]) / "libmpi_abi.so"
        cls.include = text_of([WEFT, "cc", "-showme:incdirs"]).split()[0]

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def said(self, *command, **environment):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, **environment})
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{command}: {done.stdout}")
        return done.stdout


class Tables(Folder):
    def test_constants(self):
        """Each has the standard's value, and a handle or address the type, in C and C++."""
        table = list(constants())
        self.assertGreater(len(table), 350)
        rows = [f"  is({name}, {value}, {1 if kind == 'number' else f'TYPE({name}, {kind})'}, \"{name}\");" for kind, name, value in table]
        source = """#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#ifdef __cplusplus
#include <type_traits>
#define TYPE(name, type) (std::is_same<decltype(name), type>::value)
#else
#define TYPE(name, type) _Generic((name), type: 1, default: 0)
#endif
static int wrong = 0;
static void look(int64_t value, int64_t wanted, int type, const char* name) {
  if (value != wanted || !type) printf("%s is %lld%s\\n", name, (long long)value, type ? "" : " of another type"), ++wrong;
}
#define is(name, wanted, type, text) look((int64_t)(name), wanted, type, text)
int main(void) {
""" + "\n".join(rows) + "\n  return wrong > 0;\n}\n"
        for language, suffix in (("cc", "c"), ("c++", "cpp")):
            (self.folder / f"table.{suffix}").write_text(source, encoding="utf-8")
            self.said(WEFT, language, "-w", f"table.{suffix}", "-o", f"table-{suffix}")
            self.assertEqual(self.said(f"./table-{suffix}"), "")

    def test_layouts(self):
        source = """#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
_Static_assert(sizeof(MPI_Status) == 32 && offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4, "");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8 && offsetof(MPI_Status, MPI_internal) == 12, "");
_Static_assert(_Generic((MPI_Aint)0, intptr_t: 1, default: 0) && sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8, "");
_Static_assert((MPI_Aint)-1 < 0 && (MPI_Offset)-1 < 0 && (MPI_Count)-1 < 0, "");
"""
        # Pointers to structures of these names: C++ puts them into the names of functions.
        for name in ("Op", "Comm", "Group", "Win", "File", "Session", "Message", "Info", "Errhandler", "Request", "Datatype"):
            source += f'_Static_assert(_Generic((MPI_{name})0, struct MPI_ABI_{name}*: 1, default: 0), "{name}");\n'
        for name in ("enum", "cvar_handle", "pvar_handle", "pvar_session", "event_registration", "event_instance"):
            source += f'_Static_assert(_Generic((MPI_T_{name})0, struct MPI_ABI_T_{name}*: 1, default: 0), "{name}");\n'
        (self.folder / "layouts.c").write_text(source, encoding="utf-8")
        self.said(CC, f"-I{self.include}", "-fsyntax-only", "layouts.c")

    def test_functions(self):
        """All are there, under both names, and no others that begin so but those that are listed."""
        table = {f"{prefix}MPI_{name}" for name in functions() for prefix in ("", "P")}
        self.assertGreater(len(table), 2 * 650)
        has = {line.split()[-1].split("@")[0] for line in text_of([NM, "-D", "--defined-only", self.library]).splitlines()}
        self.assertEqual(sorted(table - has), [])
        others = {name.removeprefix("P").removeprefix("MPI_") for name in has - table if re.match(r"P?MPI_", name)}
        self.assertEqual(sorted(others), sorted(lines_of("other_functions.txt")))

    def test_name_of_the_library(self):
        """By which the loader knows it in a program that was linked elsewhere."""
        self.assertRegex(text_of(["readelf", "-d", self.library]), r"SONAME.*\[libmpi_abi\.so\.1\]")
        self.assertTrue((self.library.parent / "libmpi_abi.so.1").exists())


class Elsewhere(Folder):
    def test_programs_made_elsewhere(self):
        """Linked to the library by name alone, by a compiler that knows nothing of weft, and without a path to it."""
        self.said(CC, "-O2", "-Wall", HERE / "elsewhere.c", "-o", "elsewhere", f"-L{self.library.parent}", "-lmpi_abi")
        right = ["weft", *(f"rank {rank}: 0 wrong" for rank in range(4))]
        for world in (["run", "--quiet", "-n", "4"], ["sim", "--quiet", "--payload", "full", "--net", "torus:2x2"],
                      ["sim", "--quiet", "--payload", "full", "--net", "torus:2x2", "--separate", "copies"],
                      ["sim", "--quiet", "--separate", "processes", "--net", "torus:2x2"]):
            lines = self.said(WEFT, *world, "./elsewhere").splitlines()
            self.assertEqual(sorted(lines), sorted(right), world)

    def test_programs_of_weft_elsewhere(self):
        """With a library of the same name that knows nothing of weft."""
        self.said(CC, "-O2", "-Wall", "-shared", "-fPIC", HERE / "another_library.c", "-o", "libmpi_abi.so.1", "-Wl,-soname,libmpi_abi.so.1")
        self.said(WEFT, "cc", "-O2", "-Wall", "-c", HERE / "hello.c", "-o", "hello.o")
        link = text_of([WEFT, "cc", "-showme:link"]).split()
        made = {"clang": [WEFT, "cc", "-O2", "-Wall", HERE / "hello.c"], "gcc": [WEFT, "cc", "-O2", "-Wall", HERE / "hello.c"],
                "mixed": [CC, "hello.o", *link]}
        for name, command in made.items():
            self.said(*command, "-o", name, **({"WEFT_CC": "gcc"} if name == "gcc" else {}))
            needed = re.findall(r"NEEDED.*\[(.*)\]", text_of(["readelf", "-d", self.folder / name]))
            self.assertEqual(sorted(needed), ["libc.so.6", "libmpi_abi.so.1"], name)
            self.assertEqual(self.said(WEFT, "run", "--quiet", "-n", "3", f"./{name}"), "weft: 3 ranks, 3\n", name)
            self.assertEqual(self.said(WEFT, "sim", "--quiet", "--net", "torus:3", "--payload", "full", f"./{name}"), "weft: 3 ranks, 3\n", name)
            other = {"LD_LIBRARY_PATH": str(self.folder)}
            self.assertEqual(self.said(f"./{name}", **other), "another: 1 ranks, 0\n", name)
            # weft's commands are for weft's library, whatever a module of the site has set.
            self.assertEqual(self.said(WEFT, "run", "--quiet", "-n", "3", f"./{name}", **other), "weft: 3 ranks, 3\n", name)
            for how in ([], ["--separate", "processes"]):
                self.assertEqual(self.said(WEFT, "sim", "--quiet", "--net", "torus:3", "--payload", "full", *how, f"./{name}", **other),
                                 "weft: 3 ranks, 3\n", name)


class Fortran(Folder):
    def test_programs_need_the_standard_alone(self):
        """Wrappers for Fortran are part of the program, and call what every library of the ABI has."""
        if shutil.which("gfortran") is None:
            self.skipTest("no gfortran")
        (self.folder / "hello.f90").write_text("use mpi_f08\ninteger :: rank\ncall MPI_Init()\ncall MPI_Comm_rank(MPI_COMM_WORLD, rank)\n"
                                               "call MPI_Bcast(rank, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)\ncall MPI_Finalize()\nend\n", encoding="utf-8")
        self.said(WEFT, "fc", "-O2", "hello.f90", "-o", "hello-f08")
        wanted = re.findall(r"\bU (P?MPI\w*|\w*weft\w*)", text_of([NM, "-D", "--undefined-only", self.folder / "hello-f08"]))
        self.assertGreater(len(wanted), 3)
        self.assertEqual(sorted(set(wanted) - {f"{prefix}MPI_{name}" for name in functions() for prefix in ("", "P")}), [])


if __name__ == "__main__":
    skip.run_unittests(["check_abi", *sys.argv[3:]])
