#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes mgen.h from mpi.h: every MPI_ name also as MGEN_, and the extensions.

Usage: generate_mgen.py mpi.h OUTPUT
"""
import pathlib
import re
import sys

header, output = map(pathlib.Path, sys.argv[1:3])
# Functions are declared without prefix, for MPI_ and PMPI_ at once.
names = sorted(set(re.findall(r"\b(?:MPI_|WEFT_MPI_DECLARE\(\w+, )([A-Za-z]\w*)", header.read_text())))
lines = [
    "/* SPDX-License-Identifier: Apache-2.0",
    " * NSIM's interface: MPI under the names MGEN_, and what a simulator can be told besides. */",
    "#ifndef WEFT_MGEN_H",
    "#define WEFT_MGEN_H",
    "",
    "#include <mgen_extensions.h>",
    "#include <mpi.h>",
    "",
    *(f"#define MGEN_{name} MPI_{name}" for name in names),
    "",
    "#endif",
]
text = "\n".join(lines) + "\n"
if not output.exists() or output.read_text() != text:
    output.write_text(text)
